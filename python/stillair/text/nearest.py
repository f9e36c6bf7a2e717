"""Suggestions for misspelt names."""

import difflib
from collections.abc import Iterable


def nearest(found: str, known: Iterable[str]) -> list[str]:
    """Returns at most three names similar to `found`, most similar first."""
    names = list(dict.fromkeys(known))
    # A prefix of a name is an unambiguous hint.
    beginnings = [name for name in names if name.startswith(found)] if len(found) > 2 else []
    close = difflib.get_close_matches(found, names, n=3, cutoff=0.65)
    return list(dict.fromkeys([*close, *sorted(beginnings, key=len)]))[:3]


def hint(found: str, known: Iterable[str]) -> str:
    """Returns `; did you mean "x"?`, or an empty string."""
    names = [f'"{name}"' for name in nearest(found, known)]
    return f"; did you mean {' or '.join(names)}?" if names else ""
