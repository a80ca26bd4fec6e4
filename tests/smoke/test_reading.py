"""Reading the signature of a failure from what programs print when they fail."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bisector.model import Ended, Signature
from bisector.signature import read_build_signature, read_signature

SCRIPT = """import sys
import load
model = load.open(
    "kimi",
)
model.run(sys.argv[1])
"""


def failed(errors: str = "", output: str = "", status: int | None = 1, number: int | None = None) -> Signature:
    return read_signature(Ended(status, number, errors=errors, output=output), SCRIPT, "smoke.py")


PLAIN = """Traceback (most recent call last):
  File "/home/me/smoke.py", line 6, in <module>
    model.run(sys.argv[1])
  File "/venv/lib/load.py", line 100, in run
    raise errors.LoadError("weights for layer 7 are missing")
load.errors.LoadError: weights for layer 7 are missing
"""
EXPECTED = Signature("exit 1", "LoadError", "weights for layer <n> are missing", "model.run(sys.argv[1])")


def test_class_message_and_the_innermost_line_of_the_script() -> None:
    assert failed(PLAIN) == EXPECTED


@pytest.mark.parametrize(
    "carets",
    ["    ^^^^^^^^^^^^^^^^^^^^^^\n", "    ~~~~~~~~~^^^^^^^^^^^^^\n", ""],
)
def test_caret_lines_of_newer_pythons_change_nothing(carets: str) -> None:
    text = PLAIN.replace("    model.run(sys.argv[1])\n", "    model.run(sys.argv[1])\n" + carets)
    assert failed(text) == EXPECTED


@pytest.mark.parametrize("line", [3, 4])
def test_a_statement_of_several_lines_shown_in_full_or_in_part(line: int) -> None:
    shown = {
        3: '    model = load.open(\n            ~~~~~~~~~^\n        "kimi",\n        ^^^^^^^\n    )\n    ^\n',
        4: '    "kimi",\n',
    }
    text = f'Traceback (most recent call last):\n  File "/s/smoke.py", line {line}, in <module>\n{shown[line]}OSError\n'
    signature = failed(text)
    assert (signature.kind, signature.message) == ("OSError", "")
    assert signature.frame == SCRIPT.split("\n")[line - 1].strip()


def test_warnings_and_ignored_exceptions_after_the_traceback() -> None:
    after = """sys:1: ResourceWarning: unclosed file <_io.TextIOWrapper name='x'>
Exception ignored in: <function Model.__del__ at 0x7f3c>
Traceback (most recent call last):
  File "/venv/lib/load.py", line 3, in __del__
