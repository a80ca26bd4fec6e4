"""Rules on ARG and ENV."""

from pins.hazards.model import Example, Rule, Severity
from pins.hazards.rules import arguments, continuations, defaults

RULES = (
    Rule(
        "undeclared-global-argument",
        Severity.WARNING,
        "A global ARG is used in a stage that does not declare it",
        "An ARG before the first FROM is seen by FROM lines only. A stage that does not declare it again, and descends"
        " from none that does, sees what the base image has set, or nothing. The build goes on with an empty value, and"
        " --build-arg changes the FROM line alone.",
        "Found in 174 of 5,579 versions of Dockerfiles, in 15 of 37 machine-learning projects.",
        "declare it in the stage: ARG NAME",
        Example("ARG TRITON_BRANCH=v3.5.0\nFROM ubuntu:22.04 AS build\nRUN git checkout ${TRITON_BRANCH}\n"),
        Example(
            "ARG TRITON_BRANCH=v3.5.0\nFROM ubuntu:22.04 AS base\nARG TRITON_BRANCH\n"
            "FROM base AS build\nRUN git checkout ${TRITON_BRANCH}\n"
        ),
        arguments.undeclared_global_argument,
    ),
    Rule(
        "unused-global-argument",
        Severity.WARNING,
        "A global ARG that nothing uses: setting it has no effect",
        "An ARG before the first FROM that no FROM line names and no stage declares reaches nothing, not even tools that"
        " read their settings from the environment. Who passes --build-arg for it gets no error, and the old version.",
        "Found in 196 versions of Dockerfiles in 13 projects.",
        "declare it in the stage that was meant to use it, or take it away",
        Example("ARG PYTORCH_BRANCH=v2.9.0\nFROM ubuntu:22.04\nRUN git checkout v2.9.0\n"),
        Example("ARG PYTORCH_BRANCH=v2.9.0\nFROM ubuntu:22.04\nARG PYTORCH_BRANCH\nRUN build.sh\n"),
        arguments.unused_global_argument,
    ),
    Rule(
        "override-misses-stage",
        Severity.WARNING,
        "A build argument reaches some uses of a pin, and not all",
        "--build-arg sets an ARG where it is declared. A stage that uses the same name without the declaration keeps"
        " another value, and the image is built from two versions.",
        "verl's ROCm file: ROCM_VERSION reaches the packages of the system, and not the wheels.",
        "declare the ARG in every stage that uses it",
        Example(
            "FROM ubuntu:22.04 AS one\nARG AITER_BRANCH=v0.1.4\nRUN git clone -b ${AITER_BRANCH} https://h.example/a.git\n"
            "FROM ubuntu:22.04 AS two\nRUN git clone -b ${AITER_BRANCH} https://h.example/a.git\n"
        ),
        Example(
            "FROM ubuntu:22.04 AS one\nARG AITER_BRANCH=v0.1.4\nRUN git clone -b ${AITER_BRANCH} https://h.example/a.git\n"
            "FROM one AS two\nRUN git clone -b ${AITER_BRANCH} https://h.example/a.git b\n"
        ),
        arguments.override_misses_stage,
    ),
    Rule(
        "shadowed-default",
        Severity.WARNING,
        "A stage gives a global ARG another default",
        "A default in a stage wins over the global one. Who edits the line at the top of the file changes FROM lines and"
        " other stages, and not this stage.",
        "Found in 11 versions of Dockerfiles in 3 projects.",
        "declare the ARG in the stage without a default",
        Example(
            "ARG CUDA_VERSION=12.8.1\nFROM acme/cuda:${CUDA_VERSION}\nARG CUDA_VERSION=12.6.0\nRUN x ${CUDA_VERSION}\n"
        ),
        Example("ARG CUDA_VERSION=12.8.1\nFROM acme/cuda:${CUDA_VERSION}\nARG CUDA_VERSION\nRUN x ${CUDA_VERSION}\n"),
        defaults.shadowed_default,
    ),
    Rule(
        "doubled-default",
        Severity.WARNING,
        "An ARG has two defaults in one stage",
        "The later default counts for everything below it. The earlier line still looks like the place to edit.",
        "Found in 5 versions of Dockerfiles in 2 projects.",
        "keep one of the two lines",
        Example("FROM ubuntu:22.04\nARG FA_BRANCH=v2.7.0\nARG FA_BRANCH=v2.8.0\nRUN git checkout ${FA_BRANCH}\n"),
        Example("FROM ubuntu:22.04\nARG FA_BRANCH=v2.8.0\nRUN a\nARG FA_BRANCH\nRUN git checkout ${FA_BRANCH}\n"),
        defaults.doubled_default,
    ),
    Rule(
        "environment-beats-argument",
        Severity.WARNING,
        "An ENV replaces an ARG of the same name",
        "ARG and ENV take effect in the order of the file. An ENV with a value of its own, below the ARG, is what RUN"
        " sees from there on; --build-arg is accepted and lost.",
        "Found in 71 versions of Dockerfiles in 4 projects.",
        "write ENV NAME=${NAME}",
        Example("FROM ubuntu:22.04\nARG NCCL_VERSION=2.27.3\nENV NCCL_VERSION=2.26.2\nRUN build ${NCCL_VERSION}\n"),
        Example(
            "FROM ubuntu:22.04\nARG NCCL_VERSION=2.27.3\nENV NCCL_VERSION=${NCCL_VERSION}\nRUN build ${NCCL_VERSION}\n"
        ),
        arguments.environment_beats_argument,
    ),
    Rule(
        "junk-arguments",
        Severity.WARNING,
        "Text behind # on an ARG line declares arguments",
        "A # opens a comment at the start of a line only. Behind a value, each word becomes one more ARG; `as of 08/18`"
        " declares `as`, `of` and `08/18`. Other builders refuse the line.",
        "Found in 78 versions of Dockerfiles in 5 projects; docker/Dockerfile.rocm_base of vLLM dates its pins so.",
        "move the comment to a line of its own, above",
        Example('FROM ubuntu:22.04\nARG TRITON_BRANCH="532137f" # release/3.7 as of 08/07\n'),
        Example('FROM ubuntu:22.04\n# release/3.7 as of 08/07\nARG TRITON_BRANCH="532137f#x"\n'),
        arguments.junk_arguments,
    ),
    Rule(
        "used-before-declaration",
        Severity.WARNING,
        "A variable is used above its ARG",
        "ARG takes effect from its line on. Above it, the variable is what the base image has set, or empty.",
        "Found in 5 versions of Dockerfiles.",
        "move the ARG above its first use",
        Example(
            "FROM ubuntu:22.04\nRUN pip install torch==${TORCH_VERSION}\nARG TORCH_VERSION=2.9.0\nRUN y ${TORCH_VERSION}\n"
        ),
        Example("FROM ubuntu:22.04\nARG TORCH_VERSION=2.9.0\nRUN pip install torch==${TORCH_VERSION}\n"),
        arguments.argument_used_before_declaration,
    ),
    Rule(
        "swallowed-instruction",
        Severity.ERROR,
        "An instruction belongs to the one above, through a dangling backslash",
        "A backslash at the end of a line continues the instruction over empty lines and comments. The ENV or RUN that"
        " follows becomes words of the command above: it sets nothing, and its pins do not exist.",
        "Found in 141 versions of Dockerfiles in 9 projects; verl's ROCm file lost ENV ROCM_HOME so.",
        "take away the backslash",
        Example("FROM ubuntu:22.04\nRUN pip install ninja \\\n\nENV ROCM_HOME=/opt/rocm\n"),
        Example("FROM ubuntu:22.04\nRUN echo 'FROM x' \\\n    && printf 'ENV A=1\\n' \\\n    > f\n"),
        continuations.swallowed_instruction,
    ),
    Rule(
        "comment-hides-commands",
        Severity.ERROR,
        "An inline # hides the rest of a RUN",
        "The lines of a continued RUN reach the shell as one line. A # behind a command makes a comment of everything"
        " after it, the other commands included; the build succeeds without them.",
        "Found in one of 5,579 versions of Dockerfiles; nothing in its build log says so.",
        "move the comment to a line of its own: whole-line comments are taken out before the shell sees the line",
        Example("FROM ubuntu:22.04\nRUN pip install 'cmake<4' # for triton \\\n    && pip install 'pybind11<3.1'\n"),
        Example(
            "FROM ubuntu:22.04\nRUN pip install 'cmake<4' \\\n    # for triton\n    && pip install 'pybind11<3.1' # last\n"
        ),
        continuations.comment_hides_commands,
    ),
)
