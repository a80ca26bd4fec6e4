"""Two published tools as they are, where a copy of them lies on this machine: git_bayesect and JAX-Toolbox's triage.

Neither is part of this project, nor of its dependencies. git_bayesect needs numpy and scipy beside it.
"""

import importlib
import importlib.util
import logging
import sys
from collections import OrderedDict
from pathlib import Path
from typing import Any

from search_methods import Method, Trial, World

CONFIDENCE = 0.99
MOST_RUNS = 3000
EXTRA_CONFIRMATIONS = 3
"""What `--repeat auto` asks for at 0.99: four runs of each witness."""


def git_bayesect(directory: Path) -> Method:
    """hauntsaninja/git_bayesect, run until it is as sure as we must be; its candidates count from the newest."""
    sys.path.insert(0, str(directory))
    module = importlib.import_module("git_bayesect")
    for needed in ("numpy", "scipy.special"):
        importlib.import_module(needed)

    def search(world: World) -> Trial:
        bisector, fails = module.Bisector([1] * world.steps), world.script()
        built: set[int] = set()
        for runs in range(MOST_RUNS):
            likeliest = int(bisector.distribution.argmax())
            if float(bisector.distribution[likeliest]) >= CONFIDENCE:
                return Trial(world.steps - likeliest, runs, len(built))
            index = bisector.select()
            built.add(index)
            bisector.record(index, fails(world.steps - index))
        return Trial(None, MOST_RUNS, len(built), undetermined=True)

    return search


def triage_logic(directory: Path) -> tuple[Any, logging.Logger]:
    """The module of JAX-Toolbox's `.github/triage` that searches, without the package around it, and a silent logger.

    Raises:
        ImportError: it is not there.
    """
    file = directory / "jax_toolbox_triage" / "logic.py"
    specification = importlib.util.spec_from_file_location("jax_toolbox_triage_logic", file)
    if specification is None or specification.loader is None or not file.is_file():
        raise ImportError(f"{file} is not there")
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module
    specification.loader.exec_module(module)
    logger = logging.getLogger("triage")
    logger.setLevel(logging.CRITICAL + 1)
    return module, logger


def jax_toolbox(directory: Path) -> Method:
    """NVIDIA/JAX-Toolbox `.github/triage`, `version_search` on one package; both ends' runs and builds are counted."""
    logic, logger = triage_logic(directory)

    def search(world: World) -> Trial:
        fails, built, runs = world.script(), set[str](), 0

        def build_and_test(*, versions: dict[str, str], **_: object) -> Any:
            nonlocal runs
            runs += 1
            built.add(versions["package"])
            return logic.TestResult(
                build_stdouterr="",
                host_output_directory=Path(),
                result=logic.TestExecutionOutcome.TEST_YIELDED_RESULTS,
                stdouterr="",
                metrics={"exit_code": int(fails(int(versions["package"])))},
                time=0.0,
            )

        try:
            summary, _, _ = logic.version_search(
                versions=OrderedDict(package=[(str(v), v) for v in range(world.steps + 1)]),
                build_and_test=build_and_test,
                logger=logger,
                skip_precondition_checks=False,
                confirmation_iterations=EXTRA_CONFIRMATIONS,
            )
        except Exception:  # it raises where its confirmation fails; whatever it raises, it names nothing
            return Trial(None, runs, len(built), undetermined=True)
        return Trial(int(summary["package_bad"]), runs, len(built))

    return search
