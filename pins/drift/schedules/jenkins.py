"""A declarative pipeline of Jenkins. `H` lets Jenkins choose the minute, which is its own way to spread the load."""

import shlex

from pins.drift.schedules.model import Schedule, ScheduleFile
from pins.drift.schedules.text import says_what_it_installs, says_what_it_is


def pipeline(schedule: Schedule) -> tuple[ScheduleFile, ...]:
    """The Jenkinsfile."""
    _, *rest = schedule.cron.split(" ")
    minute = f"H/{schedule.every}" if schedule.every < 60 else "H"
    when = "TZ=UTC\\n" + " ".join((minute, *rest))
    words = (*schedule.options, "--state", f"file:.{schedule.name}/state.json", "--format", "md")
    command = f"venv/bin/pins drift {shlex.join(words)} --output drift.md -- {shlex.join(schedule.paths)}"
    install = (
        "python3 -m venv venv && venv/bin/pip install --disable-pip-version-check -- "
        f"{shlex.quote(schedule.requirement)} && mkdir -p .{schedule.name}"
    )
    notes = (
        says_what_it_installs(schedule),
        "What is remembered lies in the workspace: give the job a label of one agent, and keep the workspace.",
    )
    text = f"""\
{says_what_it_is(schedule, *notes, mark="//")}
pipeline {{
    agent any
    triggers {{
        cron("{when}")
    }}
    options {{
        disableConcurrentBuilds()
        timeout(time: 30, unit: 'MINUTES')
        buildDiscarder(logRotator(numToKeepStr: '30'))
    }}
    stages {{
        stage('Look for drift') {{
            steps {{
                sh {_single(install)}
                script {{
                    def code = sh(script: {_single(command)}, returnStatus: true)
                    if (code == 1) {{
                        unstable('Something new was found; drift.md says what.')
                    }} else if (code == 3) {{
                        unstable('A source could not be read; drift.md says which.')
                    }} else if (code != 0) {{
                        error("pins drift ended with exit code ${{code}}")
                    }}
                }}
            }}
        }}
    }}
    post {{
        always {{
            archiveArtifacts artifacts: 'drift.md', allowEmptyArchive: true
        }}
    }}
}}
"""
    return (ScheduleFile("Jenkinsfile", text),)


def _single(text: str) -> str:
    """A string of Groovy in which nothing is replaced."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
