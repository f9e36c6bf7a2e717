import json
from collections.abc import Iterator
from typing import Any

import pytest

from stillair import _native
from stillair_lab.validate.tc import units
from stillair_lab.validate.tc.options import CLASSES, QDISCS, Bits, Nanoseconds
from stillair_lab.validate.tc.tree import TcError, tree

HTB = "tc -n C qdisc add dev cr root handle 1: htb default 10"
CLASS = "tc -n C class add dev cr parent 1: classid 1:10 htb rate 100mbit ceil 100mbit"
LEAF = "tc -n C qdisc add dev cr parent 1:10 handle 10:"


@pytest.mark.parametrize(
    ("word", "bits"),
    [
        ("100mbit", 100_000_000),
        ("100Mbit", 100_000_000),
        ("1.5kbit", 1_496),  # whole bytes a second
        ("1gbit", 10**9),
        ("8", 8),
        ("8bit", 8),
        ("1mibit", 1_048_576),
        ("10mbps", 80_000_000),
        ("1kibps", 8_192),
        ("1e3kbit", 1_000_000),
        (".5mbit", 500_000),
    ],
)
def test_rates(word: str, bits: int) -> None:
    assert units.rate(word) == bits


@pytest.mark.parametrize(
    ("word", "size"),
    [("1600", 1600), ("1600b", 1600), ("2k", 2048), ("2KB", 2048), ("1.5m", 1_572_864), ("8kbit", 1024), ("1g", 2**30)],
)
def test_sizes(word: str, size: int) -> None:
    assert units.size(word) == size


@pytest.mark.parametrize(
    ("word", "ns"), [("5ms", 5_000_000), ("0.4msec", 400_000), ("2s", 2 * 10**9), ("100us", 100_000), ("100", 100_000)]
)
def test_times(word: str, ns: int) -> None:
    assert units.time(word) == ns


def test_netem_counts_in_nanoseconds() -> None:
    assert (units.fine_time("100"), units.fine_time("1.5us"), units.fine_time("7ns")) == (100, 1500, 7)


def test_counts_and_percentages() -> None:
    assert (units.count("100"), units.count("0x10"), units.count("010"), units.count("0")) == (100, 16, 8, 0)
    assert (units.percent("1%"), units.percent("0.25"), units.percent("100%")) == (0.01, 0.0025, 1.0)


@pytest.mark.parametrize(
    ("read", "word"),
    [
        (units.rate, "100mbits"), (units.rate, "mbit"), (units.rate, "-1mbit"), (units.rate, "50%"), (units.rate, ""),
        (units.size, "1tb"), (units.size, "1kib"), (units.time, "5ns"), (units.time, "5m"), (units.fine_time, "1h"),
        (units.count, "1.5"), (units.count, "-1"), (units.count, "1k"), (units.percent, "101%"), (units.percent, "x"),
    ],
)  # fmt: skip
def test_what_is_no_number(read: object, word: str) -> None:
    assert callable(read)
    with pytest.raises(units.UnitError):
        read(word)


def test_a_shaper_with_its_leaf() -> None:
    root = tree([HTB, CLASS, f"{LEAF} pfifo limit 100"])["C", "cr"]
    assert (root.kind, root.options) == ("htb", {})
    assert root.classes["10"].options == {"rate": 100_000_000, "ceil": 100_000_000}
    assert (root.leaf().kind, root.leaf().options) == ("pfifo", {"limit": 100})
    assert root.leaf().leaf() is root.leaf()


def test_a_later_root_takes_the_place_of_an_earlier() -> None:
    trees = tree(["tc -n R qdisc add dev rs root pfifo", "tc -netns R qdisc replace dev rs root codel target 10ms"])
    assert list(trees) == [("R", "rs")]
    assert trees["R", "rs"].options == {"target": 10_000_000}


