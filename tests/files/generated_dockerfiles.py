"""Dockerfiles in the many ways in which people write them: quotes, continuations, comments, line ends, heredocs."""

from hypothesis import strategies as st

NAMES = st.sampled_from(["foo", "bar-baz", "Q2", "torch", "x_y", "setup.tools"])
VERSIONS = st.sampled_from(["1.4", "v2.0.1", "2026.8", "0.1rc1", "3.1.0+cu128", "7"])
PLAIN_VERSIONS = st.sampled_from(["1.4", "2.0.1", "2026.8", "0.1rc1", "3.1.0+cu128", "7"])
REFS = st.sampled_from(["f0b55c0", "main", "release/2.12", "v1.4", "ab" * 20, "feat!x"])
SPECIFIERS = st.sampled_from(["<3", ">=1,<2", "!=1.5", "~=4.2", ">=1.2, <2", "==1.*"])
BLANKS = st.sampled_from([" ", "  ", "\t", " \t "])
COMMENTS = st.sampled_from(["", "# why", "#RUN pip install old==1", "# as of 08/18", "  # \xe9", "# a \\"])


def _quoted(text: str, quote: str) -> str:
    return f"{quote}{text}{quote}"


DOCKER_QUOTE = st.sampled_from(["", '"', "'"])
SHELL_QUOTE = st.sampled_from(['"', "'"])


@st.composite
def variables(draw: st.DrawFn) -> str:
    """An ARG or ENV with a value, in one of its forms."""
    name = draw(st.sampled_from(["W_REF", "FOO_VERSION", "BASE_TAG", "X_COMMIT"]))
    value = draw(st.sampled_from(["9.1", "latest", "9.1-devel"]) if name == "BASE_TAG" else st.one_of(VERSIONS, REFS))
    quote = draw(DOCKER_QUOTE)
    keyword = draw(st.sampled_from(["ARG", "arg", "ENV", "Env"]))
    if keyword == "ENV" and draw(st.booleans()):
        return f"ENV{draw(BLANKS)}{name}{draw(BLANKS)}{_quoted(value, quote)}"
    trailing = draw(st.sampled_from(["", "  "]))
    return f"{keyword}{draw(BLANKS)}{name}={_quoted(value, quote)}{trailing}"


@st.composite
def requirements(draw: st.DrawFn) -> str:
    """A word of ``pip install``."""
    name = draw(NAMES) + draw(st.sampled_from(["", "", "[gpu]"]))
    match draw(st.integers(0, 5)):
        case 0:
            return name
        case 1:
            return f"{name}=={draw(PLAIN_VERSIONS)}"
        case 2:
            return _quoted(f"{name}=={draw(PLAIN_VERSIONS)}", draw(SHELL_QUOTE))
        case 3:
            return _quoted(f"{name}{draw(SPECIFIERS)}", draw(SHELL_QUOTE))
        case 4:
            return name + _quoted(draw(SPECIFIERS), draw(SHELL_QUOTE))
        case _:
            return f"git+https://git.example/a/{draw(NAMES)}.git@{draw(REFS)}"


@st.composite
def commands(draw: st.DrawFn) -> str:
    """A command that takes versions."""
    ref = draw(REFS)
    match draw(st.integers(0, 9)):
        case 0 | 1 | 2:
            words = draw(st.lists(requirements(), min_size=1, max_size=4))
            head = draw(
                st.sampled_from(
                    ["pip install", "python3 -m pip install -U", "uv pip install --system", "X=1 pip3 install"]
                )
            )
            return f"{head} {' '.join(words)}"
        case 3:
            return f"git clone -b {draw(st.sampled_from([ref, _quoted(ref, chr(34)), _quoted(ref, chr(39))]))} https://git.example/a/w.git"
        case 4:
            return f"git clone https://git.example/a/z.git && cd z && git checkout {ref}"
        case 5:
            return f"apt-get install -y libfoo={draw(PLAIN_VERSIONS)}-1 vim"
        case 6:
            version = draw(st.sampled_from(["1.4", "2.0.1"]))
            return f"curl -fsSL https://h.example/v{version}/foo-{version}.tar.gz | tar xz"
        case 7:
            return f'if [ "$USE" = 1 ]; then pip install {draw(requirements())}; else {draw(requirements())}; fi'
        case 8:
            return f"bash -c 'pip install inner=={draw(PLAIN_VERSIONS)}'"
        case _:
            return f"conda install -y numpy={draw(PLAIN_VERSIONS)} 'mkl>=2024'"


@st.composite
def runs(draw: st.DrawFn) -> str:
    """A RUN, continued over lines with comments between, or as a heredoc."""
    parts = draw(st.lists(commands(), min_size=1, max_size=3))
    if draw(st.integers(0, 4)) == 0:
        mark = draw(st.sampled_from(["EOF", "'EOF'", '"EOF"']))
        return f"RUN <<{mark}\n" + "\n".join(parts) + "\nEOF"
    joined = parts[0]
    for part in parts[1:]:
        comment = draw(COMMENTS)
        inside = f"{comment.lstrip()}\n" if comment.lstrip().startswith("#") else ""
        joined += f" \\\n{inside}{draw(BLANKS)}&& {part}"
    flag = draw(st.sampled_from(["", "--mount=type=cache,target=/c "]))
    return f"{draw(st.sampled_from(['RUN', 'run']))} {flag}{joined}"


@st.composite
def dockerfiles(draw: st.DrawFn) -> bytes:
    """A Dockerfile of one to three stages."""
    lines: list[str] = draw(st.lists(variables().filter(lambda v: v[:3].upper() == "ARG"), max_size=2))
    for number in range(draw(st.integers(1, 3))):
        base = draw(st.sampled_from(["acme/os:9.1", "acme/os:${BASE_TAG}", "h:5000/a/b@sha256:" + "0" * 64, "acme/os"]))
        lines.append(f"FROM {base} {draw(st.sampled_from(['AS', 'as']))} s{number}")
        for _ in range(draw(st.integers(0, 3))):
            lines.append(draw(COMMENTS))
            lines.append(draw(st.one_of(variables(), runs(), runs())))
    text = "\n".join(lines) + draw(st.sampled_from(["", "\n", "\n\n"]))
    if "<<" not in text and draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + text.encode()
