"""The command line that makes a container: the user's arguments, devices, mounts, models and the run's environment.

Containers are made by the docker command, so that `--docker-arg` means exactly what it means to `docker run`; all that
follows goes through the SDK.
"""

import os
import re
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from bisector.environments.docker.engine import PROBE_LABEL, RUN_LABEL
from bisector.model import SmokeRun
from bisector.request import DockerRequest
from bisector.smoke import WORK, cache_variables, checkout_variables, fixed_variables
from pins.errors import EnvironmentFailureError, UsageError

ROOM = PurePosixPath("/bisector")
"""Where a container has what belongs to its run: script, working directory, home, caches, output."""
SCRIPT_ROOM = ROOM / "script"
OUTPUT_ROOM = ROOM / "output"
SHARED_ROOM = PurePosixPath("/bisector-shared-cache")
CHECKOUTS = PurePosixPath("/bisector-checkouts")
MODELS = PurePosixPath("/models")

_TAKEN = {
    "--attach", "--cidfile", "--detach", "--detach-keys", "--entrypoint", "--interactive", "--name", "--pull",
    "--quiet", "--restart", "--rm", "--sig-proxy", "--tty", "--workdir", "-a", "-w", "-q",
}  # fmt: skip
_SHORT = re.compile(r"-[dit]+")


def check_run_arguments(arguments: Sequence[str]) -> None:
    """Refuse arguments of `docker run` that the bisector must set itself.

    Raises:
        UsageError: one of them is among these.
    """
    for argument in arguments:
        name = argument.partition("=")[0]
        if name in _TAKEN or _SHORT.fullmatch(argument):
            raise UsageError(f"--docker-arg {argument}: the bisector makes, watches and removes containers itself")
        if argument in {"", "-", "--"} or "\0" in argument:
            raise UsageError(f"--docker-arg {argument!r}: not an argument of docker run")


@dataclass(frozen=True)
class Mount:
    """A directory or file of this machine in the container."""

    source: str
    target: str
    read_only: bool

    @property
    def option(self) -> str:
        """The option of `docker create`; fields are quoted as CSV, for a path may hold commas and quotes."""
        fields = ["type=bind", f"source={self.source}", f"target={self.target}", *["readonly"] * self.read_only]
        return "--mount=" + csv_fields(fields)


def csv_fields(fields: Iterable[str]) -> str:
    """One line of CSV, as `--mount` reads it."""
    return ",".join(
        '"' + field.replace('"', '""') + '"' if re.search(r'[",\r\n]', field) else field for field in fields
    )


def parse_mount(text: str, directory: Path) -> Mount:
    """Read `SRC:DST[:ro|:rw]`; a relative SRC is below `directory`.

    Raises:
        UsageError: not of that form.
    """
    rest, _, mode = text.rpartition(":")
    if mode not in {"ro", "rw"}:
        rest, mode = text, "rw"
    source, _, target = rest.rpartition(":")
    if not source or not target.startswith("/") or "\0" in text:
        raise UsageError(f"--mount {text}: write SRC:DST or SRC:DST:ro, with DST an absolute path in the container")
    return Mount(str(directory / source), target, mode == "ro")


def mounts(request: DockerRequest) -> list[Mount]:
    """The mounts that were asked for, the models' included."""
    found = [parse_mount(text, Path.cwd()) for text in request.mounts]
    if request.models is not None:
        found.append(Mount(str(request.models), str(MODELS), read_only=True))
    return found


def model_variables(models: Path | None) -> dict[str, str]:
    """Where programs find the models, and that they are not to look elsewhere.

    The directory may be a hub's cache, its parent (the whole of ~/.cache/huggingface) or hold models in a layout of
    its own.
    """
    if models is None:
        return {}
    offline = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "MODELS": str(MODELS)}
    if (models / "hub").is_dir():
        return offline | {"HF_HUB_CACHE": str(MODELS / "hub")}
    if any(models.glob("models--*")):
        return offline | {"HF_HUB_CACHE": str(MODELS)}
    return offline


