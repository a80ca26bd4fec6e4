"""Rules on references that move, and on checkouts."""

from pins.hazards.model import Example, Rule, Severity
from pins.hazards.rules import checkouts, moving

RULES = (
    Rule(
        "moving-branch",
        Severity.WARNING,
        "A git pin follows a branch",
        "A branch is another commit tomorrow. Two builds of the same file differ, a cached layer keeps an old commit,"
        " and a bisect over the file's history sees nothing change when the image breaks.",
        "Found in 1,192 versions of Dockerfiles in 18 projects as the default of an ARG alone.",
        "pin a commit, and note the branch in a comment",
        Example(
            "FROM ubuntu:22.04\nARG AITER_BRANCH=main\nRUN git clone https://h.example/aiter.git && cd aiter && git checkout ${AITER_BRANCH}\n"
        ),
        Example(
            "FROM ubuntu:22.04\n# main as of 2026-08-18\nARG AITER_BRANCH=6bbd260ab0c1d2e3f405162738495a6b7c8d9e0f\n"
            "RUN git clone https://h.example/aiter.git && cd aiter && git checkout ${AITER_BRANCH}\n"
        ),
        moving.moving_branch,
    ),
    Rule(
        "no-revision",
        Severity.WARNING,
        "A clone or a git requirement names no revision",
        "What is built is the default branch on the day of the build, or on the day on which the layer was cached.",
        "Found in 884 versions of Dockerfiles as a clone, in 506 as a requirement.",
        "name a commit",
        Example("FROM ubuntu:22.04\nRUN git clone https://h.example/mori.git && cd mori && pip install .\n"),
        Example(
            "FROM ubuntu:22.04\nRUN git clone https://h.example/mori.git && cd mori"
            " && git checkout 6bbd260ab0c1d2e3f405162738495a6b7c8d9e0f && pip install .\n"
        ),
        moving.no_revision,
    ),
    Rule(
        "pull-request",
        Severity.WARNING,
        "A pull request's head or patch is built in",
        "Its author can push another change under the same name; when it is merged or closed, the reference may go.",
        "Found in 80 versions of Dockerfiles as a patch, in 8 as a head.",
        "name the commit, or keep the patch in the repository",
        Example(
            "FROM ubuntu:22.04\nRUN git clone https://h.example/w.git && cd w && git fetch origin pull/77/head && git checkout FETCH_HEAD\n"
        ),
        Example(
            "FROM ubuntu:22.04\nRUN git clone https://h.example/w.git && cd w"
            " && git fetch origin 6bbd260ab0c1d2e3f405162738495a6b7c8d9e0f && git checkout FETCH_HEAD\n"
        ),
        moving.pull_request,
    ),
    Rule(
        "floating-image",
        Severity.WARNING,
        "A base image without a tag, or with one that is moved",
        "latest, nightly and an image without a tag are another image after each push. Everything that the file does not"
        " pin itself comes from there.",
        "Found in 515 versions of Dockerfiles in 29 projects.",
        "name a tag with a version, or a digest",
        Example("FROM acme/vllm-dev:nightly\nRUN x\n"),
        Example("FROM acme/vllm-dev:nightly-20260818 AS base\nFROM base\nFROM scratch\n"),
        moving.floating_image,
    ),
    Rule(
        "latest-download",
        Severity.WARNING,
        "A download of the latest release",
        "/releases/latest/ is another file after each release, and no line of the repository says which was built in.",
        "Found in 22 versions of Dockerfiles.",
        "name the release",
        Example("FROM ubuntu:22.04\nRUN curl -LO https://github.com/acme/tool/releases/latest/download/tool.tar.gz\n"),
        Example("FROM ubuntu:22.04\nRUN curl -LO https://github.com/acme/tool/releases/download/v1.4.2/tool.tar.gz\n"),
        moving.latest_download,
    ),
    Rule(
        "branch-file",
        Severity.NOTE,
        "A file is downloaded from a branch",
        "The file is what the branch holds on the day of the build: an installer script, a requirements file or a patch"
        " changes without a change here.",
        "Found in 209 versions of Dockerfiles in 5 projects.",
        "put a commit in the branch's place",
        Example("FROM ubuntu:22.04\nRUN curl -O https://raw.githubusercontent.com/acme/w/main/install.sh\n"),
        Example("FROM ubuntu:22.04\nRUN curl -O https://raw.githubusercontent.com/acme/w/v1.4.2/install.sh\n"),
        moving.branch_file,
    ),
    Rule(
        "short-commit",
        Severity.NOTE,
        "A commit is named by its first digits",
        "It is unique today; a repository that grows can make it ambiguous. A short commit cannot be fetched, so that the"
        " whole history must be cloned.",
        "Found in 975 versions of Dockerfiles in 15 projects.",
        "write all 40 digits",
        Example("FROM ubuntu:22.04\nRUN git clone https://h.example/w.git && cd w && git checkout f0b55c0\n"),
        Example("FROM ubuntu:22.04\nRUN git clone https://h.example/w.git && cd w && git checkout v1.4.2\n"),
        moving.short_commit,
    ),
    Rule(
        "all-digit-commit",
        Severity.WARNING,
        "A short commit of digits only",
        "YAML, shells and spreadsheets read it as a number: 0532137 loses its zero, 1e10 becomes 10000000000.",
        "Found in 63 versions of Dockerfiles.",
        "write all 40 digits",
        Example("FROM ubuntu:22.04\nRUN git clone https://h.example/w.git && cd w && git checkout 0532137\n"),
        Example("FROM ubuntu:22.04\nRUN git clone https://h.example/w.git && cd w && git checkout 053213a\n"),
        moving.all_digit_commit,
    ),
    Rule(
        "mutable-tag",
        Severity.NOTE,
        "A git pin names a tag, which can be moved",
        "Whoever owns the repository can move a tag. It rarely happens; where it must not matter, pin the commit.",
        "The tags of tj-actions/changed-files were moved to a hostile commit in March 2025.",
        "pin the tag's commit",
        Example("FROM ubuntu:22.04\nRUN git clone -b v1.4.2 https://h.example/w.git\n"),
        Example("FROM ubuntu:22.04\nRUN git clone -b main https://h.example/w.git\n"),
        moving.mutable_tag,
        default=False,
    ),
    Rule(
        "shallow-checkout",
        Severity.WARNING,
        "A clone of depth 1, and a checkout of another revision",
        "A shallow clone has the tip of one branch. The checkout works while the pin is that tip, and fails after the"
        " next commit; with || true it stays on the tip.",
        "Found in 153 versions of Dockerfiles in 9 projects.",
        "git fetch --depth 1 origin COMMIT, then check out FETCH_HEAD",
        Example("FROM ubuntu:22.04\nRUN git clone --depth 1 https://h.example/w.git && cd w && git checkout f0b55c0\n"),
        Example(
            "FROM ubuntu:22.04\nRUN git clone --depth 1 https://h.example/w.git && cd w"
            " && git fetch --depth 1 origin v2 && git checkout FETCH_HEAD\n"
            "RUN git clone --depth 1 -b v3.1 https://h.example/x.git && cd x && git checkout v3.1\n"
        ),
        checkouts.shallow_checkout,
    ),
    Rule(
        "read-before-checkout",
        Severity.WARNING,
        "Requirements are read before the checkout they belong to",
        "What is installed are the requirements of the default branch; the pinned revision may ask for others.",
        "Seen where a checkout was added below an install that was there before.",
        "install behind the checkout",
        Example(
            "FROM ubuntu:22.04\nRUN git clone https://h.example/aiter.git\nRUN cd aiter && pip install -r requirements.txt\n"
            "RUN cd aiter && git checkout v0.1.4 && python3 setup.py develop\n"
        ),
        Example(
            "FROM ubuntu:22.04\nRUN git clone https://h.example/aiter.git\n"
            "RUN cd aiter && git checkout v0.1.4 && pip install -r requirements.txt\n"
        ),
        checkouts.read_before_checkout,
    ),
    Rule(
        "empty-reference",
        Severity.WARNING,
        "A checkout of a variable that is empty",
        "git checkout without an argument does nothing and succeeds: the default branch is built.",
        "Found in 221 versions of Dockerfiles in 2 projects.",
        "give the ARG a default, or stop without one: ${NAME:?}",
        Example(
            "FROM ubuntu:22.04\nARG W_REF=\nRUN git clone https://h.example/w.git && cd w && git checkout ${W_REF}\n"
        ),
        Example(
            "FROM ubuntu:22.04\nARG W_REF=\nRUN git clone https://h.example/w.git && cd w"
            ' && if [ -n "${W_REF}" ]; then git checkout ${W_REF}; fi\n'
        ),
        checkouts.empty_reference,
    ),
)
