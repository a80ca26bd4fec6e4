"""What is known of releases beyond what their metadata says: one table, each entry held by a real case.

Two sorts. What changes that which *compiled modules share* is used where a file leaves the distribution open while
modules that must agree on it are built elsewhere (the hazard `compiled-skew`). What a release *removed or changed* is
told where a bisect run ends at that release with a failure that has the words of that change: another failure at the
same release is not explained by it. What source trees use is told by their own table (`pins.metadata.inferred.facts`),
whose words are taken here.

To add one: a case below `tests/cases` that was run (its first bad version, its failing output), the entry, its source.
"""

from dataclasses import dataclass

from pins.metadata.inferred.facts import ARGUMENTS, DASHED_OPTIONS, MODULES, OLD_CMAKE


@dataclass(frozen=True)
class KnownBreak:
    """A release that changes something that others depend on.

    Attributes:
        name: the distribution.
        first: the first release with the change.
        reason: what changes.
        origin: where that can be read.
        link: its address.
        case: the real case that shows it.
        signs: words of the failure, one of which shows that this change is behind it.
        until: what ends the need for a cap; only of what compiled modules share.
        in_short: the reason in a few words.
        until_in_short: the end in a few words.
    """

    name: str
    first: str
    reason: str
    origin: str
    link: str
    case: str
    signs: tuple[str, ...] = ()
    until: str = ""
    in_short: str = ""
    until_in_short: str = ""

    @property
    def shared(self) -> bool:
        """Whether it is something that separately compiled modules must agree on."""
        return bool(self.until)


def _because(what: str) -> str:
    """What the table of source trees says of something that releases of setuptools removed."""
    return next(fact.because for fact in (*MODULES, *ARGUMENTS) if fact.what == what)


_SETUPTOOLS = "https://setuptools.pypa.io/en/stable/history.html#v"
_CLICK = "https://click.palletsprojects.com/en/stable/changes/#version-"
_NUMPY_2 = "https://numpy.org/doc/stable/numpy_2_0_migration_guide.html"

