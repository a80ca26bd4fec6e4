"""Rules on requirements, on literals, and across files."""

from pins.hazards.model import Example, Rule, Severity
from pins.hazards.rules import comments, documents, environments, literals, promises, requirements, skew, unread

RULES = (
    Rule(
        "unquoted-specifier",
        Severity.ERROR,
        "The shell takes a bound for a redirection",
        "`pip install foo>=4` asks for foo without a bound, and writes to a file named `=4`; `foo<2` reads from a file"
        " named 2. In a RUN it is always so.",
        "Found in 183 versions of Dockerfiles in 9 projects.",
        "quote the requirement",
        Example("FROM ubuntu:22.04\nRUN pip install transformers>=4.51.0 accelerate\n"),
        Example("FROM ubuntu:22.04\nRUN pip install 'transformers>=4.51.0' accelerate > /tmp/log 2>&1\n"),
        requirements.unquoted_specifier,
    ),
    Rule(
        "invalid-specifier",
        Severity.ERROR,
        "A requirement that no installer accepts",
        "pip stops at it, or an older pip reads it in its own way.",
        "`foo=1.2` and `foo>=1.*` are the common ones.",
        "write it as PEP 440 has it: foo==1.2, foo>=1.2,<2",
        Example("FROM ubuntu:22.04\nRUN pip install numpy=1.26.4 'scipy>=1.10.*'\n"),
        Example(
            "FROM ubuntu:22.04\nRUN pip install numpy==1.26.4 'scipy==1.10.*' ./local *.whl\nRUN conda install numpy=1.26\n"
        ),
        requirements.invalid_specifier,
    ),
    Rule(
        "pin-undone",
        Severity.WARNING,
        "A later install replaces what an earlier one pinned",
        "In one environment the last install that touches a distribution decides its version. The earlier pin still"
        " reads like the truth.",
        "Found in 107 versions of Dockerfiles as two exact versions in one environment.",
        "write the version in one place",
        Example("FROM ubuntu:22.04\nRUN pip install 'setuptools<80' ninja\nRUN pip install -U pip setuptools\n"),
        Example(
            "FROM ubuntu:22.04\nRUN pip install 'setuptools<80'\nRUN pip install setuptools wheel\n"
            'ARG ROCM=1\nRUN if [ "$ROCM" = "1" ]; then pip install numpy==1.26.4; else pip install numpy==2.0.0; fi\n'
        ),
        environments.pin_undone,
    ),
    Rule(
        "two-requirements",
        Severity.NOTE,
        "Two bounds on one distribution in one environment",
        "pip does not remember the bounds of an earlier call. Both lines must be edited together, and the next install"
        " that touches the distribution looks at neither.",
        "Found in 300 versions of Dockerfiles in 12 projects.",
        "write one bound, or give both calls the same constraints file",
        Example("FROM ubuntu:22.04\nRUN pip install 'numpy<2'\nRUN pip install 'numpy>=1.24' scipy\n"),
        Example(
            "FROM ubuntu:22.04 AS a\nRUN pip install 'numpy<2'\nFROM ubuntu:22.04 AS b\nRUN pip install 'numpy>=1.24'\n"
        ),
        environments.two_requirements,
    ),
    Rule(
        "undone-by-dependency",
        Severity.WARNING,
        "What a later install requires replaces an earlier pin (with --metadata)",
        "pip gives each call what it asks for. A release that requires another version than the one that is there makes pip"
        " replace it, and the earlier line says something else than the image has.",
        "A pinned numpy that a later install of pandas replaced is the usual form.",
        "write versions that fit together in one call, or give both calls the same constraints file",
        Example("FROM ubuntu:22.04\nRUN pip install numpy==1.26.4\nRUN pip install needs-numpy-two==1.0\n"),
        Example("FROM ubuntu:22.04\nRUN pip install numpy==2.1.0\nRUN pip install needs-numpy-two==1.0\n"),
        promises.undone_by_dependency,
    ),
    Rule(
        "unmet-requirement",
        Severity.WARNING,
        "What ends up installed breaks a release's own requirements (with --metadata)",
        "--no-deps promises that everything else is right already; nothing checks that. A later exact install breaks an"
        " earlier one's requirements in the same way, with a warning in the build log at most.",
        "4,544 calls in 1,491 versions of Dockerfiles use --no-deps.",
        "take versions that admit each other",
        Example("FROM ubuntu:22.04\nRUN pip install numpy==1.26.4\nRUN pip install --no-deps needs-numpy-two==1.0\n"),
        Example("FROM ubuntu:22.04\nRUN pip install numpy==2.1.0\nRUN pip install --no-deps needs-numpy-two==1.0\n"),
        promises.unmet_requirement,
    ),
    Rule(
        "compiled-skew",
        Severity.WARNING,
        "Compiled modules may be built with another version than the image ships",
        "Wheels are compiled in one stage, and used with what another stage installs. Modules compiled with different"
        " internals of pybind11, or against another libtorch, load and then fail on each other's types.",
        "vLLM's ROCm base left pybind11 open. When 3.1.0 came out (internals 12, before 11), kernels that AITER compiles"
        " at first use no longer took the tensors of wheels built before; `pybind11<3.1.0` ended it (August 2026).",
        "cap it, or give all stages the same version",
        Example(
            "FROM ubuntu:22.04 AS base\nRUN pip install 'cmake<4' pybind11\n"
            "FROM base AS build_aiter\nRUN git clone -b v0.1 https://h.example/aiter.git && cd aiter && python3 setup.py bdist_wheel\n"
            "FROM base AS final\nRUN --mount=type=bind,from=build_aiter,src=/aiter/dist,target=/i pip install /i/*.whl\n"
        ),
        Example(
            "FROM ubuntu:22.04 AS base\nRUN pip install 'cmake<4' 'pybind11<3.1.0'\n"
            "FROM base AS build_aiter\nRUN git clone -b v0.1 https://h.example/aiter.git && cd aiter && python3 setup.py bdist_wheel\n"
            "FROM base AS final\nRUN --mount=type=bind,from=build_aiter,src=/aiter/dist,target=/i pip install /i/*.whl\n"
        ),
        skew.compiled_skew,
    ),
    Rule(
        "hardcoded-python",
        Severity.NOTE,
        "A Python version is written out beside an ARG for it",
        "With another PYTHON_VERSION, paths like /usr/lib/python3.12 and wheels for cp312 stay as they are: the build"
        " fails, or mixes two Pythons.",
        "Found in 160 versions of Dockerfiles as paths, in 137 as wheels; verl's ROCm file says so in a comment.",
        "write the variable in its place",
        Example("FROM ubuntu:22.04\nARG PYTHON_VERSION=3.12\nRUN cp x /usr/lib/python3.12/site-packages/\n"),
        Example(
            'FROM ubuntu:22.04\nARG PYTHON_VERSION=3.12\nRUN if [ "$PYTHON_VERSION" = "3.12" ]; then cp x /usr/lib/python3.12/; fi\n'
        ),
        literals.hardcoded_python,
    ),
    Rule(
        "literal-beside-argument",
        Severity.NOTE,
        "The version of an ARG is written out once more",
        "Who sets the ARG gets two versions: where the variable is used, and where the number is written out.",
        "verl's ROCm file: ROCM_VERSION sets the packages of the system, the wheels say rocm7.0.2.",
        "write the variable in its place",
        Example(
            "FROM ubuntu:22.04\nARG ROCM_VERSION=7.0.2\nRUN pip install https://h.example/rocm-rel-7.0.2/x-1.0-py3-none-any.whl\n"
        ),
        Example(
            "FROM ubuntu:22.04\nARG ROCM_VERSION=7.0.2\nRUN pip install https://h.example/rocm-rel-${ROCM_VERSION}/x-7.0.2-py3-none-any.whl\n"
        ),
        literals.literal_beside_argument,
    ),
    Rule(
        "repeated-literal",
        Severity.NOTE,
        "One version of one thing is written in several places",
        "One place is edited, and the others are missed; the stages then differ.",
        "Found in 196 versions of Dockerfiles in 15 projects.",
        "write it once, as a global ARG",
        Example(
            "FROM ubuntu:22.04 AS a\nRUN pip install torch==2.9.0\nFROM ubuntu:22.04 AS b\nRUN pip install torch==2.9.0\n"
        ),
        Example(
            "ARG TORCH=2.9.0\nFROM acme/os:1 AS a\nARG TORCH\nRUN pip install torch==${TORCH}\n"
            "FROM a AS b\nRUN pip install torch==${TORCH} triton==2.9.0\n"
        ),
        literals.repeated_literal,
    ),
    Rule(
        "comment-contradicts",
        Severity.NOTE,
        "A comment says another version than the line",
        "One of the two was forgotten in an edit, and a reader cannot tell which.",
        "Found beside dated pins that were moved without their comment.",
        "say in the comment what the line holds",
        Example("FROM ubuntu:22.04\n# pinned to 2.7.0\nRUN pip install torch==2.9.0\n"),
        Example("FROM ubuntu:22.04\n# needs 2.7.0 or newer; 2.8 broke it\nRUN pip install torch==2.9.0\n"),
        comments.comment_contradicts,
    ),
    Rule(
        "undeclared-build-argument",
        Severity.WARNING,
        "A workflow, script or document passes a build argument that no file declares",
        "The builder warns at most. Whoever follows the document believes that the version was set.",
        "624 of 5,579 versions of Dockerfiles document build arguments in comments; renamed ones stay there.",
        "declare it, or take it out",
        Example(
            "# build with: docker build --build-arg TRITON_COMMIT=f0b55c0 .\nFROM ubuntu:22.04\nARG TRITON_BRANCH=v3.5.0\nRUN x ${TRITON_BRANCH}\n"
        ),
        Example(
            "# build with: docker build --build-arg TRITON_BRANCH=f0b55c0 .\nFROM ubuntu:22.04\nARG TRITON_BRANCH=v3.5.0\nRUN x ${TRITON_BRANCH}\n"
        ),
        across=documents.undeclared_build_argument,
    ),
    Rule(
        "not-read",
        Severity.ERROR,
        "The file cannot be read to its end",
        "The builder refuses it too, in most cases: conflict markers, a lost backslash, a heredoc without its end.",
        "38 of 5,579 versions of Dockerfiles do not parse.",
        "mend the line",
        Example("FROM ubuntu:22.04\n<<<<<<< HEAD\nRUN x\n"),
        Example("FROM ubuntu:22.04\nRUN x <<EOF\n<<<<<<< HEAD\nEOF\n"),
        unread.not_read,
    ),
)
