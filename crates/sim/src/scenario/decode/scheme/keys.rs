//! The keys of queueing schemes, for the reference and the schema.

use super::super::super::contract::{Form, Key, Shape};
use super::super::super::spec::Section as _;
use super::super::super::spec::usb::Usb;
use super::super::qdisc;
use super::custom;

pub(super) const HARDWARE: &[Key] = &[
    Key::open(
        "hw_aggregates",
        Form::Integer(1, 64),
        "2, as ath9k's driver; 1 of a device of VHT or HE, as its rates or its channel's width show, whose radio fills an aggregate when its turn comes",
        "aggregates the driver keeps in the hardware for each access category",
    ),
    Key::or("hw_singles", Form::Integer(1, 512), "8", "the same for frames sent singly"),
];

pub(super) const LEGACY: &[Key] = &[Key::or(
    "qlen",
    Form::Integer(1, 100_000),
    "123",
    "frames in the driver for each access category at which the queue above is stopped (debugfs `qlen_be`)",
)];

/// Where aggregates are made.
pub(super) const RING: &[Key] = &[Key::or(
    "firmware_aggregates",
    Form::Boolean,
    "false",
    "aggregates are built when they are sent, from the frames queued by then, as by the firmware of ath10k or iwlwifi; ath9k's driver builds them before (the default of `hw_aggregates` is then 1)",
)];

pub(super) const QUEUES: &[Key] = &[
    custom::AQM,
    Key::or("target", Form::Period, "20 ms", "CoDel's target"),
    Key::or("interval", Form::Period, "100 ms", "CoDel's interval"),
    Key::or("ecn", Form::Boolean, "true", "CoDel marks packets that allow it"),
    Key::or("slow_target", Form::Period, "50 ms", "CoDel's target for a slow station"),
    Key::or("slow_interval", Form::Period, "300 ms", "CoDel's interval for a slow station"),
    Key::or("slow_ecn", Form::Boolean, "false", "CoDel marks packets of a slow station"),
    Key::or("flows", Form::Integer(1, 65_536), "4096", "flow queues of the device"),
    Key::or("limit", Form::Integer(1, 1_000_000), "8192", "most packets over all queues"),
    Key::open(
        "memory_limit",
        Form::Bytes(4096, 1 << 30),
        "4 MiB; 16 MiB of a device that can VHT or HE, as its rates or its channel's width show",
        "most kernel memory (truesize) over all queues",
    ),
    // deviation: mac80211 takes any number - at a byte a full packet would cost 1,500 rounds; the least is fq_codel's.
    Key::or(
        "fq_quantum",
        Form::Bytes(qdisc::MIN_QUANTUM, 1 << 20),
        "300 B",
        "bytes that a flow may send in a round",
    ),
];

pub(super) const SLOW_BELOW: &str = "expected throughput below which a station is slow";
pub(super) const HYSTERESIS: &str = "shortest time between two changes of a station between slow and fast";

/// Who is slow by the node's kernel, or by the paper in one that is older than the paper's queues.
pub(super) const SLOW: &[Key] = &[
    Key::open(
        "slow_below",
        Form::Rate,
        "by the node's kernel: 6 Mbit/s times the number of stations of the device from 4.12 on, no station is slow in 4.10, 4.11, 6.12 \
         and since 6.16; the paper's 12 Mbit/s before 4.10 and in what is not Linux",
        SLOW_BELOW,
    ),
    Key::open("hysteresis", Form::Time, "`0 s` in kernels since 4.10, else the paper's `2 s`", HYSTERESIS),
];

/// Who is slow by Linux.
pub(super) const MAC80211_SLOW: &[Key] = &[
    Key::open(
        "slow_below",
        Form::Rate,
        "6 Mbit/s times the number of stations of the device (4.12); no station is slow since `linux-6.16`",
        SLOW_BELOW,
    ),
    Key::or("hysteresis", Form::Time, "0 s", HYSTERESIS),
];

