"""Rules on what commands do: failures that are lost, patches."""

from pins.hazards.model import Example, Rule, Severity
from pins.hazards.rules import failures, patches

RULES = (
    Rule(
        "ignored-failure",
        Severity.WARNING,
        "|| true behind a command that decides versions",
        "An install, a checkout or a patch that fails leaves what was there before, and the build succeeds. (Behind an"
        " uninstall it is harmless, and not reported.)",
        "Found in 646 versions of Dockerfiles in 17 projects.",
        "take away the || true, or test for the one case that may fail",
        Example("FROM ubuntu:22.04\nRUN cd w && git apply /p/fix.patch || true\n"),
        Example("FROM ubuntu:22.04\nRUN pip uninstall -y triton || true\nRUN pip install 'triton<4' || exit 1\n"),
        failures.ignored_failure,
    ),
    Rule(
        "lost-in-sequence",
        Severity.WARNING,
        "A failure in front of ; is lost",
        "Without set -e a shell goes on after a failure, and a RUN has the status of its last command. The lines of a"
        " heredoc are such a sequence too.",
        "Found in 944 versions of Dockerfiles in 23 projects.",
        "join the commands with &&, or begin with set -e",
        Example("FROM ubuntu:22.04\nRUN pip install torch==2.9.0; rm -rf /root/.cache\n"),
        Example(
            "FROM ubuntu:22.04\nRUN set -e; pip install torch==2.9.0; rm -rf /root/.cache\nRUN ls; pip install x==1.0\n"
        ),
        failures.lost_in_sequence,
    ),
    Rule(
        "lost-in-pipe",
        Severity.WARNING,
        "A failure in front of a pipe is lost",
        "A pipeline has the status of its last command: `pip install ... | tee log` succeeds when the install fails.",
        "Found in 316 versions of Dockerfiles in 14 projects.",
        "set -o pipefail, or write to a file",
        Example("FROM ubuntu:22.04\nRUN pip install torch==2.9.0 | tee /tmp/log\n"),
        Example(
            'FROM ubuntu:22.04\nRUN bash -o pipefail -c "pip install torch==2.9.0 | tee /tmp/log"\n'
            'SHELL ["/bin/bash", "-o", "pipefail", "-c"]\nRUN pip install numpy==2.0 | tee /tmp/log\n'
        ),
        failures.lost_in_pipe,
    ),
    Rule(
        "zero-context-patch",
        Severity.WARNING,
        "A patch without context is applied by line number",
        "Without context lines git has nothing to compare: with --unidiff-zero an insertion goes behind the line with"
        " that number, whatever stands there; without it, to the end of the file. Both report success.",
        "miles' ROCm image patched its own actor.py so. When lines moved, git apply put a new method into the middle of"
        " another function, and reported success; the patch was taken away in August 2026.",
        "make the patch with three lines of context",
        Example(
            "FROM ubuntu:22.04\nRUN git clone -b v1.2 https://h.example/w.git && cd w && git apply --unidiff-zero /p/w.patch\n"
        ),
        Example("FROM ubuntu:22.04\nRUN git clone -b v1.2 https://h.example/w.git && cd w && git apply /p/w.patch\n"),
        patches.zero_context_patch,
    ),
    Rule(
        "unchecked-three-way",
        Severity.WARNING,
        "git apply --3way, and nobody looks for conflicts",
        "--3way falls back to a merge, which may leave conflict markers in the files; it works only while the clone has"
        " the blobs that the patch was made from. `--3way --check` can succeed where the real apply conflicts.",
        "slime's and miles' images apply their patches so, and search the tree for `<<<<<<<` behind it.",
        "look for conflict markers behind it",
        Example("FROM ubuntu:22.04\nRUN cd w && git apply --3way /p/w.patch && pip install .\n"),
        Example(
            "FROM ubuntu:22.04\nRUN cd w && git apply --3way /p/w.patch && ! git grep -n '^<<<<<<<' && pip install .\n"
        ),
        patches.unchecked_three_way,
    ),
    Rule(
        "patch-on-moving-reference",
        Severity.WARNING,
        "A patch is applied on a checkout that moves",
        "A patch fits the commit that it was made for. On a branch it fails one day, or lands elsewhere.",
        "Found beside most patches of files that clone a default branch.",
        "pin the commit that the patch was made for",
        Example("FROM ubuntu:22.04\nRUN git clone -b main https://h.example/w.git && cd w && git apply /p/w.patch\n"),
        Example("FROM ubuntu:22.04\nRUN git clone -b v1.2 https://h.example/w.git && cd w && git apply /p/w.patch\n"),
        patches.patch_on_moving_reference,
    ),
    Rule(
        "edit-by-line-number",
        Severity.WARNING,
        "sed edits by line number",
        "A line number means another line as soon as anything above it changes; sed succeeds all the same.",
        "Seen on files of dependencies whose version is not pinned.",
        "address the line by what it says",
        Example("FROM ubuntu:22.04\nRUN sed -i '120,124d' /opt/w/setup.py\n"),
        Example("FROM ubuntu:22.04\nRUN sed -i '/torch==/d' /opt/w/setup.py && sed -n '3,9p' f && sed -i '1i #!x' g\n"),
        patches.edit_by_line_number,
    ),
)
