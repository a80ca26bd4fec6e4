"""Where machine-learning stacks keep what they compiled, and how each run gets all of it empty.

A warm cache makes a false pass: a kernel compiled by an earlier candidate is loaded in place of one that this candidate
could not compile. Most programs keep theirs below HOME or XDG_CACHE_HOME; a variable of its own is set for each that
does not, and for each that container images are known to point elsewhere.

Left alone on purpose: AITER_JIT_DIR (when it is set, AITER does not find the modules that its wheel brings along),
PYTHONPYCACHEPREFIX (byte code names its source, and is kept with the build that it was compiled for), and where model
weights are found (HF_HOME, TORCH_HOME): those begin empty below the fresh HOME, or come from the user by `--pass-env`
and `--smoke-env`.
"""

from collections.abc import Mapping
from pathlib import Path, PurePath
from types import MappingProxyType

WORK = "work"
"""The working directory of a run, below its scratch directory."""

_TEMPORARY: Mapping[str, str] = MappingProxyType({"TMPDIR": "tmp"})

_CACHES: Mapping[str, str] = MappingProxyType(
    {
        "HOME": "home",
        "XDG_CACHE_HOME": "cache",
        "TRITON_CACHE_DIR": "cache/triton",
        "TORCHINDUCTOR_CACHE_DIR": "cache/torchinductor",
        "TORCH_EXTENSIONS_DIR": "cache/torch_extensions",
        "VLLM_CACHE_ROOT": "cache/vllm",
        "SGLANG_DG_CACHE_DIR": "cache/deep_gemm",
        "DG_JIT_CACHE_DIR": "cache/deep_gemm",
        "FLASHINFER_WORKSPACE_BASE": "cache/flashinfer",
        "TILELANG_CACHE_DIR": "cache/tilelang",
        "TVM_FFI_CACHE_DIR": "cache/tvm_ffi",
        "CUDA_CACHE_PATH": "cache/cuda",
        "AMD_COMGR_CACHE_DIR": "cache/comgr",
        "MIOPEN_USER_DB_PATH": "cache/miopen",
        "MIOPEN_CUSTOM_CACHE_DIR": "cache/miopen",
        "NUMBA_CACHE_DIR": "cache/numba",
        # Code that models bring along, written while they load; it lies below HF_HOME otherwise, which may be shared
        # or read-only.
        "HF_MODULES_CACHE": "cache/huggingface_modules",
    }
)


def cache_variables(scratch: PurePath, shared: PurePath | None = None) -> dict[str, str]:
    """Variables that point every cache below `scratch`, as the program that runs will see the directory.

    Args:
        scratch: a directory of one run's own.
        shared: where the user asked for it (`--share-cache`), home and caches lie here and are kept; the working
            directory and TMPDIR are fresh all the same.
    """
    caches = shared or scratch
    return {name: str(caches / below) for name, below in _CACHES.items()} | {
        name: str(scratch / below) for name, below in _TEMPORARY.items()
    }


def fresh_directories(scratch: Path, shared: Path | None = None) -> dict[str, str]:
    """Make the working directory (`scratch/work`), home and caches of one run.

    Returns:
        The variables of `cache_variables`.

    Raises:
        OSError: a directory cannot be made.
    """
    variables = cache_variables(scratch, shared)
    for directory in [scratch / WORK, *map(Path, variables.values())]:
        directory.mkdir(parents=True, exist_ok=True)
    return variables