/// A station repays a PPDU by one quantum a round, and the scheduler goes through these rounds before the next PPDU. Below 10 us
/// a PPDU of 4 ms needs hundreds of rounds, without finer sharing, because no frame is that short.
pub(super) const QUANTUM: Form = Form::Times {
    least: "10 us",
    most: None,
    why: "a smaller one costs hundreds of rounds for each frame and shares no finer",
};

/// Who reports received frames: a driver, so that a device that can HT alone stands for ath9k and one that can more for ath10k.
// linux: drivers/net/wireless/ath/ath9k/recv.c ath_rx_count_airtime (5.1) - the airtime of received frames is registered.
// linux: drivers/net/wireless/ath/ath10k/txrx.c ath10k_txrx_tx_unref (5.1) - that of sent frames alone; airtime_flags of mac80211
// has both bits set, but nobody tells of the other kind.
// linux: drivers/net/wireless/mediatek/mt76/mac80211.c mt76_airtime_report (5.1), mt7915/mac.c (6.12) - mt76 registers both: say
// `charge_rx = true` for a device of VHT with fixed rates that is one.
pub(super) const CHARGE_RX: &str = "`true`, as ath9k and mt76 report what they received; `false` of a device of VHT, as its rates or its channel's width \
                         show, as ath10k does not, unless `minstrel_ht` chooses them, as for mt76";

pub(super) const PIECES: &[Key] = &[
    Key::or("sparse", Form::Boolean, "true", "newly active (sparse) stations go first for one round"),
    Key::or("charge_tx", Form::Boolean, "true", "stations are charged for frames sent to them"),
    Key::open("charge_rx", Form::Boolean, CHARGE_RX, "stations are charged for frames that they send"),
    Key::or("quantum", QUANTUM, "300 us", "airtime that a station may use in a round"),
];

pub(super) static FIFO: Shape = Shape {
    title: "Scheme fifo",
    about: "pfifo_fast over the driver's own queues, as ath9k has them before 4.10.",
    groups: &[&[Key::tag("kind", "fifo")], LEGACY, RING, HARDWARE],
};

pub(super) static FQ_CODEL: Shape = Shape {
    title: "Scheme fq_codel",
    about: "The fq_codel qdisc over the driver's own queues.",
    groups: &[&[Key::tag("kind", "fq_codel")], LEGACY, RING, HARDWARE],
};

/// Kernels since which ath9k has served stations in turn by other rules.
pub(super) const ROUND_SINCE: [&str; 2] = ["linux-4.10", "linux-4.11"];

pub(super) static FQ_MAC: Shape = Shape {
    title: "Scheme fq_mac",
    about: "Queues in the MAC, stations served in turn: algorithms 1 and 2 of *Ending the Anomaly*.",
    groups: &[
        &[
            Key::tag("kind", "fq_mac"),
            Key::open(
                "since",
                Form::Choice(&ROUND_SINCE),
                "`linux-4.11` in kernels from that on, else `linux-4.10`",
                "kernel of ath9k's round-robin: a station that finds the hardware full loses its turn, or keeps it (4.11 with its airtime scheduler off)",
            ),
            custom::SCHEDULER,
        ],
        QUEUES,
        SLOW,
        HARDWARE,
    ],
};

pub(super) static AIRTIME: Shape = Shape {
    title: "Scheme airtime",
    about: "The same, stations served by airtime: algorithm 3, as ath9k runs it.",
    groups: &[&[Key::tag("kind", "airtime")], PIECES, QUEUES, SLOW, HARDWARE],
};

pub(super) static AIRTIME_AS_PRINTED: Shape = Shape {
    title: "Scheme airtime_as_printed",
    about: "The same by the paper's listing, station by station.",
    groups: &[&[Key::tag("kind", "airtime_as_printed")], PIECES, QUEUES, SLOW, HARDWARE],
};

