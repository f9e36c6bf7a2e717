"""Accepts only requests of the page itself, from this machine, with the token of its address.

Other pages in the same browser can send requests to loopback, but cannot read the token or suppress the
browser's own headers (`Origin`, `Sec-Fetch-Site`). DNS rebinding fails because `Host` then has a foreign
name.
"""

import hmac
from collections.abc import Mapping
from http import HTTPStatus
from typing import NamedTuple

TOKEN_HEADER = "X-Stillair-Token"  # noqa: S105 - its name
MOST_BYTES = 4 << 20


class No(NamedTuple):
    """A refused request."""

    status: HTTPStatus
    why: str


def refusal(method: str, path: str, headers: Mapping[str, str], port: int, token: str) -> No | None:
    """Returns why a request is refused, or `None`. `headers` must look up names case-insensitively."""
    names = (f"127.0.0.1:{port}", f"localhost:{port}")
    if headers.get("Host") not in names:
        return No(HTTPStatus.MISDIRECTED_REQUEST, "wrong host name")
    origin = headers.get("Origin")
    if origin is not None and origin not in [f"http://{name}" for name in names]:
        return No(HTTPStatus.FORBIDDEN, "another page asks")
    # Opened by the user or requested by the page; any other value comes from a foreign page.
    if headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
        return No(HTTPStatus.FORBIDDEN, "another page asks")
    given = path.split("/")[1] if path.startswith("/") else ""
    if not hmac.compare_digest(given.encode(), token.encode()):
        return No(HTTPStatus.FORBIDDEN, "the address is not the one that 'stillair explore' printed")
    if method not in ("GET", "POST"):
        return No(HTTPStatus.METHOD_NOT_ALLOWED, "only GET and POST are supported")
    return _refusal_of_post(headers, token) if method == "POST" else None


def _refusal_of_post(headers: Mapping[str, str], token: str) -> No | None:
    if not hmac.compare_digest((headers.get(TOKEN_HEADER) or "").encode(), token.encode()):
        return No(HTTPStatus.FORBIDDEN, f"{TOKEN_HEADER} is not the token")
    if headers.get("Content-Type") != "application/json":
        return No(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "expected application/json")
    length = headers.get("Content-Length") or ""
    if not length.isascii() or not length.isdigit():
        return No(HTTPStatus.LENGTH_REQUIRED, "expected Content-Length")
    if len(length) > 12 or int(length) > MOST_BYTES:
        return No(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"{MOST_BYTES} bytes at most")
    return None
