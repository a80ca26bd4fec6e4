"""Whoever waits is told that it goes on: on a terminal in one line that goes again, elsewhere in lines."""

import os
import pty
import subprocess
import sys
from pathlib import Path

from tests.cli.test_command_line import ended, program, settings

WAITS = """
import time
time.sleep(1.7)
return deliver("done", None)
"""


def test_a_command_that_is_silent_for_long_gives_a_sign_of_life_on_standard_error(tmp_path: Path) -> None:
    result = ended(WAITS, tmp_path)
    assert result.stdout == "done\n"
    assert result.stderr.startswith("still working (")
    assert len(result.stderr.splitlines()) == 1


def test_a_command_that_is_quick_gives_none(tmp_path: Path) -> None:
    assert ended("return deliver('done', None)", tmp_path).stderr == ""


def test_what_is_being_done_is_said_more_closely_where_it_is_known(tmp_path: Path) -> None:
    body = "import time\nfrom pins.sign_of_life import doing\nwith doing('counting'):\n    time.sleep(1.7)"
    assert ended(body, tmp_path).stderr.startswith("counting (")


def test_there_is_none_where_quiet_is_asked_for_or_another_display_has_taken_over(tmp_path: Path) -> None:
    body = "import time\nfrom pins.sign_of_life import hush\nhush()\ntime.sleep(1.7)"
    assert ended(body, tmp_path).stderr == ""
    text = program("import time\ntime.sleep(1.7)").replace("def do()", "def do(quiet: bool = True)")
    assert subprocess.run([sys.executable, "-c", text], **settings(tmp_path)).stderr == ""  # type: ignore[call-overload]


def test_on_a_terminal_it_is_one_line_that_is_gone_before_the_result(tmp_path: Path) -> None:
    leader, follower = pty.openpty()
    options = settings(tmp_path) | {"stdout": follower, "stderr": follower}
    options["env"] = {**options["env"], "TERM": "xterm", "COLUMNS": "80"}  # type: ignore[dict-item]
    process = subprocess.Popen([sys.executable, "-c", program(WAITS)], **options)  # type: ignore[call-overload]
    os.close(follower)
    shown = b""
    try:
        while piece := os.read(leader, 4096):
            shown += piece
    except OSError:  # how a terminal says that nobody writes to it any more
        pass
    finally:
        os.close(leader)
    assert process.wait() == 0
    assert b"\rstill working (" in shown
    assert shown.endswith(b"\r\x1b[Kdone\r\n")
    assert shown.count(b"\n") == 1