/// Kernels since which mac80211 has served stations by other rules.
pub(super) const SINCE: [(&str, (u16, u16)); 4] =
    [("linux-5.1", (5, 1)), ("linux-5.14", (5, 14)), ("linux-6.0", (6, 0)), ("linux-6.16", (6, 16))];
pub(super) const SINCE_NAMES: [&str; 4] = [SINCE[0].0, SINCE[1].0, SINCE[2].0, SINCE[3].0];

pub(super) const MAC80211_PIECES: &[Key] = &[
    Key::open(
        "since",
        Form::Choice(&SINCE_NAMES),
        "by the node's kernel; `linux-5.1` before that",
        "kernel whose rules it has: deficit rounds, virtual time, rounds in which what is below the queues counts, or those with the \
         same CoDel for all stations",
    ),
    Key::or(
        "charge_tx",
        Form::Boolean,
        "true",
        "stations are charged for frames sent to them (`airtime_flags` 1)",
    ),
    Key::open(
        "charge_rx",
        Form::Boolean,
        CHARGE_RX,
        "stations are charged for frames that they send (`airtime_flags` 2)",
    ),
    Key::open(
        "drop_batch",
        Form::Integer(1, 1_000_000),
        "1; 32 since `linux-5.14`",
        "most packets dropped at once from the longest queue when a limit is exceeded, half of it at most (5.12)",
    ),
    Key::open(
        "quantum",
        QUANTUM,
        "`256 us`; none under the rules of `linux-5.14`, which have no rounds",
        "airtime that a station of weight 256 may use in a round",
    ),
    Key::or(
        "aql",
        Form::Boolean,
        "true",
        "airtime queue limits (5.5); ath9k never asked for them: a what-if here",
    ),
    Key::or(
        "aql_low",
        Form::Period,
        "5 ms",
        "airtime a station may have pending below the queues, for each access category",
    ),
    Key::or(
        "aql_high",
        Form::Period,
        "12 ms",
        "the same while all stations together have less than `aql_threshold` pending",
    ),
    Key::or(
        "aql_threshold",
        Form::Period,
        "24 ms",
        "pending airtime of all stations below which `aql_high` applies",
    ),
    Key::open(
        "aql_multicast",
        Form::Either(&[Form::Choice(&["threshold", "off"]), Form::Period]),
        "`50 ms` in OpenWrt, else by the kernel: `threshold` before 6.0, `off` since",
        "how AQL treats group-addressed frames: they count towards `aql_threshold` only, do not count, or have their own limit (OpenWrt, \
         and Linux after 7.2)",
    ),
];

pub(super) static MAC80211: Shape = Shape {
    title: "Scheme mac80211",
    about: "The same, stations served by airtime as mac80211 does since 5.1 for drivers that leave it that, as ath9k does: one list, weights, and since 5.5 airtime queue limits.",
    groups: &[&[Key::tag("kind", "mac80211")], MAC80211_PIECES, QUEUES, MAC80211_SLOW, HARDWARE],
};

pub(super) static ATH9K_HTC: Shape = Shape {
    title: "Scheme ath9k_htc",
    about: "pfifo_fast over a device behind USB, as the AR9271 is: its host counts frames, its firmware aggregates them.",
    groups: &[
        &[
            Key::tag("kind", "ath9k_htc"),
            Key::or(
                "limit",
                Form::Integer(1, 100_000),
                "246",
                "frames of all categories, on the host and in the target, with which all queues above are stopped",
            ),
            Key::or(
                "target_buffers",
                Form::Integer(1, 100_000),
                "33",
                "frames that the target holds, those in aggregates included; the others wait on the host",
            ),
            Key::or("max_frames", Form::Integer(1, 64), "17", "frames in an aggregate; 22 on the AR7010"),
            Key::or(
                "hw_aggregates",
                Form::Integer(1, 64),
                "1",
                "aggregates that the firmware keeps in the hardware, per access category",
            ),
            Key::or("hw_singles", Form::Integer(1, 512), "33", "the same for frames sent singly"),
        ],
        Usb::KEYS,
    ],
};
