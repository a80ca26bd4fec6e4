"""The syntax of Python files, parsed once for all who ask."""

import ast
import warnings
from functools import lru_cache


@lru_cache(maxsize=64)
def syntax_of(content: bytes) -> ast.Module:
    """The syntax of a file.

    Raises:
        ValueError: it is no Python that can be parsed; a SyntaxError is one.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(content)
    except SyntaxError as error:
        raise ValueError(str(error)) from error
    except (RecursionError, MemoryError) as error:
        raise ValueError("it is nested too deeply") from error


def body_of(content: bytes) -> list[ast.stmt]:
    """The statements of a file; none of one that cannot be parsed."""
    try:
        return syntax_of(content).body
    except ValueError:
        return []
