"""Candidates that a person judges (`--ask`): what runs in place of the script is a question.

The person is shown what the candidate is and how to get into it, looks as long as it takes, and answers. With a script,
that runs first, and its end is shown. An answer is recorded as a run of the script is: 0, 1 or 125.
"""

import os
import select
import sys
import threading
import time
from typing import TextIO

from bisector.environments.around import AroundEnvironment
from bisector.environments.base import Environment
from bisector.model import Build, Ended, SmokeRun

ANSWERS = {"pass": 0, "p": 0, "fail": 1, "f": 1, "skip": 125, "s": 125}
AGAIN = frozenset({"again", "a"})
STOP = frozenset({"stop", "q", "quit"})
QUESTION = "pass, fail, skip, again (show this once more), or stop? "
LOOK = 0.2
"""Seconds between looks at whether the answer is not wanted any more."""

_one_at_a_time = threading.Lock()


class AskingEnvironment(AroundEnvironment):
    """Another environment, whose candidates a person judges; see `bisector.environments.base.Environment`.

    Args:
        environment: the one that does the work.
        script: whether there is a script that runs first.
        answers: where answers are read from.
        screen: where questions are written.
    """

    def __init__(
        self, environment: Environment, *, script: bool, answers: TextIO | None = None, screen: TextIO | None = None
    ) -> None:
        super().__init__(environment)
        self._script = script
        self._answers = answers or sys.stdin
        self._screen = screen or sys.stderr
        self._unread = b""

    def run(self, build: Build, smoke: SmokeRun, cancel: threading.Event) -> Ended:
        """See `Environment.run`: the answer as an exit status.

        Raises:
            KeyboardInterrupt: the person wants to stop; the run can be resumed.
        """
        began = time.monotonic()
        with _one_at_a_time:
            while True:
                said = self._shown(build, smoke, cancel)
                answer = self._answer(cancel)
                if answer is None:
                    return Ended(None, cancelled=True)
                if answer in STOP:
                    raise KeyboardInterrupt
                if answer in ANSWERS:
                    break
        status = ANSWERS[answer]
        with smoke.log.open("a", encoding="utf-8") as log:
            log.write(f"{said}judged by hand: {answer}\n")
        return Ended(status, seconds=time.monotonic() - began, errors="judged by hand: fail\n" if status == 1 else "")

    def _shown(self, build: Build, smoke: SmokeRun, cancel: threading.Event) -> str:
        """Say what there is to judge, and how to look at it."""
        lines = ["", f"Candidate: {smoke.candidate}"]
        if self._script:
            ended = self._environment.run(build, smoke, cancel)
            how = "timed out" if ended.timed_out else f"exit status {ended.exit_status}"
            lines.append(f"The script ended: {ended.not_started or how}; its output is in {smoke.log}")
        shell = getattr(self._environment, "shell", None)
        if shell is not None:
            lines.append(f"Look into it with: {shell(build)}")
        lines.append(f"What is to be kept with it: {smoke.output}")
        text = "\n".join(lines) + "\n"
        self._write(text)
        return text

    def _answer(self, cancel: threading.Event) -> str | None:
        """One of the words known, "stop" where there is nobody to answer, None where no answer is wanted any more."""
        while True:
            self._write(QUESTION)
            line = self._line(cancel)
            if line is None:
                return None
            word = line.strip().lower()
            if word in ANSWERS or word in AGAIN or word in STOP:
                return word
            if not line:
                return "stop"

    def _line(self, cancel: threading.Event) -> str | None:
        descriptor = self._answers.fileno()
        while b"\n" not in self._unread:
            if cancel.is_set():
                return None
            if not select.select([descriptor], [], [], LOOK)[0]:
                continue
            read = os.read(descriptor, 4096)
            if not read:
                break
            self._unread += read
        line, newline, self._unread = self._unread.partition(b"\n")
        return (line + newline).decode("utf-8", "replace")

    def _write(self, text: str) -> None:
        self._screen.write(text)
        self._screen.flush()