def test_netem_over_a_child() -> None:
    commands = [
        "tc -n R qdisc add dev rc root handle 1: netem delay 20ms limit 200000",
        "tc -n R qdisc add dev rc parent 1:1 fq",
    ]
    assert tree(commands)["R", "rc"].leaf().kind == "fq"


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ("pfifo_fast", {}),
        ("bfifo limit 64kb", {"limit": 65536}),
        ("codel limit 500 target 5ms interval 100ms noecn",
         {"limit": 500, "target": 5e6, "interval": 1e8, "ecn": False}),
        ("pie limit 1000 target 15ms tupdate 15ms alpha 2 beta 20 bytemode",
         {"limit": 1000, "target": 15e6, "tupdate": 15e6, "alpha": 2, "beta": 20, "bytemode": True}),
        ("sfq perturb 10 quantum 1514 depth 127 limit 127",
         {"perturb": 1e10, "quantum": 1514, "depth": 127, "limit": 127}),
        ("fq limit 10000 flow_limit 100 nopacing maxrate 10mbit",
         {"limit": 10000, "flow_limit": 100, "pacing": False, "maxrate": 1e7}),
        ("fq_codel flows 1024 quantum 300 memory_limit 32Mb drop_batch 64 ecn",
         {"flows": 1024, "quantum": 300, "memory_limit": 2**25, "drop_batch": 64, "ecn": True}),
        ("cake bandwidth 20mbit diffserv4 lan ack-filter nat dual-srchost",
         {"bandwidth": 2e7, "tins": "diffserv4", "rtt": 1e6, "ack_filter": "ack-filter",
          "isolation": "dual-srchost"}),
        ("cake unlimited besteffort nowash egress flowblind no-split-gso oceanic raw",
         {"tins": "besteffort", "wash": False, "ingress": False, "isolation": "flowblind", "split_gso": False,
          "rtt": 3e8, "atm": "noatm"}),
        # Framing adds up, word by word; the last word on cells holds.
        ("cake bandwidth 1mbit docsis ether-vlan overhead -4", {"bandwidth": 1e6, "overhead": -4, "mpu": 64,
                                                                "atm": "noatm"}),
        ("cake ethernet ether-vlan ether-vlan", {"overhead": 46, "mpu": 84}),
        ("cake pppoe-ptm", {"overhead": 30, "atm": "ptm"}),
        ("cake ether-vlan conservative", {"overhead": 48, "atm": "atm"}),
        ("tbf rate 10mbit burst 32kb limit 64kb peakrate 20mbit minburst 1540",
         {"rate": 1e7, "burst": 32768, "limit": 65536, "peakrate": 2e7, "mtu": 1540}),
        ("netem delay 20ms 1ms loss random 0.1% limit 5000",
         {"delay": 2e7, "jitter": 1e6, "loss": 0.001, "limit": 5000}),
        ("netem delay 20ms 1ms 25% reorder 25% 50% gap 5 duplicate 1%",
         {"delay": 2e7, "jitter": 1e6, "delay_correlation": 0.25, "reorder": 0.25, "reorder_correlation": 0.5, "gap": 5,
          "duplicate": 0.01}),
        ("netem seed 7 loss 1%", {"loss": 0.01}),
        ("netem rate 10mbit loss 0.3% 25%", {"rate": 1e7, "loss": 0.003, "loss_correlation": 0.25}),
        ("tbf rate 10mbit burst 32kbit latency 50ms", {"rate": 1e7, "burst": 4096, "latency": 5e7}),
    ],
)  # fmt: skip
def test_the_options_of_each_kind(words: str, options: dict[str, object]) -> None:
    root = tree([f"tc -n C qdisc add dev cr root {words}"])["C", "cr"]
    assert (root.kind, root.options) == (words.partition(" ")[0], options)


def described(schema: Any) -> Iterator[tuple[str, set[str]]]:  # noqa: ANN401 - JSON
    """Each kind of a table in the schema, with the keys of that table."""
    if isinstance(schema, dict):
        keys = schema.get("properties", {})
        if isinstance(keys, dict) and isinstance(keys.get("kind"), dict) and "const" in keys["kind"]:
            yield keys["kind"]["const"], set(keys)
        schema = list(schema.values())
    for item in schema if isinstance(schema, list) else ():
        yield from described(item)


@pytest.mark.parametrize("kind", QDISCS)
def test_every_word_that_is_understood_is_a_key_of_a_scenario(kind: str) -> None:
    known = [keys for found, keys in described(json.loads(_native.schema())) if found == kind]
    assert known
    options = [QDISCS[kind], *([CLASSES[kind]] if kind in CLASSES else [])]
    keys = {key for of in options for key, _ in (*of.takes.values(), *of.flags.values())}
    keys |= {key for of in options for more in of.also.values() for key, _ in more}
    # Of an HTB it names the class, and there is one.
    assert keys - set.union(*known) <= {"default"}


