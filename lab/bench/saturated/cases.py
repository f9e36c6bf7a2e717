"""ns-3's examples: their settings, and the range that ns-3's own test accepts.

Settings and ranges are those of ns-3 3.44: examples/wireless/*.cc, examples/wireless/examples-to-run.py and
src/wifi/examples/wifi-bianchi.cc. UDP payload is 1,472 bytes, except in wifi-he-network.cc. Stations are
within 5 m, and no frame is lost to noise.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Case:
    """One set-up."""

    example: str
    name: str
    rate: str
    """Rate, by Stillair's name."""
    low: float | None = None
    """Range in Mbit/s that ns-3's own test accepts; `None` for an open end."""
    high: float | None = None
    stations: int = 1
    up: bool = False
    ampdu: int = 65_535
    """Largest A-MPDU in ns-3 in bytes; 0 without aggregation."""
    joined: int = 1
    """Packets per A-MSDU."""
    amsdu: int = 0
    """Largest A-MSDU in ns-3 in bytes, without MAC header and FCS."""
    window: int = 64
    txop_us: int | None = None
    """`None` for the standard's default, which is 0 for best effort."""
    video: bool = False
    rts: bool = False
    hidden: bool = False
    band: str = "5"
    payload: int = 1472
    counted: int = 1472
    """Packet size in bytes that the example counts."""
    header: int = 26
    """Size of the MAC header in ns-3. Stillair's payload compensates for a shorter one."""
    aifsn: int = 3
    seconds: float = 4
    """Measured time of several stations in ns-3; less for cases with many frames per second."""
    runs: int = 3
    """Runs of several stations in ns-3; one station is run once."""
    lacks: str = ""
    """Feature that Stillair scenarios lack; such a case is only run in ns-3."""
    ns3: tuple[str, ...] = ()
    """Further ns-3 attributes."""
    alone: tuple[str, ...] = ()
    """Attributes of a further ns-3 run with Stillair's aggregates, which removes a known difference."""

    @property
    def key(self) -> str:
        """Name in tables."""
        return f"{self.example}: {self.name}"


NO_AMSDU_ALONE = (
    "an A-MSDU without an A-MPDU: schemes join packets only in frames that an A-MPDU may hold, which caps them at "
    "4,095 bytes at rates of HT, and none where nothing is aggregated"
)
# ns-3: wifi-bianchi.cc - unlimited retries and queues.
WITHOUT_END = (
    "--ns3::WifiMac::FrameRetryLimit=65535",
    "--ns3::WifiMacQueue::MaxSize=4294967295p",
    "--ns3::WifiMacQueue::MaxDelay=1000s",
)
# After a missing Block Ack, send a Block Ack request (ns-3's default), or retransmit the aggregate.
NO_BAR = ("--ns3::QosTxop::UseExplicitBarAfterMissedBlockAck=false",)
HT20 = "ht20-mcs7-lgi"


def aggregation() -> Iterator[Case]:
    """wifi-aggregation.cc: one station per case, saturated at MCS 7."""
    base = Case("wifi-aggregation", "", HT20)
    yield replace(base, name="A, A-MPDU of 65,535 B", low=59, high=60)
    yield replace(base, name="B, none", ampdu=0, low=30, high=31)
    yield replace(
        base, name="C, A-MSDU of 7,935 B alone", ampdu=0, amsdu=7935, joined=5, low=51, high=52, lacks=NO_AMSDU_ALONE
    )
    yield replace(
        base, name="D, A-MPDU of 32,768 B with A-MSDU of 3,839 B", ampdu=32_768, amsdu=3839, joined=2, low=58, high=59
    )


def txop_aggregation() -> Iterator[Case]:
    """wifi-txop-aggregation.cc: the same with a TXOP limit of 3.52 ms."""
    base = Case("wifi-txop-aggregation", "", HT20, txop_us=3520)
    yield replace(base, name="A, A-MPDU of 65,535 B", low=57.5, high=58.5)
    yield replace(base, name="B, none", ampdu=0, low=38, high=39)
    yield replace(
        base, name="C, A-MSDU of 7,935 B alone", ampdu=0, amsdu=7935, joined=5, low=52, high=53, lacks=NO_AMSDU_ALONE
    )
    yield replace(
        base, name="D, A-MPDU of 32,768 B with A-MSDU of 3,839 B", ampdu=32_768, amsdu=3839, joined=2, low=58, high=59
    )


def edca_txop() -> Iterator[Case]:
    """wifi-80211e-txop.cc: one station per case, which saturates its access point at 54 Mbit/s."""
    base = Case("wifi-80211e-txop", "", "ofdm-54", up=True, ampdu=0)
    yield replace(base, name="BE, no TXOP", txop_us=0, low=28, high=29)
    yield replace(base, name="BE, TXOP of 4,096 us", txop_us=4096, low=36.5, high=37)
    yield replace(base, name="VI, TXOP of 4,096 us", txop_us=4096, video=True, low=36.5, high=37.5)
    yield replace(base, name="VI, no TXOP", txop_us=0, video=True, low=31.5, high=32.5)


def hidden() -> Iterator[Case]:
    """wifi-simple-ht-hidden-stations.cc: two hidden stations that send up to 32 frames at once."""
    both = (*NO_BAR, *WITHOUT_END)
    base = Case(
        "wifi-simple-ht-hidden-stations", "", HT20, stations=2, up=True, hidden=True, ampdu=32 * 1672, alone=both
    )
    yield replace(base, name="without RTS", low=59, high=60)
    yield replace(base, name="with RTS", rts=True, low=57, high=58)


