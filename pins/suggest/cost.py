"""What an edit costs, and which edits would change nothing that ships."""

from collections.abc import Sequence

from pins.model import Pin, PinSet, Scope


def rebuilt(pin_set: PinSet, pin: Pin) -> tuple[str, ...]:
    """The stages that an edit of a pin makes the builder build again, in the order of the file.

    An instruction that changes is built again, and all behind it: in its own stage, in those built from it, and in
    those that take files from one of these. (An image outside the file that is built from these is not known.)
    """
    if not pin_set.stages:
        return ()
    touched = {use.stage for use in pin.uses if use.runs is not False} | ({pin.stage} if pin.stage else set())
    if pin.scope is Scope.GLOBAL and not touched:
        touched = set(pin.override.reaches)
    grown = True
    while grown:
        grown = False
        for stage in pin_set.stages:
            if stage.name not in touched and (stage.parent in touched or touched & set(stage.takes_from)):
                touched.add(stage.name)
                grown = True
    return tuple(stage.name for stage in pin_set.stages if stage.name in touched)


def not_shipping(pin_set: PinSet, pins: Sequence[Pin], chosen: Pin) -> tuple[str, ...]:
    """Edits of pins of the same name that would change nothing of what ships, in words."""
    roles = {stage.name: stage.role for stage in pin_set.stages}
    found: list[str] = []
    for pin in pins:
        if pin is chosen or pin.ships or pin.file != chosen.file or not pin_set.stages:
            continue
        stages = [use.stage for use in pin.uses] or [pin.stage]
        role = roles.get(stages[0], "")
        what = (
            "only feeds the image: what it installs does not ship"
            if role == "feeds"
            else "is not part of what is built"
        )
        found.append(f"an edit of line {pin.line} alone: stage {stages[0]} {what}")
    return tuple(found)