def test_rates_and_times_keep_what_they_are() -> None:
    options = tree(["tc -n C qdisc add dev cr root tbf rate 10mbit burst 4kb latency 50ms"])["C", "cr"].options
    assert [type(options[name]) for name in ("rate", "burst", "latency")] == [Bits, int, Nanoseconds]


def test_a_name_space_may_be_entered_by_ip() -> None:
    entered = HTB.replace("tc -n C", "ip netns exec C tc")
    assert entered != HTB
    assert tree([entered, CLASS]) == tree([HTB, CLASS])


def test_a_class_may_rank_and_burst() -> None:
    ranked = CLASS.replace("1:10 htb", "1:1A htb prio 3 quantum 6000 burst 15k cburst 1600")
    root = tree([HTB.replace("10", "0x1a"), ranked])["C", "cr"]
    assert root.classes["1a"].options == {"rate": 1e8, "ceil": 1e8, "burst": 15360, "cburst": 1600}
    assert root.leaf() is root


@pytest.mark.parametrize(
    ("commands", "says"),
    [
        (["ip link add"], "expected tc -n NODE qdisc|class add dev DEVICE"),
        (["tc qdisc add dev cr root pfifo"], "expected tc -n NODE"),
        (["tc -n C qdisc del dev cr root"], "expected tc -n NODE"),
        (["tc -n C qdisc add dev cr root 'pfifo"], "a quotation mark is left open"),
        (["tc -n C qdisc add root pfifo"], "expected a device, dev DEVICE"),
        (["tc -n C qdisc add dev cr pfifo"], "expected either root or parent"),
        (["tc -n C qdisc add dev cr root parent 1: pfifo"], "expected either root or parent"),
        (["tc -n C qdisc add dev cr root handle"], "expected a value after handle"),
        (["tc -n C qdisc add dev cr root"], 'found the kind "", expected one of pfifo_fast'),
        (["tc -n C qdisc add dev cr root red limit 9"], 'found the kind "red"'),
        (["tc -n C qdisc add dev cr root pfifo_fast limit 9"], 'found the option "limit", which is not understood'),
        (["tc -n C qdisc add dev cr root codel target"], "expected a value after target"),
        (["tc -n C qdisc add dev cr root codel target 5 min"], 'found the option "min"'),
        (["tc -n C qdisc add dev cr root codel target five"], 'found "five" after target, expected a time such as 5ms'),
        (["tc -n C qdisc add dev cr root netem loss gemodel 1%"], 'found "gemodel" after loss, expected a percentage'),
        (["tc -n C qdisc add dev cr root netem loss 1% 25% 3%"], 'found the option "3%"'),
        (["tc -n C qdisc add dev cr root netem delay 5ms 1parsec"], 'found "1parsec" after delay'),
        (["tc -n C qdisc add dev cr root netem delay 5ms ''"], 'found the option ""'),
        (["tc -n C qdisc add dev cr root netem delay 5ms 1ms distribution normal"],
         'found the option "distribution", which is not understood'),
        (["tc -n C qdisc add dev cr root codel ce_threshold 2ms"],
         'found the option "ce_threshold", which is not understood'),
        (["tc -n C qdisc add dev cr root fq_codel limit 100 ce_threshold 1ms"],
         'found the option "ce_threshold", which is not understood'),
        ([LEAF + " pfifo"], "expected a parent that was added before, found 1:10"),
        ([HTB, LEAF + " pfifo"], "expected a class that was added before, found 1:10"),
        ([CLASS], "expected a parent that is an htb added before"),
        ([HTB, CLASS.replace("rate 100mbit", "")], "expected a rate"),
        ([HTB, CLASS.replace("classid 1:10", "")], "expected a class, classid MAJOR:MINOR"),
        ([HTB, CLASS.replace("ceil", "rate").replace("htb", "hfsc")], 'found the kind "hfsc", expected one of htb'),
        ([HTB], "expected one class, and default to name it"),
        ([HTB.replace(" default 10", ""), CLASS], "expected one class, and default to name it"),
        ([HTB, CLASS, CLASS.replace("1:10", "1:20")], "expected one class, and default to name it"),
        ([HTB.replace("htb default 10", "pfifo"), "tc -n C qdisc add dev cr parent 1: fq"], "pfifo has no children"),
    ],
)  # fmt: skip
def test_a_command_that_is_not_understood_is_named(commands: list[str], says: str) -> None:
    with pytest.raises(TcError) as raised:
        tree(commands)
    assert str(raised.value).startswith(f'"{commands[-1]}": ')
    assert says in str(raised.value)