def gpu_options(gpu: str, *, here: bool) -> list[str]:
    """The options that hand GPUs on.

    Args:
        gpu: "", "rocm" or "nvidia".
        here: the engine runs on this machine, so that its devices can be looked at.

    Raises:
        EnvironmentFailureError: this machine has no such devices.
    """
    if gpu == "nvidia":
        return ["--gpus=all"]
    if gpu != "rocm":
        return []
    groups = _device_groups() if here else ["video", "render"]
    return [
        "--device=/dev/kfd",
        "--device=/dev/dri",
        *(f"--group-add={group}" for group in groups),
        "--security-opt=seccomp=unconfined",
        "--cap-add=SYS_PTRACE",
        "--ipc=host",
    ]


def _device_groups() -> list[str]:
    """The groups that own the ROCm devices, as numbers: an image may not know their names, or under other numbers."""
    devices = [Path("/dev/kfd"), *sorted(Path("/dev/dri").glob("renderD*")), *sorted(Path("/dev/dri").glob("card*"))]
    if not devices[0].exists() or len(devices) == 1:
        missing = "/dev/kfd" if not devices[0].exists() else "/dev/dri"
        raise EnvironmentFailureError(
            f"--gpu rocm: this machine has no {missing}; load the amdgpu driver, or run on a machine with an AMD GPU"
        )
    groups = {device.stat().st_gid for device in devices if stat.S_ISCHR(device.stat().st_mode)}
    return [str(group) for group in sorted(groups - {0})]


def labels(run_id: str, probe: str) -> list[str]:
    """The options that make a container known as ours."""
    return [f"--label={RUN_LABEL}={run_id}", f"--label={PROBE_LABEL}={probe}"]


def own_options(run_id: str, probe: str) -> list[str]:
    """The options of every container, however it is used.

    Files come and go through a volume of the container's own: that works with engines elsewhere, and where the
    container's root is read-only.
    """
    volume = csv_fields(["type=volume", f"target={ROOM}", f"volume-label={RUN_LABEL}={run_id}"])
    return ["--init", *labels(run_id, probe), f"--mount={volume}", f"--workdir={ROOM / WORK}"]


def container_options(request: DockerRequest, *, run_id: str, probe: str, here: bool) -> list[str]:
    """The options of a container that a script runs in: the user's, and ours, which the user's cannot undo.

    The labels come first as well, since a word without a dash among the user's would end the options there.
    """
    return [
        *labels(run_id, probe),
        # A log driver would keep a second copy of the output, without a bound, in the engine's own directory.
        "--log-driver=none",
        *gpu_options(request.gpu, here=here),
        *(mount.option for mount in mounts(request)),
        *request.docker_args,
        *own_options(run_id, probe),
    ]


def run_options(request: DockerRequest, smoke: SmokeRun) -> list[str]:
    """The options of one run of the smoke script: its environment, and the cache that it shares."""
    shared = smoke.script.share_cache
    variables: dict[str, str | None] = {
        "LC_ALL": "C.UTF-8",
        "TERM": "dumb",
        **cache_variables(ROOM, SHARED_ROOM if shared else None),
        **model_variables(request.models),
        # The command takes these from its own environment, where `ps` does not show them.
        **{name: None for name in smoke.script.pass_environment if name in os.environ},
        **dict(smoke.script.variables),
        **fixed_variables(smoke, str(OUTPUT_ROOM)),
        **checkout_variables([(pin, CHECKOUTS / pin) for pin, _ in smoke.checkouts]),
    }
    return [
        *(f"--env={name}" if value is None else f"--env={name}={value}" for name, value in variables.items()),
        *([Mount(str(shared), str(SHARED_ROOM), read_only=False).option] if shared else []),
        *(Mount(str(tree), str(CHECKOUTS / pin), read_only=True).option for pin, tree in smoke.checkouts),
    ]


def room_directories() -> list[PurePosixPath]:
    """The directories that a run finds below ROOM, parents first."""
    below = [ROOM / WORK, OUTPUT_ROOM, *map(PurePosixPath, cache_variables(ROOM).values())]
    wanted = {parent for path in below for parent in (path, *path.parents) if ROOM in parent.parents}
    return sorted(wanted)
