"""Scenarios by name, and what the command line says when a name is none."""

import json
from pathlib import Path

import pytest

from stillair.__main__ import status
from stillair.runs import bundled

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"
BLINK = ["--set", "duration=20 ms", "--set", "warm_up=0 s"]


def test_every_scenario_of_the_repository_has_its_name() -> None:
    files = {path.relative_to(SCENARIOS).with_suffix("").as_posix() for path in SCENARIOS.rglob("*.toml")}
    assert set(bundled.names()) == files
    assert all(one.about and not one.about.endswith(".") for one in bundled.listed())


def test_the_list_names_each_once(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert status(["scenarios"]) == 0
    lines = capsys.readouterr().out.splitlines()
    listed = [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "]
    assert sorted(listed) == sorted(bundled.names())
    assert max(map(len, lines)) <= 80
    assert status(["scenarios", "--json"]) == 0
    found = {one["name"]: one for one in json.loads(capsys.readouterr().out)}
    assert found["anomaly-tcp"]["group"] == "paper ending-the-anomaly"
    assert found["bench/rrul"]["group"] == "bench"
    assert Path(found["hidden"]["file"]).is_file()


@pytest.mark.parametrize("command", ["run", "ss", "tc", "rc-stats"])
def test_a_name_stands_for_its_file(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert status([command, "anomaly-udp", *BLINK]) == 0
    by_name = capsys.readouterr().out
    assert status([command, str(SCENARIOS / "anomaly-udp.toml"), *BLINK]) == 0
    assert capsys.readouterr().out == by_name


def test_a_file_of_that_name_is_taken_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mesh").mkdir()
    (tmp_path / "hidden").write_text("name = 1\n")
    assert status(["run", "mesh", *BLINK]) == 0
    assert capsys.readouterr().out.startswith("mesh: run 0")
    assert status(["run", "hidden"]) == 2
    assert "hidden:1: name: found 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run", "anomaly-tpc"], 'did you mean "anomaly-tcp"'),
        (["run", "bench/rule"], 'did you mean "bench/rrul"'),
        (["run", "../scenarios/mesh"], "no such file"),
        (["run", ""], "is a folder"),
        (["rum"], "No such command 'rum'. Did you mean 'run'? Try 'stillair --help'"),
        (
            ["run", "mesh", "--sed", "1"],
            "No such option '--sed'. Did you mean '--seed' or '--set'? Try 'stillair run --help'",
        ),
        (["agree", "x"], "No such command 'agree'. It is now 'stillair crosscheck'"),
        (["answers"], "No such command 'answers'. It is now 'stillair faq'"),
        (["rc", "snr"], "No such command 'rc'. It is now 'stillair rc-stats'"),
        (["exec", "sta"], "No such command 'exec'. It is now 'stillair live exec'"),
        (["set", "a=1"], "No such command 'set'. It is now 'stillair live set'"),
        (["ps", "--json"], "No such command 'ps'. It is now 'stillair live ps'"),
        (["live"], "Missing argument 'FILE'. Try 'stillair live --help'"),
        (["live", "ps", "--xyzzy"], "No such option '--xyzzy'. Try 'stillair live ps --help'"),
        (["live", "anomaly-tpc", "--seed", "1"], 'did you mean "anomaly-tcp"'),
        (["run", "mesh", "--xyzzy"], "No such option '--xyzzy'. Try 'stillair run --help'"),
        (["paper", "ending-the-anomly"], 'did you mean "ending-the-anomaly"?'),
        (["paper", "ending-the-anomaly/tabel1"], 'did you mean "ending-the-anomaly/table1"'),
    ],
)
def test_a_name_that_is_none(
    arguments: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert status(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert says in captured.err
    assert captured.err.count("\n") == 1


def test_a_name_in_a_scenario_does_not_command_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        (SCENARIOS / "anomaly-udp.toml").read_text().replace('name = "anomaly-udp"', 'name = "\\u001b]0;owned\\u0007"')
    )
    file = tmp_path / "evil\x1b[31m.toml"
    file.write_text(text)
    for command in (["run"], ["run", "--set", "flow=1"], ["sweep"], ["check"]):
        status([command[0], str(file), *command[1:], *BLINK])
        captured = capsys.readouterr()
        assert "\x1b" not in captured.out + captured.err
        assert "\x07" not in captured.out + captured.err


def test_shells_are_told_the_names(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("_STILLAIR_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "stillair run anomaly-t")
    monkeypatch.setenv("COMP_CWORD", "2")
    with pytest.raises(SystemExit):
        status(["run", "anomaly-t"])
    assert capsys.readouterr().out.split() == [f"plain,anomaly-{name}" for name in ("tcp", "tcp-both", "thirty")]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("stillair live ", {"exec", "set", "ps", "home"}),
        ("stillair live p", {"ps", "phone-power-save"}),
        ("stillair live exec --r", {"--run"}),
        ("stillair live home --snap", {"--snaplen"}),
    ],
)
def test_shells_complete_live_and_its_subcommands(
    words: str, found: set[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_STILLAIR_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))
    with pytest.raises(SystemExit):
        status(words.split()[1:])
    assert {f"plain,{name}" for name in found} <= set(capsys.readouterr().out.split())


def test_several_mistakes_are_told_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (SCENARIOS / "anomaly-udp.toml").read_text()
    for kind, sender in (("tpc", "server"), ("tcp", "servr")):
        text += f'\n[[flow]]\nkind = "{kind}"\nfrom = "{sender}"\nto = "slow"\n'
    (tmp_path / "f.toml").write_text(text)
    assert status(["run", str(tmp_path / "f.toml")]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition("found")[2].split(",")[0].strip() for line in lines] == ['"tpc"', '"servr"']
    assert all(line.startswith("stillair: ") for line in lines)
