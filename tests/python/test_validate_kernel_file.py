import json
from pathlib import Path
from typing import Any

import pytest

from stillair import InputError
from stillair.kernels import profiles
from stillair_lab.validate import json_file, kernel_file, scenario
from stillair_lab.validate.quantities import QUANTITIES, of_kernel

FILES = json_file.paths(kernel_file.bundled())


def test_the_package_has_measurements_of_every_kind() -> None:
    names = [path.name for path in FILES]
    assert len(names) == 96
    assert {name.partition("_")[0] for name in names} == {"L100M", "L10M", "LR1000M", "R100M", "R10M", "cc", "qdisc"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_file_is_read_whole(path: Path) -> None:
    file = kernel_file.read(path)
    assert file.config.idle == ()
    assert (file.config.kernel, file.config.hz) == ((6, 1), 250)
    measured = of_kernel(file, scenario.disciplines(file))
    assert set(measured) | {"sawtooth_period_s", "sawtooth_depth"} == set(QUANTITIES)
    assert all(value >= 0 for value in measured.values())


def test_settings_are_those_of_the_file() -> None:
    file = kernel_file.read(kernel_file.bundled() / "cc_cubic_100mbit_rtt80_pfifo-limit-350.json")
    config = file.config
    assert (config.cc, config.flows, config.seconds, config.sample_ms) == ("cubic", 1, 30, 100)
    assert (config.gso, config.small_queues, config.tsq_shift, config.stagger_ms) == (False, True, 0, 0)
    # Without the quotation marks that a shell had needed.
    assert config.sysctl["net.ipv4.tcp_wmem"] == "4096 16384 67108864"


SMALL: dict[str, Any] = {
    "config": {"cc": "reno", "flows": 1, "seconds": 4, "sample_ms": 50, "tc": ["tc -n R qdisc add dev rs root pfifo"]}
}


def written(tmp_path: Path, change: dict[str, Any], config: dict[str, Any] | None = None) -> Path:
    path = tmp_path / "small.json"
    path.write_text(json.dumps(SMALL | change | {"config": SMALL["config"] | (config or {})}), encoding="utf-8")
    return path


def test_what_is_missing_or_empty_is_not_measured(tmp_path: Path) -> None:
    empty = {
        "summary": {"from_2s": {"ping_ms": {}, "jain": None}},
        "series": {},
        "retransmissions": [],
        "qdisc_stats": {},
    }
    for change in ({}, {"summary": {}}, {"series": None}, empty):
        file = kernel_file.read(written(tmp_path, change))
        assert of_kernel(file, scenario.disciplines(file)) == {}


def test_defaults_are_the_kernels(tmp_path: Path) -> None:
    config = kernel_file.read(written(tmp_path, {}, {"notes": "at night", "mtu": None})).config
    assert (config.gso, config.small_queues, config.ping, config.kernel) == (True, True, True, (6, 1))
    assert (config.idle, config.hz) == (("notes",), None)
    assert kernel_file.read(written(tmp_path, {"kernel": "Linux 5.10.3 (someone's, HZ=1000)"})).config.kernel == (5, 10)


@pytest.mark.parametrize(
    ("version", "profile", "exact"),
    [((6, 1), "linux-6.1", True), ((6, 5), "linux-6.1", False), ((4, 13), "linux-4.6", False),
     ((6, 12), "linux-6.12", True), ((7, 2), "linux-6.18", False), ((3, 13), "linux-3.13", True)],
)  # fmt: skip
def test_the_nearest_older_profile_stands_for_a_kernel(version: tuple[int, int], profile: str, exact: bool) -> None:
    assert (profiles.profile(version), profiles.is_exact(version)) == (profile, exact)


def test_a_kernel_older_than_all_profiles() -> None:
    with pytest.raises(InputError, match=r"found Linux 2.6, expected linux-3.13 or newer"):
        profiles.profile((2, 6))


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ({"cc": None}, "config.cc: found nothing, expected the name of a congestion control"),
        ({"cc": "a b"}, 'config.cc: found "a b"'),
        ({"flows": 0}, "config.flows: found 0, expected a whole number from 1"),
        ({"flows": 2.5}, "config.flows: found 2.5"),
        ({"flows": True}, "config.flows: found true"),
        ({"seconds": "30"}, 'config.seconds: found "30", expected a number of seconds above zero'),
        ({"seconds": 1}, "config.seconds: found 1, expected 2.1 or more: quantities count from 2 s on"),
        ({"seconds": 2.4, "sample_ms": 250}, "config.seconds: found 2.4, expected 2.5 or more"),
        ({"sample_ms": 0}, "config.sample_ms: found 0, expected milliseconds above zero"),
        ({"tc": []}, "config.tc: found [], expected a list of tc commands"),
        ({"tc": "tc -n C"}, 'config.tc: found "tc -n C"'),
        ({"gso": True}, 'config.gso: found true, expected "on" or "off"'),
        ({"notsq": 2}, "config.notsq: found 2, expected 0 or 1"),
        ({"tsq_shift": 99}, "config.tsq_shift: found 99, expected a whole number from 0 to 6"),
        ({"tsq_shift": -1}, "config.tsq_shift: found -1"),
        ({"mtu": 9000}, "config.mtu: found 9000, expected a setting that a scenario has"),
        ({"stagger_ms": -1}, "config.stagger_ms: found -1, expected milliseconds"),
        ({"sysctl": ["a"]}, 'config.sysctl: found ["a"], expected an object'),
        ({"sysctl": {"net.x": None}}, "config.sysctl.net.x: found nothing, expected a whole number or text"),
        ({"tc": ["tc -n R qdisc add dev eth0 root pfifo"]}, "config.tc: found device eth0 of R, expected one of C cr"),
    ],
)
def test_a_wrong_setting_is_named_with_its_file(tmp_path: Path, config: dict[str, Any], says: str) -> None:
    path = written(tmp_path, {}, config)
    with pytest.raises(InputError) as raised:
        scenario.disciplines(kernel_file.read(path))
    assert str(raised.value).startswith(f"{path}: {says}")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"kernel": "NetBSD"}, 'kernel: found "NetBSD", expected a version'),
        ({"kernel": "Linux 6.1 (HZ=5)"}, 'kernel: found "HZ=5", expected HZ from 100 to 1000'),
        (
            {"summary": {"from_2s": {"jain": float("inf")}}},
            "summary.from_2s.jain: found Infinity, expected a number of",
        ),
        ({"summary": {"from_2s": {"jain": float("nan")}}}, "summary.from_2s.jain: found NaN, expected a number of"),
        ({"retransmissions": [-1]}, "retransmissions[0]: found -1, expected a number of zero or more"),
        ({"retransmissions": [10**400]}, "retransmissions[0]: found 1000"),
        ({"summary": {"from_2s": {"goodput_mbps": "9"}}}, 'summary.from_2s.goodput_mbps: found "9", expected a number'),
        ({"summary": {"from_2s": {"ping_ms": 7}}}, "summary.from_2s.ping_ms: found 7, expected an object"),
        ({"summary": []}, "summary: found [], expected an object"),
        ({"retransmissions": 3}, "retransmissions: found 3, expected a list of numbers"),
        ({"retransmissions": [3, None]}, "retransmissions[1]: found nothing, expected a number"),
        ({"series": {"cwnd": [True]}}, "series.cwnd[0]: found true"),
        ({"qdisc_stats": {"rs": 1}}, "qdisc_stats.rs: found 1, expected a list of objects"),
        ({"qdisc_stats": {"rs": [{"dropped": "2"}]}}, 'qdisc_stats.rs[0].dropped: found "2", expected a number'),
    ],
)
def test_a_wrong_measurement_is_named_with_its_file(tmp_path: Path, change: dict[str, Any], says: str) -> None:
    path = written(tmp_path, change)
    with pytest.raises(InputError) as raised:
        of_kernel(file := kernel_file.read(path), scenario.disciplines(file))
    assert str(raised.value).startswith(f"{path}: {says}")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", ":1: found text that is not JSON"),
        ("[]", ": the file: found [], expected an object with config and summary"),
        ("{}", ": config: found nothing, expected an object with the settings"),
        ('{"config": 3}', ": config: found 3"),
        ("[" * 100_000, ": found objects nested too deep"),
    ],
)
def test_text_that_is_no_such_file(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as raised:
        kernel_file.read(path)
    assert str(raised.value).startswith(f"{path}{says}")


def test_a_folder_without_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no file whose name ends in"):
        json_file.paths(tmp_path)
    with pytest.raises(InputError, match="no such folder"):
        json_file.paths(tmp_path / "none")
