"""Tables as wide as the terminal, colours where they are wanted, and progress."""

import io

import pytest

from stillair.cli.common.progress import Watched, _lines
from stillair.text import terminal
from stillair.text.nearest import hint, nearest
from stillair.text.table import table

HEADER = ["station", "goodput Mbit/s", "airtime %", "ping p50 ms"]
ROWS = [["fast1", "39.34", "32.7", "17.5"], ["slow", "2.12", "34.8", "16.7"]]

WIDE = """\
station  goodput Mbit/s  airtime %  ping p50 ms
fast1             39.34       32.7         17.5
slow               2.12       34.8         16.7"""

BROKEN = """\
                           ping
         goodput  airtime   p50
station   Mbit/s        %    ms
fast1      39.34     32.7  17.5
slow        2.12     34.8  16.7"""

PARTS = """\
         goodput  airtime
station   Mbit/s        %
fast1      39.34     32.7
slow        2.12     34.8

         ping
          p50
station    ms
fast1    17.5
slow     16.7"""


@pytest.mark.parametrize(
    ("width", "text"), [(None, WIDE), (47, WIDE), (46, BROKEN), (31, BROKEN), (30, PARTS), (25, PARTS)]
)
def test_a_table_fits(width: int | None, text: str) -> None:
    assert table(HEADER, ROWS, width=width) == text
    if width is not None:
        assert max(map(len, text.splitlines())) <= width


def test_a_column_stands_somewhere_however_narrow_it_is() -> None:
    assert "39.34" in table(HEADER, ROWS, width=3)


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "settings", "is_painted"),
    [
        (Screen(), {}, True),
        (Screen(), {"NO_COLOR": ""}, True),
        (Screen(), {"NO_COLOR": "1"}, False),
        (Screen(), {"TERM": "dumb"}, False),
        (io.StringIO(), {}, False),
    ],
)
def test_colours(
    monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, settings: dict[str, str], is_painted: bool
) -> None:
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    assert terminal.painted("a", terminal.BOLD, stream) == ("\x1b[1ma\x1b[0m" if is_painted else "a")


def test_a_heading_is_painted_and_as_wide_as_before() -> None:
    painted = table(HEADER, ROWS, paint=lambda line: f"<{line}>")
    assert painted == WIDE.replace(WIDE.splitlines()[0], f"<{WIDE.splitlines()[0]}>")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, with é and ±", "plain, with é and ±"),
        ("\x1b[31mred\x07", "?[31mred?"),
        ("\x9b2J", "?2J"),
        ("a\u202eb", "a?b"),
        ("two\nlines", "two\nlines"),
        ("back\r", "back?"),
    ],
)
def test_no_letter_commands_the_terminal(text: str, shown: str) -> None:
    assert terminal.harmless(text) == shown


def test_near_names() -> None:
    names = ["anomaly-tcp", "anomaly-udp", "hidden", "bench/rrul"]
    assert nearest("anomaly-tpc", names)[0] == "anomaly-tcp"
    assert nearest("anom", names) == ["anomaly-tcp", "anomaly-udp"]
    assert nearest("nothing-like-it", names) == []
    assert hint("hiden", names) == '; did you mean "hidden"?'
    assert hint("xyz", names) == ""


def test_without_a_terminal_long_runs_say_where_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    now = 0.0
    one: Watched = _lines(1, lambda: now)
    many: Watched = _lines(8, lambda: now)
    assert one.passed is not None
    assert many.passed is not None
    for now in (1.0, 21.0, 22.0, 50.0):
        one.passed(now / 50)
        many.passed(now / 10)
    assert capsys.readouterr().err.splitlines() == [
        "stillair: 42 % of the run",
        "stillair: 2 of 8 runs",
        "stillair: 5 of 8 runs",
    ]
