"""The name that was probably meant."""

import difflib
from collections.abc import Iterable


def nearest(found: str, known: Iterable[str]) -> list[str]:
    """Names that look like `found`, the likeliest first; at most three."""
    names = list(dict.fromkeys(known))
    # Whoever has written the beginning of one name has said which.
    beginnings = [name for name in names if name.startswith(found)] if len(found) > 2 else []
    close = difflib.get_close_matches(found, names, n=3, cutoff=0.65)
    return list(dict.fromkeys([*close, *sorted(beginnings, key=len)]))[:3]


def hint(found: str, known: Iterable[str]) -> str:
    """`; did you mean "x"?`, or nothing."""
    names = [f'"{name}"' for name in nearest(found, known)]
    return f"; did you mean {' or '.join(names)}?" if names else ""