AttributeError: 'NoneType' object has no attribute 'close'
/usr/lib/python3.11/multiprocessing/resource_tracker.py:254: UserWarning: resource_tracker: There appear to be 1 leaked
  warnings.warn('resource_tracker: There appear to be %d '
"""
    assert failed(PLAIN + after) == EXPECTED


def test_an_ignored_exception_alone_is_not_the_failure() -> None:
    text = """error: no device found
Exception ignored in atexit callback: <function done at 0x7f3c>
Traceback (most recent call last):
  File "/venv/lib/load.py", line 3, in done
KeyError: 'x'
"""
    assert failed(text).kind == ""


@pytest.mark.parametrize(
    "between",
    [
        "During handling of the above exception, another exception occurred:",
        "The above exception was the direct cause of the following exception:",
    ],
)
def test_of_chained_exceptions_the_last_counts(between: str) -> None:
    cause = "Traceback (most recent call last):\n  File \"/venv/a.py\", line 1, in f\nKeyError: 'x'\n"
    assert failed(f"{cause}\n{between}\n\n{PLAIN}") == EXPECTED


def test_the_frame_may_stand_in_the_cause_alone() -> None:
    last = 'Traceback (most recent call last):\n  File "/venv/a.py", line 1, in __del__\n    x\nLoadError: again\n'
    text = f"{PLAIN}\nDuring handling of the above exception, another exception occurred:\n\n{last}"
    assert failed(text) == Signature("exit 1", "LoadError", "again", "model.run(sys.argv[1])")


GROUP = """  + Exception Group Traceback (most recent call last):
  |   File "/s/smoke.py", line 6, in <module>
  |     model.run(sys.argv[1])
  |   File "/venv/anyio.py", line 9, in __aexit__
  |     raise BaseExceptionGroup(
  | ExceptionGroup: unhandled errors in a TaskGroup (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "/venv/load.py", line 4, in fetch
    |     raise LoadError("no such shard: 12")
    | load.LoadError: no such shard: 12
    +---------------- 2 ----------------
    | Traceback (most recent call last):
    |   File "/venv/load.py", line 5, in fetch
    |     raise TimeoutError
    | TimeoutError
    +------------------------------------
"""


def test_of_an_exception_group_the_first_member_counts_at_the_groups_frame() -> None:
    assert failed(GROUP) == Signature("exit 1", "LoadError", "no such shard: <n>", "model.run(sys.argv[1])")


def test_a_syntax_error_in_the_script_itself() -> None:
    text = '  File "/s/smoke.py", line 6\n    model.run(sys.argv[1])\n             ^\nSyntaxError: invalid syntax\n'
    signature = failed(text)
    assert (signature.kind, signature.message) == ("SyntaxError", "invalid syntax")
    assert signature.frame == "model.run(sys.argv[1])"


def test_a_syntax_error_in_an_imported_module() -> None:
    text = """Traceback (most recent call last):
  File "/s/smoke.py", line 2, in <module>
    import load
  File "/venv/load.py", line 7
    print "x"
          ^
SyntaxError: Missing parentheses in call to 'print'. Did you mean print("x")?
"""
    expected = Signature("exit 1", "SyntaxError", "Missing parentheses in call to 'print'", "import load")
    assert failed(text) == expected
    assert failed(text.replace('. Did you mean print("x")?', "")) == expected


def test_a_message_that_begins_with_a_blank_line() -> None:
    head = 'Traceback (most recent call last):\n  File "/s/smoke.py", line 2, in <module>\n    import load\n'
    assert failed(head + "ImportError: \n\nIMPORTANT: PLEASE READ THIS\n").message == "IMPORTANT: PLEASE READ THIS"


@pytest.mark.parametrize(
    "prefix",
    ["[rank0]: ", "(EngineCore pid=7) ", "(Worker pid=9) ERROR 08-20 10:00:{n} [core.py:700] ", "    "],
)
def test_the_lines_of_a_worker_bear_a_prefix(prefix: str) -> None:
    lines = [prefix.format(n=index + 10) + line for index, line in enumerate(PLAIN.splitlines())]
    assert failed("starting\n" + "\n".join(lines) + "\ndone\n") == EXPECTED


def test_lines_of_another_worker_in_between() -> None:
    lines = [f"[rank0]: {line}\n[rank1]: busy" for line in PLAIN.splitlines()]
    assert failed("\n".join(lines)) == EXPECTED


def test_a_wrapper_points_at_the_failure_of_another_process() -> None:
    wrapper = """Traceback (most recent call last):
  File "/s/smoke.py", line 6, in <module>
    model.run(sys.argv[1])
  File "/usr/lib/python3.11/subprocess.py", line 571, in run
    raise CalledProcessError(retcode, process.args,
subprocess.CalledProcessError: Command '['python', 'w.py']' returned non-zero exit status 1.
"""
    child = 'Traceback (most recent call last):\n  File "w.py", line 1, in f\n    x\nRuntimeError: HIP out of tiles\n'
    assert failed(child + wrapper) == Signature("exit 1", "RuntimeError", "HIP out of tiles", "model.run(sys.argv[1])")
    compiler = (
        "op.cpp: In function 'f':\nop.cpp:3:8: error: 'handle' is not a member of 'py'\ncompilation terminated.\n"
    )
    signature = failed(compiler + wrapper)
    assert signature.kind == "CalledProcessError"
    assert signature.message == "op.cpp:<n>: error: 'handle' is not a member of 'py'"
    alone = failed(wrapper)
    assert alone.message == "Command '['python', 'w.py']' returned non-zero exit status <n>."


def test_a_traceback_on_standard_output_is_read_too() -> None:
    assert failed(output=PLAIN) == EXPECTED


def test_a_file_of_the_same_name_elsewhere_is_not_the_script() -> None:
    text = PLAIN.replace("/venv/lib/load.py", "/venv/lib/smoke.py")
    assert failed(text) == EXPECTED


PYTEST = """F                                                                        [100%]
=================================== FAILURES ===================================
_______________________________ TestOld.test_it ________________________________

self = <test_old.TestOld object at 0x7f3c>

    def test_it(self):
>       assert state
E       assert []

test_old.py:6: AssertionError
=========================== short test summary info ============================
FAILED test_old.py::TestOld::test_it - assert []
1 failed in 0.04s
"""


def test_the_summary_of_pytest() -> None:
    assert failed(output=PYTEST) == Signature("exit 1", "AssertionError", "assert []", "test_old.py::TestOld::test_it")
    named = PYTEST.replace("- assert []", "- load.LoadError: no shard 3")
    assert failed(output=named) == Signature("exit 1", "LoadError", "no shard <n>", "test_old.py::TestOld::test_it")


def test_an_uncaught_exception_of_cpp() -> None:
    text = "loading\nterminate called after throwing an instance of 'c10::Error'\n  what():  HIP error 209 at 0x7f\n"
    expected = Signature("signal SIGABRT", "Error", "HIP error <n> at <address>")
    assert failed(text, status=None, number=signal.SIGABRT) == expected
    assert failed(text + "Aborted (core dumped)\n", status=134) == expected


def test_a_crash_that_faulthandler_saw() -> None:
    text = """Fatal Python error: Segmentation fault

Current thread 0x00007f3c (most recent call first):
  File "/venv/load.py", line 100 in run
  File "/s/smoke.py", line 6 in <module>
"""
    expected = Signature("signal SIGSEGV", "", "Fatal Python error: Segmentation fault", "model.run(sys.argv[1])")
    assert failed(text, status=None, number=signal.SIGSEGV) == expected


def test_a_crash_without_a_word() -> None:
    assert failed(status=None, number=signal.SIGSEGV) == Signature("signal SIGSEGV")
    assert failed("Segmentation fault (core dumped)\n", status=139) == Signature("signal SIGSEGV")


def test_the_last_words_of_a_shell_script() -> None:
    assert failed("warming up\nload failed after 12 s\n", "out\n", status=3) == Signature(
        "exit 3", "", "load failed after <time>"
    )
    assert failed("", "loss is nan at step 20\n\n", status=3) == Signature("exit 3", "", "loss is nan at step <n>")


def test_of_a_line_drawn_over_the_last_state_counts() -> None:
    assert failed("10%\r50%\rstalled\n").message == "stalled"


def test_where_the_last_words_only_say_that_something_failed_the_error_is_taken() -> None:
    text = 'op.cu:7:1: error: expected a ";"\nninja: build stopped: subcommand failed.\n'
    assert failed(text).message == 'op.cu:<n>: error: expected a ";"'


@pytest.mark.parametrize(
    "text",
    ["", "\n\n", "Traceback (most recent call last):\n", 'Traceback (most recent call last):\n  File "x", line 1\n'],
)
def test_nothing_to_read(text: str) -> None:
    signature = failed(text)
    assert (signature.exit, signature.kind) == ("exit 1", "")


PIECES = st.sampled_from(
    [
        *PLAIN.splitlines(keepends=True),
        *GROUP.splitlines(keepends=True),
        *PYTEST.splitlines(keepends=True),
        "\n",
        " ",
        "x\n",
    ]
)


@given(st.one_of(st.text(), st.lists(PIECES).map("".join)), st.one_of(st.text(), st.lists(PIECES).map("".join)))
def test_whatever_was_printed_can_be_read(errors: str, output: str) -> None:
    for status in (1, 127, 139, 255):
        assert failed(errors, output, status=status).exit
    read_build_signature(Ended(1, errors=errors, output=output))


@given(st.binary(), st.binary())
def test_whatever_bytes_were_printed_can_be_read(errors: bytes, output: bytes) -> None:
    failed(errors.decode("utf-8", "replace"), output.decode("utf-8", "replace"))


@given(st.lists(st.integers(min_value=0, max_value=len(PLAIN)), max_size=3))
def test_a_traceback_cut_off_at_the_front_is_read_as_far_as_it_goes(cuts: list[int]) -> None:
    for cut in cuts:
        assert failed(PLAIN[cut:]).exit == "exit 1"


REAL = [
    (
        """def f(a, b):
    try:
        {}["k"]
    except KeyError as error:
        raise ValueError("bad thing 3") from error
f(1,
  b=2,
)
""",
        Signature("exit 1", "ValueError", "bad thing <n>", 'raise ValueError("bad thing 3") from error'),
    ),
    ('x = 1\nprint "a"\n', Signature("exit 1", "SyntaxError", "Missing parentheses in call to 'print'", 'print "a"')),
    (
        "def f(n):\n    f(n + 1)\nf(0)\n",
        Signature("exit 1", "RecursionError", "maximum recursion depth exceeded", "f(n + 1)"),
    ),
    (
        "import os\nos.getcwdx()\n",
        Signature("exit 1", "AttributeError", "module 'os' has no attribute 'getcwdx'", "os.getcwdx()"),
    ),
    ("import sys\nsys.exit('diverged at step 3')\n", Signature("exit 1", "", "diverged at step <n>")),
    (
        "import faulthandler, os\nfaulthandler.enable()\nos.abort()\n",
        Signature("signal SIGABRT", "", "Fatal Python error: Aborted", "os.abort()"),
    ),
]


@pytest.mark.parametrize(("text", "expected"), REAL, ids=[expected.kind or expected.message for _, expected in REAL])
def test_what_this_python_prints(tmp_path: Path, text: str, expected: Signature) -> None:
    script = tmp_path / "smoke.py"
    script.write_text(text)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, cwd=tmp_path)
    status, number = (done.returncode, None) if done.returncode >= 0 else (None, -done.returncode)
    ended = Ended(status, number, output=done.stdout, errors=done.stderr)
    assert read_signature(ended, text, "smoke.py") == expected
