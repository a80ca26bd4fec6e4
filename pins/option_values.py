"""What was typed for options, taken as it is where that is all there is to do.

Typer hands every value to pydantic, whose import takes as long as everything else that a short command does. A text
needs none of it, nor does a path or a list of either; whatever is anything else still goes that way. What is replaced
is an attribute of typer's that is not documented: where it is missing, nothing changes but the time.
"""

import os
from pathlib import Path
from typing import Any

_AS_TYPED = {str: str, Path: Path}
_SWITCHED_OFF = ("exists", "writable", "resolve_path", "allow_dash", "path_type", "parser", "click_type")
"""What a parameter may ask for besides its type."""


def take_plain_value(parameter: Any) -> None:
    """Let a parameter of a command take a plain value as it is; to be called before the command runs."""
    described: Any = getattr(parameter, "type_descriptor", None)
    if described is None or getattr(parameter, "_runtime_param", parameter) is not None:
        return
    info = described.parameter_info
    if info.file_okay and info.dir_okay and not any(getattr(info, name, None) for name in _SWITCHED_OFF):
        parameter._runtime_param = _AsTyped(described.annotation)


class _AsTyped:
    """Stands in for what typer makes of an annotation; makes that after all where a value needs it."""

    def __init__(self, annotation: Any) -> None:
        several = getattr(annotation, "__origin__", None) is list
        self._type: Any = annotation.__args__[0] if several else annotation
        self._several = several

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value as the command takes it; raises what typer raises of a wrong one."""
        if value is None:
            return () if self._several else None
        values = list(value) if self._several and isinstance(value, list | tuple) else [value]
        made = [self._made(one) for one in values]
        if None in made or (self._several and not isinstance(value, list | tuple)):
            param._runtime_param = None
            return param.get_runtime_param().coerce(value, param=param, ctx=ctx)
        return made if self._several else made[0]

    def _made(self, value: Any) -> Any:
        """What a value is as it stands, None where that takes more."""
        if isinstance(value, str) and self._type in _AS_TYPED:
            value = _AS_TYPED[self._type](value)
        if not isinstance(value, self._type):
            return None
        if isinstance(value, Path) and os.access(value, os.F_OK) and not os.access(value, os.R_OK):
            return None  # which typer refuses, in its own words
        return value
