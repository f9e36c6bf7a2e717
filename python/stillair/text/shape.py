"""Validates values read from JSON before they are used.

A shape is a function that takes a value and raises `Misfit` if it is not valid.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

from stillair._native import InputError

Shape = Callable[[Any], None]

LARGEST = 2**64 - 1
"""Upper bound of the engine's times and counts."""

_KINDS = {
    dict: "an object",
    list: "a list",
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    type(None): "null",
}


_MISSING = "nothing"


class Misfit(Exception):  # noqa: N818 - converted to InputError inside this module
    """A value does not have its shape. Callers add its key as the exception propagates."""

    def __init__(self, found: str, expected: str, *keys: object) -> None:
        """`keys` lead to the value from the value being checked, whose own key is unknown here."""
        super().__init__(found, expected)
        self.keys = [str(key) for key in reversed(keys)]
        self.found, self.expected = found, expected


def check(value: object, shape: Shape, where: object, key: str = "") -> None:
    """Raises `InputError` with `where`, such as a file, and the key, if a value does not have its shape."""
    try:
        shape(value)
    except Misfit as misfit:
        path = ".".join(([key] if key else []) + misfit.keys[::-1])
        if misfit.found == _MISSING:
            raise InputError(f'{where}: the key "{path}" is missing') from None
        said = f"found {misfit.found}, expected {misfit.expected}"
        raise InputError(f"{where}: {path}: {said}" if path else f"{where}: {said}") from None
    except RecursionError:
        raise InputError(f"{where}: is not what this program writes: too deep") from None


def kind(value: object) -> str:
    """Names a JSON type."""
    return _KINDS[type(value)]


def shown(value: object) -> str:
    """A value for messages: numbers as they are, anything else by its type."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return kind(value)
    return repr(value) if isinstance(value, float) or abs(value) <= 2**64 else "a larger number"


def whole(least: int = 0, most: int = LARGEST) -> Shape:
    """An integer within bounds."""

    def fits(value: object) -> None:
        # In Python, a boolean is an integer; reject it here.
        if type(value) is not int or not least <= value <= most:
            raise Misfit(shown(value), f"a whole number from {least} to {most}")

    return fits


def number(value: Any) -> None:  # noqa: ANN401 - a JSON value
    """A finite number."""
    if type(value) not in (int, float) or not abs(value) <= LARGEST:
        raise Misfit(shown(value), "a number")


def text(value: object) -> None:
    """Text that can be written as UTF-8."""
    if type(value) is not str:
        raise Misfit(shown(value), "text")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise Misfit("text with an unpaired surrogate", "text") from None


def truth(value: object) -> None:
    """True or false."""
    if type(value) is not bool:
        raise Misfit(shown(value), "true or false")


def anything(value: object) -> None:
    """Any value.

    No reader uses it by name, but it is written and averaged, so its numbers and texts must be valid.
    """
    if isinstance(value, dict):
        table(anything)(value)
    elif isinstance(value, list):
        each(anything)(value)
    elif isinstance(value, str):
        text(value)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        number(value)


def single(value: object) -> None:
    """Any value except an object, for values that are averaged over runs by key."""
    if isinstance(value, dict):
        raise Misfit(kind(value), "a value")
    anything(value)


def maybe(shape: Shape) -> Shape:
    """The given shape, or null."""

    def fits(value: object) -> None:
        if value is not None:
            shape(value)

    return fits


def each(shape: Shape, least: int = 0) -> Shape:
    """A list whose elements have one shape."""

    def fits(value: object) -> None:
        if not isinstance(value, list):
            raise Misfit(shown(value), "a list")
        if len(value) < least:
            raise Misfit("none", "at least one")
        # Lists are long: a single call for each element.
        position = 0
        try:
            for position, element in enumerate(value):  # noqa: B007 - it is where the fault is
                shape(element)
        except Misfit as misfit:
            misfit.keys.append(str(position))
            raise

    return fits


def row(*shapes: Shape) -> Shape:
    """A list with one element for each shape."""

    def fits(value: object) -> None:
        if not isinstance(value, list):
            raise Misfit(shown(value), "a list")
        if len(value) != len(shapes):
            raise Misfit(f"{len(value)} values", f"{len(shapes)}")
        for position, (shape, element) in enumerate(zip(shapes, value, strict=True)):
            _within(position, shape, element)

    return fits


def table(shape: Shape) -> Shape:
    """An object with any keys, whose values have one shape."""

    def fits(value: object) -> None:
        if not isinstance(value, dict):
            raise Misfit(shown(value), "an object")
        for key, element in value.items():
            text(key)
            _within(key, shape, element)

    return fits


def record(keys: Mapping[str, Shape], optional: Mapping[str, Shape] | None = None, rest: Shape = anything) -> Shape:
    """An object with these keys; others are allowed."""
    known = {**keys, **(optional or {})}

    def fits(value: object) -> None:
        if not isinstance(value, dict):
            raise Misfit(shown(value), "an object")
        for key in keys:
            if key not in value:
                raise Misfit(_MISSING, "", key)
        for key, element in value.items():
            text(key)
            _within(key, known.get(key, rest), element)

    return fits


def columns(keys: Mapping[str, Shape], rest: Shape = anything) -> Shape:
    """An object in which these keys are lists of equal length; others are allowed."""
    lists = record({key: each(shape) for key, shape in keys.items()}, rest=rest)

    def fits(value: Any) -> None:  # noqa: ANN401 - a mapping of lists once `lists` has seen it
        lists(value)
        lengths = {key: len(value[key]) for key in keys}
        first, most = next(iter(lengths.items()))
        for key, length in lengths.items():
            if length != most:
                raise Misfit(f"{length} values", f"{most} as of {first}", key)

    return fits


def both(*shapes: Shape) -> Shape:
    """A value with all of these shapes."""

    def fits(value: object) -> None:
        for shape in shapes:
            shape(value)

    return fits


def unread(value: object) -> None:
    """Any value: it is not used here."""


def repeated(values: Iterable[Hashable]) -> int | None:
    """Returns the position of the first repeated value, or `None`."""
    seen = set()
    for position, value in enumerate(values):
        if value in seen:
            return position
        seen.add(value)
    return None


def _within(key: object, shape: Shape, value: object) -> None:
    try:
        shape(value)
    except Misfit as misfit:
        misfit.keys.append(str(key))
        raise