def ht_network() -> Iterator[Case]:
    """wifi-ht-network.cc: one saturated station at every rate."""
    base = Case("wifi-ht-network", "", "")
    for width in (20, 40):
        for guard in ("lgi", "sgi"):
            for mcs in (0, 3, 7):
                low = 5 if (width, guard, mcs) == (20, "lgi", 0) else None
                high = 135 if (width, guard, mcs) == (40, "sgi", 7) else None
                yield replace(
                    base, name=f"{width} MHz MCS {mcs} {guard}", rate=f"ht{width}-mcs{mcs}-{guard}", low=low, high=high
                )
    fast = replace(base, rate="ht40-mcs7-sgi")
    yield replace(fast, name="40 MHz MCS 7 sgi, RTS", rts=True, high=132)
    yield replace(fast, name="40 MHz MCS 7 sgi, 2.4 GHz", band="2_4", high=132)


def vht_network() -> Iterator[Case]:
    """wifi-vht-network.cc: the same for VHT."""
    base = Case("wifi-vht-network", "", "")
    for width in (20, 40, 80, 160):
        for mcs in (0, 4, 8) if width == 20 else (0, 4, 9):
            low = 5 if (width, mcs) == (20, 0) else None
            high = 620 if (width, mcs) == (160, 9) else None
            yield replace(
                base, name=f"{width} MHz MCS {mcs} sgi", rate=f"vht{width}-mcs{mcs}-nss1-sgi", low=low, high=high
            )
    yield replace(base, name="80 MHz MCS 9 lgi", rate="vht80-mcs9-nss1-lgi")
    yield replace(base, name="160 MHz MCS 9 sgi, RTS", rate="vht160-mcs9-nss1-sgi", rts=True, high=557)


def he_network() -> Iterator[Case]:
    """wifi-he-network.cc: the same for HE with 700 bytes of payload; its test allows 10 % either way."""
    base = Case("wifi-he-network", "", "", payload=700, counted=700)
    for width in (20, 40, 80, 160):
        for mcs in (0, 5, 11):
            high = 844 * 1.1 if (width, mcs) == (160, 11) else None
            yield replace(base, name=f"{width} MHz MCS {mcs} gi 0.8", rate=f"he{width}-mcs{mcs}-nss1-gi0.8", high=high)
    yield replace(base, name="20 MHz MCS 0 gi 3.2", rate="he20-mcs0-nss1-gi3.2", low=6 / 1.1)
    yield replace(base, name="80 MHz MCS 11 gi 1.6", rate="he80-mcs11-nss1-gi1.6")
    yield replace(base, name="80 MHz MCS 11 gi 3.2", rate="he80-mcs11-nss1-gi3.2")
    fast = replace(base, rate="he160-mcs11-nss1-gi0.8")
    yield replace(fast, name="160 MHz MCS 11 gi 0.8, RTS", rts=True, high=745 * 1.1)
    yield replace(fast, name="160 MHz MCS 11 gi 0.8, window of 256", window=256, high=1033 * 1.1)


# ns-3: wifi-bianchi.cc - by rate and stations: Bianchi's model with collisions that cost EIFS (lower) or DIFS
# (upper). Its test allows 1.5 % from the nearer one.
BIANCHI = {
    "ofdm-6": {5: (4.6899, 4.7087), 10: (4.3197, 4.3453), 20: (3.9589, 3.9899), 50: (3.4711, 3.5071)},
    "ofdm-54": {5: (29.2861, 29.8324), 10: (27.3763, 28.1519), 20: (25.3325, 26.2925), 50: (22.4162, 23.5618)},
    "he80-mcs0-nss1-gi0.8": {5: (19.6542, 20.0101), 10: (18.1962, 18.6928), 20: (16.7168, 17.3219)},
    "he80-mcs5-nss1-gi0.8": {5: (50.2233, 51.9619), 10: (47.4474, 49.9941), 20: (44.1727, 47.3867)},
    "he80-mcs11-nss1-gi0.8": {5: (58.0092, 60.3411), 10: (55.0896, 58.5527), 20: (51.4672, 55.8834)},
}


def bianchi() -> Iterator[Case]:
    """wifi-bianchi.cc: single frames, all stations send after DIFS.

    802.11a has no QoS there, so its header has 24 bytes.

    ns-3's test only runs the 802.11a rates; the table also has HE rates.
    """
    base = Case("wifi-bianchi", "", "", up=True, ampdu=0, counted=1500, aifsn=2)
    for rate, by_stations in BIANCHI.items():
        old = rate.startswith("ofdm")
        ns3 = WITHOUT_END if old else (*WITHOUT_END, "--ns3::Txop::Aifsns=2")
        for stations, (lower, upper) in by_stations.items():
            yield replace(
                base, name=f"{rate}, {stations} stations", rate=rate, stations=stations, header=24 if old else 26,
                low=lower * 0.985, high=upper * 1.015, ns3=ns3, seconds=4 if old else 1.5, runs=3 if old else 1,
            )  # fmt: skip


def saturation() -> Iterator[Case]:
    """Aggregates of several stations on 80 MHz, for which ns-3 states no range."""
    base = Case("saturation", "", "", up=True, ns3=WITHOUT_END, alone=NO_BAR, seconds=1.5, runs=1)
    for name, rate in (("VHT80 MCS 9 sgi", "vht80-mcs9-nss1-sgi"), ("HE80 MCS 11 gi 0.8", "he80-mcs11-nss1-gi0.8")):
        for stations in (1, 2, 5, 10):
            yield replace(base, name=f"{name}, {stations} stations", rate=rate, stations=stations)


def every() -> list[Case]:
    """All cases."""
    groups = (
        aggregation, txop_aggregation, edca_txop, hidden, ht_network, vht_network, he_network, bianchi, saturation,
    )  # fmt: skip
    return [case for group in groups for case in group()]
