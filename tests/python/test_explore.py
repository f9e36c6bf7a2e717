"""`stillair explore`: who is answered, what is served, and what a request may take."""

import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from stillair import InputError
from stillair.cli.explore import guard
from stillair.cli.explore import server as servers
from stillair.cli.explore.command import named
from stillair.cli.explore.engines import Engines, Gone, Limits, Refused
from stillair.cli.explore.server import Server, Shown

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "a-token-for-tests"  # noqa: S105
TEXT = (ROOT / "scenarios" / "bench" / "anomaly-tcp.toml").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of a page of three small files: that the real page is whole is looked at in a browser."""
    page = tmp_path_factory.mktemp("page")
    (page / "index.html").write_text("<html><head></head><body></body></html>", encoding="utf-8")
    for name in ("app.js", "app.css"):
        (page / name).write_text("/* nothing */", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(servers, "PAGE", page)
        made = Server(0, TOKEN, Shown([("</script><b>.toml", TEXT)], []), Limits(seconds=20, at_once=1))
    thread = threading.Thread(target=made.serve_forever, args=(0.05,))
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


def ask(
    server: Server,
    method: str = "GET",
    path: str = f"/{TOKEN}/",
    headers: dict[str, str] | None = None,
    body: bytes | None = None,
) -> tuple[int, bytes, http.client.HTTPResponse]:
    port = server.server_address[1]
    connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=60)
    # As it stands: the library would put the path in order.
    connection.putrequest(method, path, skip_host=True)
    for name, value in ({"Host": f"127.0.0.1:{port}"} | (headers or {})).items():
        connection.putheader(name, value)
    if body is not None and "Content-Length" not in (headers or {}):
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body)
    answer = connection.getresponse()
    found = (answer.status, answer.read(), answer)
    connection.close()
    return found


def post(server: Server, asked: object, more: dict[str, str] | None = None) -> tuple[int, bytes]:
    headers = {"Content-Type": "application/json", guard.TOKEN_HEADER: TOKEN} | (more or {})
    status, body, _ = ask(server, "POST", f"/{TOKEN}/ask", headers, json.dumps(asked).encode())
    return status, body


def of(**more: object) -> dict[str, object]:
    return {"text": TEXT, "file": "x.toml", "overrides": [["duration", "1 s"]], **more}


def test_the_page_is_served_with_its_files_and_a_strict_policy(server: Server) -> None:
    status, body, answer = ask(server)
    assert status == 200
    policy = answer.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    # What is named on the command line ends no element.
    assert body.count(b"</script>") == 1
    served = body.partition(b'id="served">')[2].partition(b"</script>")[0]
    assert json.loads(served)["files"] == [["</script><b>.toml", TEXT]]
    assert "Access-Control-Allow-Origin" not in answer.headers


def test_the_engine_answers_as_it_does_elsewhere(server: Server) -> None:
    status, body = post(server, {"do": "run", "of": of()})
    assert status == 200
    from stillair import _native  # noqa: PLC0415

    alone = json.loads(_native.run(TEXT, "x.toml", [("duration", "1 s")], None, 1, 0, 1, None))
    assert json.loads(body)["runs"][0]["trace_hash"] == alone["runs"][0]["trace_hash"]


def test_a_mistake_is_told_with_its_line(server: Server) -> None:
    status, body = post(server, {"do": "survey", "of": of(text="\nname = 1\nnode = {}")})
    assert (status, json.loads(body)["mistakes"][0]["line"]) == (422, 2)


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1", "localhost.evil.example", "[::1]", ""]
)
def test_a_name_that_was_led_to_loopback_is_refused(server: Server, host: str) -> None:
    # DNS rebinding: the browser believes that it talks to that name.
    status, body, _ = ask(server, headers={"Host": host})
    assert (status, b"stillair" in body.lower()) == (421, False)


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1", "file://"]
)
def test_another_page_cannot_post(server: Server, origin: str) -> None:
    status, _ = post(server, {"do": "schema"}, {"Origin": origin})
    assert status == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_the_browser_says_comes_from_elsewhere_is_refused(server: Server, site: str) -> None:
    assert post(server, {"do": "schema"}, {"Sec-Fetch-Site": site})[0] == 403
    assert ask(server, headers={"Sec-Fetch-Site": site})[0] == 403


def test_a_form_or_a_simple_request_is_refused(server: Server) -> None:
    # What another page may send without being asked first: no header of its own, and only these kinds of body.
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        assert post(server, {"do": "schema"}, {"Content-Type": kind})[0] == 415
    plain = {"Content-Type": "application/json"}
    assert ask(server, "POST", f"/{TOKEN}/ask", plain, b"{}")[0] == 403
    assert ask(server, "OPTIONS", f"/{TOKEN}/ask", {"Origin": "http://evil.example"})[0] == 403
    assert ask(server, "OPTIONS", f"/{TOKEN}/ask")[0] == 405


@pytest.mark.parametrize("path", ["/", "/index.html", "/wrong/", "/ask", f"/{TOKEN[:-1]}/", f"/{TOKEN}x/"])
def test_without_the_token_there_is_nothing(server: Server, path: str) -> None:
    status, body, _ = ask(server, path=path)
    assert status == 403
    assert TOKEN.encode() not in body


@pytest.mark.parametrize(
    "path",
    ["../guard.py", "..%2fguard.py", "../../../../etc/passwd", "/etc/passwd", "%2e%2e/guard.py", "app.js/../../x", "."],
)
def test_no_path_leads_to_another_file(server: Server, path: str) -> None:
    status, body, _ = ask(server, path=f"/{TOKEN}/{path}")
    assert (status, body) == (404, b"there is no such file here")


def test_a_scenario_opens_no_file(server: Server, tmp_path: Path) -> None:
    (tmp_path / "rates.csv").write_text("0,54\n", encoding="utf-8")
    text = TEXT.replace(
        'rate = "ht20-mcs0-sgi" }', f'trace = {{ kind = "rates", file = "{tmp_path / "rates.csv"}" }} }}'
    )
    assert text != TEXT
    status, body = post(server, {"do": "survey", "of": of(text=text)})
    assert status == 422
    assert b"not among those given" in body


@pytest.mark.parametrize("length", ["-1", "1e3", "99999999999999999999", str(1 << 30), "x"])
def test_a_length_that_cannot_be_is_refused(server: Server, length: str) -> None:
    headers = {"Content-Type": "application/json", guard.TOKEN_HEADER: TOKEN, "Content-Length": length}
    assert ask(server, "POST", f"/{TOKEN}/ask", headers, b"")[0] in (411, 413)


def test_it_listens_on_loopback_alone(server: Server) -> None:
    assert server.server_address[0] == "127.0.0.1"


ENDLESS = {"do": "run", "of": {"text": TEXT, "file": "x.toml", "overrides": [["duration", "100000 s"]]}}


def test_a_run_that_takes_too_long_is_stopped_and_another_begins() -> None:
    engines = Engines(Limits(seconds=1, at_once=1))
    begun = time.monotonic()
    with pytest.raises(Refused, match="more than 1 s"):
        engines.ask(json.dumps(ENDLESS).encode(), lambda: True)
    assert time.monotonic() - begun < 15
    assert engines.ask(b'{"do": "schema"}', lambda: True)[0]
    engines.close()


def test_a_run_that_nobody_waits_for_ends() -> None:
    engines = Engines(Limits(seconds=600, at_once=1))
    until = time.monotonic() + 0.5
    with pytest.raises(Gone):
        engines.ask(json.dumps(ENDLESS).encode(), lambda: time.monotonic() < until)
    assert engines.ask(b'{"do": "schema"}', lambda: True)[0]
    engines.close()


def test_a_connection_that_is_closed_ends_its_run(server: Server) -> None:
    body = json.dumps(ENDLESS).encode()
    port = int(server.server_address[1])
    head = (
        f"POST /{TOKEN}/ask HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
        f"{guard.TOKEN_HEADER}: {TOKEN}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(head.encode() + body)
        time.sleep(0.5)
    # The one place is free again, long before the time of a request is over.
    begun = time.monotonic()
    assert post(server, {"do": "schema"})[0] == 200
    assert time.monotonic() - begun < 15


def test_a_process_that_needs_too_much_memory_is_an_error() -> None:
    engines = Engines(Limits(seconds=60, memory=200 << 20, at_once=1))
    # Every exchange of an hour and a half is kept.
    overrides = [["duration", "5000 s"], ["record.air", "0 s..5000 s"]]
    request = {"do": "run", "of": {"text": TEXT, "file": "x.toml", "overrides": overrides}}
    with pytest.raises(Refused, match="GiB"):
        engines.ask(json.dumps(request).encode(), lambda: True)
    assert engines.ask(b'{"do": "schema"}', lambda: True)[0]
    engines.close()


def test_so_many_requests_wait_and_no_more() -> None:
    engines = Engines(Limits(seconds=600, at_once=1, waiting=1))
    stop = threading.Event()

    def waits() -> None:
        with pytest.raises(Gone):
            engines.ask(json.dumps(ENDLESS).encode(), lambda: not stop.is_set())

    threads = [threading.Thread(target=waits) for _ in range(2)]
    for thread in threads:
        thread.start()
        time.sleep(0.3)
    with pytest.raises(Refused, match="waiting already"):
        engines.ask(b'{"do": "schema"}', lambda: True)
    stop.set()
    for thread in threads:
        thread.join()
    engines.close()


def test_files_are_those_of_the_command_line(tmp_path: Path) -> None:
    own, trace = tmp_path / "own.toml", tmp_path / "rates.csv"
    own.write_text(TEXT, encoding="utf-8")
    trace.write_text("0,54\n", encoding="utf-8")
    shown = named(["cafe", str(own), str(trace)])
    assert [name for name, _ in shown.scenarios] == ["cafe", str(own)]
    assert shown.beside == [(str(trace), "0,54\n"), ("rates.csv", "0,54\n")]
    with pytest.raises(InputError, match="no such file"):
        named(["nosuch"])


def test_a_page_that_is_not_built_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from stillair.__main__ import status  # noqa: PLC0415

    monkeypatch.setattr(servers, "PAGE", tmp_path)
    assert status(["explore"]) == 2