KNOWN_BREAKS = (
    KnownBreak(
        "pybind11",
        "3.1.0",
        "pybind11 3.1.0 raises PYBIND11_INTERNALS_VERSION from 11 to 12: modules compiled with it share no types with"
        " modules compiled with 3.0",
        "pybind11 commit e8e8d6ab, include/pybind11/detail/internals.h",
        "https://github.com/pybind/pybind11/commit/e8e8d6ab",
        "pybind11-aiter-internals",
        ("incompatible function arguments", "referenced unknown base type", "Unregistered type"),
        "all modules that exchange types are compiled with internals version 12; the pybind11 inside torch is one of"
        " them (torch 2.13.0 has 11, torch 2.14.1 has 12)",
        "3.1.0 changes the internals that compiled modules share (11 to 12)",
        "all wheels have internals 12, torch's among them",
    ),
    KnownBreak(
        "cmake",
        "4.0.0",
        OLD_CMAKE.because,
        "CMake's release notes, 4.0, deprecated and removed features",
        "https://cmake.org/cmake/help/latest/release/4.0.html#deprecated-and-removed-features",
        "cmake-minimum-required",
        ("Compatibility with CMake < 3.5 has been removed", "CMAKE_POLICY_VERSION_MINIMUM"),
    ),
    KnownBreak(
        "setuptools",
        "82.0.0",
        _because("pkg_resources"),
        "setuptools' history, v82.0.0",
        f"{_SETUPTOOLS}82-0-0",
        "setuptools-pkg-resources-gone",
        ("No module named 'pkg_resources'",),
    ),
    KnownBreak(
        "setuptools",
        "78.0.0",
        DASHED_OPTIONS.because,
        "setuptools' history, v78.0.0 and v78.0.2",
        f"{_SETUPTOOLS}78-0-0",
        "git-setuptools-dash-keys",
        ("Invalid dash-separated key", "Invalid uppercase key"),
    ),
    KnownBreak(
        "setuptools",
        "72.0.0",
        _because("setuptools.command.test"),
        "setuptools' history, v72.0.0 and v72.1.0",
        f"{_SETUPTOOLS}72-0-0",
        "setuptools-72-yanked",
        ("No module named 'setuptools.command.test'",),
    ),
    KnownBreak(
        "setuptools",
        "66.0.0",
        "setuptools 66.0.0 takes no versions any more that are not as PEP 440 has them, of installed projects either",
        "setuptools' history, v66.0.0; pypa/setuptools#2497",
        f"{_SETUPTOOLS}66-0-0",
        "setuptools-pep440-strict",
        ("InvalidVersion: Invalid version:",),
    ),
    KnownBreak(
        "setuptools",
        "65.0.0",
        "setuptools 65.0.0 moved what numpy.distutils imports of its distutils (distutils.msvccompiler)",
        "pypa/setuptools#3505",
        "https://github.com/pypa/setuptools/issues/3505",
        "setuptools-numpy-distutils",
        ("No module named 'distutils.msvccompiler'",),
    ),
    KnownBreak(
        "setuptools",
        "61.0.0",
        "setuptools 61.0.0 finds packages by itself where setup() names none, and refuses several at the top",
        "setuptools' history, v61.0.0",
        f"{_SETUPTOOLS}61-0-0",
        "setuptools-flat-layout",
        ("Multiple top-level packages discovered in a flat-layout", "package discovery"),
    ),
    KnownBreak(
        "setuptools",
        "58.0.2",
        _because("use_2to3"),
        "setuptools' history, v58.0.0 and v58.0.2",
        f"{_SETUPTOOLS}58-0-2",
        "setuptools-use2to3",
        ("use_2to3 is invalid",),
    ),
    KnownBreak(
        "numpy",
        "2.0.0",
        "NumPy 2.0 has another binary interface: extensions built for NumPy 1 do not load with it",
        "NumPy 2.0 migration guide",
        _NUMPY_2,
        "numpy-abi-pandas",
        ("numpy.dtype size changed", "compiled using NumPy 1.x cannot be run in"),
    ),
    KnownBreak(
        "numpy",
        "2.0.0",
        "NumPy 2.0 removed names of its main namespace, np.float_ among them",
        "NumPy 2.0 migration guide, main namespace",
        f"{_NUMPY_2}#main-namespace",
        "numpy-float-underscore",
        ("was removed in the NumPy 2.0 release",),
    ),
    KnownBreak(
        "numpy",
        "2.0.0",
        "NumPy 2.0 raises where copy=False cannot be kept to; it copied before",
        "NumPy 2.0 migration guide, the copy keyword",
        f"{_NUMPY_2}#adapting-to-changes-in-the-copy-keyword",
        "numpy-copy-false",
        ("Unable to avoid copy while creating an array", "adapting-to-changes-in-the-copy-keyword"),
    ),
    KnownBreak(
        "numpy",
        "1.24.0",
        "NumPy 1.24 removed the aliases np.float, np.int, np.bool and np.object",
        "NumPy 1.24.0 release notes, expired deprecations",
        "https://numpy.org/doc/stable/release/1.24.0-notes.html#expired-deprecations",
        "numpy-float-alias",
        ("module 'numpy' has no attribute 'float'", "module 'numpy' has no attribute 'int'"),
    ),
    KnownBreak(
        "click",
        "8.2.0",
        "click 8.2.0 removed CliRunner(mix_stderr=...)",
        "click's changes, 8.2.0",
        f"{_CLICK}8-2-0",
        "click-mix-stderr",
        ("unexpected keyword argument 'mix_stderr'",),
    ),
    KnownBreak(
        "click",
        "8.2.0",
        "click 8.2.0 gives make_metavar() a context, which typer 0.9 does not take",
        "click's changes, 8.2.0",
        f"{_CLICK}8-2-0",
        "click-typer-metavar",
        ("make_metavar() takes 1 positional argument but 2 were given",),
    ),
    KnownBreak(
        "click",
        "8.1.0",
        "click 8.1.0 removed click._unicodefun, which releases of black before 22.3.0 import",
        "psf/black#2964",
        "https://github.com/psf/black/issues/2964",
        "click-unicodefun-black",
        ("cannot import name '_unicodefun' from 'click'",),
    ),
    KnownBreak(
        "pydantic",
        "2.0",
        "pydantic 2.0 moved BaseSettings to the package pydantic-settings",
        "pydantic's migration guide",
        "https://docs.pydantic.dev/latest/migration/#basesettings-has-moved-to-pydantic-settings",
        "pydantic-basesettings",
        ("`BaseSettings` has been moved to the `pydantic-settings` package",),
    ),
    KnownBreak(
        "protobuf",
        "4.21.1",
        "protobuf for Python refuses from 4.21 on code that was generated by protoc before 3.19",
        "protobuf news of 2022-05-06",
        "https://protobuf.dev/news/2022-05-06/#python-updates",
        "protobuf-old-generated-code",
        ("Descriptors cannot be created directly", "Descriptors cannot not be created directly"),
    ),
    KnownBreak(
        "packaging",
        "22.0",
        "packaging 22.0 removed LegacyVersion: a version that is not as PEP 440 has it is an error",
        "packaging's changelog, 22.0; pypa/packaging#407",
        "https://github.com/pypa/packaging/pull/407",
        "packaging-legacy-version",
        ("InvalidVersion: Invalid version:",),
    ),
    KnownBreak(
        "httpx",
        "0.28.0",
        "httpx 0.28.0 removed the argument proxies, which releases of openai before 1.55.3 pass",
        "openai/openai-python#1902",
        "https://github.com/openai/openai-python/issues/1902",
        "httpx-proxies-openai",
        ("unexpected keyword argument 'proxies'",),
    ),
    KnownBreak(
        "importlib-metadata",
        "5.0.0",
        "importlib_metadata 5.0.0 removed the mapping that entry_points() was before",
        "importlib_metadata's history, v5.0.0",
        "https://importlib-metadata.readthedocs.io/en/latest/history.html#v5-0-0",
        "importlib-metadata-entry-points-get",
        ("'EntryPoints' object has no attribute 'get'",),
    ),
    KnownBreak(
        "pillow",
        "10.0.0",
        "Pillow 10.0.0 removed constants such as Image.ANTIALIAS",
        "Pillow 10.0.0 release notes",
        "https://pillow.readthedocs.io/en/stable/releasenotes/10.0.0.html",
        "pillow-antialias",
        ("module 'PIL.Image' has no attribute 'ANTIALIAS'",),
    ),
    KnownBreak(
        "scikit-learn",
        "1.4.0",
        "scikit-learn 1.4 removed OneHotEncoder(sparse=...), which is sparse_output now",
        "scikit-learn's changes, 1.4",
        "https://scikit-learn.org/stable/whats_new/v1.4.html",
        "sklearn-onehot-sparse",
        ("unexpected keyword argument 'sparse'",),
    ),
    KnownBreak(
        "networkx",
        "3.0",
        "networkx 3.0 removed from_numpy_matrix and to_numpy_matrix",
        "networkx 3.0 release notes",
        "https://networkx.org/documentation/stable/release/release_3.0.html",
        "networkx-numpy-matrix",
        ("has no attribute 'from_numpy_matrix'", "has no attribute 'to_numpy_matrix'"),
    ),
    KnownBreak(
        "markupsafe",
        "2.1.0",
        "MarkupSafe 2.1.0 removed soft_unicode, which releases of Jinja before 3 import",
        "MarkupSafe's changes, 2.1.0",
        "https://markupsafe.palletsprojects.com/en/stable/changes/#version-2-1-0",
        "markupsafe-soft-unicode",
        ("cannot import name 'soft_unicode' from 'markupsafe'",),
    ),
    KnownBreak(
        "flask",
        "2.3.0",
        "Flask 2.3.0 removed the decorator before_first_request",
        "Flask's changes, 2.3.0",
        "https://flask.palletsprojects.com/en/stable/changes/#version-2-3-0",
        "flask-before-first-request",
        ("has no attribute 'before_first_request'",),
    ),
    KnownBreak(
        "triton",
        "3.3.0",
        "triton 3.3.0 has no AttrsDescriptor any more, which torch's inductor imported",
        "pytorch/pytorch#144103; triton-lang/triton#5512",
        "https://github.com/triton-lang/triton/pull/5512",
        "triton-attrs-descriptor",
        ("cannot import name 'AttrsDescriptor'",),
    ),
    KnownBreak(
        "tenacity",
        "8.4.0",
        "tenacity 8.4.0 was published without its package tenacity.asyncio",
        "jd/tenacity#474",
        "https://github.com/jd/tenacity/pull/474",
        "tenacity-840",
        ("No module named 'tenacity.asyncio'",),
    ),
    KnownBreak(
        "pyyaml",
        "6.0",
        "PyYAML 6.0 takes no load() without a Loader any more",
        "PyYAML's changes, 6.0",
        "https://github.com/yaml/pyyaml/blob/main/CHANGES",
        "pyyaml-load-unbuildable-gap",
        ("load() missing 1 required positional argument: 'Loader'",),
    ),
    KnownBreak(
        "urllib3",
        "2.0.2",
        "urllib3 2.0 removed Retry(method_whitelist=...), which is allowed_methods now",
        "urllib3's migration guide to v2",
        "https://urllib3.readthedocs.io/en/stable/v2-migration-guide.html",
        "urllib3-method-whitelist",
        ("unexpected keyword argument 'method_whitelist'",),
    ),
)


def shared_breaks(name: str) -> list[KnownBreak]:
    """What is known of a distribution that compiled modules share, oldest first."""
    return [entry for entry in KNOWN_BREAKS if entry.name == name and entry.shared]


def breaks_behind(name: str, first: str, failure: str) -> list[KnownBreak]:
    """What is known of a release, where the failure that it shows has the words of it."""
    return [
        entry
        for entry in KNOWN_BREAKS
        if (entry.name, entry.first) == (name, first) and any(sign in failure for sign in entry.signs)
    ]
