"""HTTP: the page's files, and its requests to the engine."""

import json
import select
import socket
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

from stillair.cli.explore import guard
from stillair.cli.explore.engines import Engines, Gone, Limits, Refused

PAGE = Path(__file__).parent / "page"
"""The page as `make web` builds it."""

_KINDS = {
    "index.html": "text/html; charset=utf-8",
    "app.js": "text/javascript; charset=utf-8",
    "app.css": "text/css; charset=utf-8",
}

# The page needs no WebAssembly, because the engine runs in this process.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data: blob:;"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
# Idle time before a connection is closed.
_SILENCE_S = 30


class Shown(NamedTuple):
    """Files offered on the page, as name and text."""

    scenarios: list[tuple[str, str]]
    beside: list[tuple[str, str]]


class Server(ThreadingHTTPServer):
    """An HTTP server on loopback only."""

    daemon_threads = True

    def __init__(self, port: int, token: str, shown: Shown, limits: Limits) -> None:
        """Binds the port, or any free port if it is 0. Raises `OSError` if the port is taken."""
        super().__init__(("127.0.0.1", port), _Handler)
        self.token, self.engines = token, Engines(limits)
        self.files = {name: (PAGE / name).read_bytes() for name in _KINDS}
        served = {"token": token, "slots": limits.at_once, "files": shown.scenarios, "beside": shown.beside}
        # Escape anything that could end the enclosing element.
        text = json.dumps(served).replace("<", "\\u003c")
        head = b'<script type="application/json" id="served">' + text.encode() + b"</script>\n</head>"
        self.files["index.html"] = self.files["index.html"].replace(b"</head>", head, 1)

    @property
    def address(self) -> str:
        """URL of the page."""
        return f"http://127.0.0.1:{self.server_address[1]}/{self.token}/"

    def server_close(self) -> None:
        """Closes the socket and ends the engine's processes."""
        super().server_close()
        self.engines.close()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - the library's signature
        """Ignores clients that disconnect during an answer."""


class _Handler(BaseHTTPRequestHandler):
    server: Server
    timeout = _SILENCE_S
    server_version = "stillair"
    sys_version = ""
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if not self._may("GET"):
            return
        name = self.path.split("?")[0].removeprefix(f"/{self.server.token}/") or "index.html"
        # The name is a dictionary key and never used as a path.
        if name in self.server.files:
            self._answer(HTTPStatus.OK, _KINDS[name], self.server.files[name])
        else:
            self._answer(HTTPStatus.NOT_FOUND, "text/plain", b"there is no such file here")

    def do_POST(self) -> None:
        if not self._may("POST"):
            return
        if self.path != f"/{self.server.token}/ask":
            self._refuse(HTTPStatus.NOT_FOUND, "request", "nothing is served at this address")
            return
        request = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            request.decode()
            good, answer = self.server.engines.ask(request, self._waits)
        except UnicodeDecodeError:
            self._refuse(HTTPStatus.BAD_REQUEST, "request", "the request is no text")
        except Refused as refused:
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, refused.kind, str(refused))
        except Gone:
            self.close_connection = True
        else:
            status = HTTPStatus.OK if good else HTTPStatus.UNPROCESSABLE_ENTITY
            self._answer(status, "application/octet-stream", answer)

    def do_other(self) -> None:
        self._may(self.command)

    do_OPTIONS = do_HEAD = do_PUT = do_DELETE = do_PATCH = do_other  # noqa: N815 - the library's signature

    def _may(self, method: str) -> bool:
        port = self.server.server_address[1]
        no = guard.refusal(method, self.path, self.headers, int(port), self.server.token)  # type: ignore[arg-type]
        if no:
            # The request body is left unread.
            self.close_connection = True
            self._refuse(no.status, "request", no.why)
        return no is None

    def _waits(self) -> bool:
        """Returns true while the client is connected.

        Clients send nothing more, so readable data means EOF.
        """
        readable, _, _ = select.select([self.connection], [], [], 0)
        try:
            return not readable or self.connection.recv(1, socket.MSG_PEEK) != b""
        except OSError:
            return False

    def _refuse(self, status: HTTPStatus, kind: str, why: str) -> None:
        self._answer(status, "application/json", json.dumps({"kind": kind, "message": why}).encode())

    def _answer(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        for name, value in {**_HEADERS, "Content-Type": kind, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's signature
        """Logs nothing: the page has a single user."""
