//! Queueing schemes of Wi-Fi devices and their options.

use stillair_model::types::{Duration, Rate};
use stillair_model::wifi::config::{
    AirtimeParams, AirtimeReport, AqlParams, FirmwareParams, GroupsCount, HardwareDepth, HtcParams,
    LegacyParams, MacFqParams, WhenFull,
};
use stillair_scenario_derive::Section;

use super::super::description::{self, DefaultValue, TableSchema, ValueType};
use super::super::document::Value;
use super::super::error::{Diagnostic, Diagnostics};
use super::super::reader::Field;
use super::super::units;
use super::domain::{Bytes, Choice, Flag, Int, Period, Time, as_written, named, quantity};
use super::usb::Usb;
use super::{Domain, Key, Section as _, custom, key};

/// Depth of the hardware queues, and place where aggregates are built.
#[derive(Section, Clone, Debug, Default)]
#[section(params = HardwareDepth, base = HardwareDepth::default())]
pub struct Hardware {
    /// aggregates are built when they are sent, from the frames queued by then, as by the firmware of ath10k
    /// or iwlwifi; ath9k's driver builds them before (the default of `hw_aggregates` is then 1)
    #[key(to = open)]
    pub firmware_aggregates: Key<Flag>,
    /// aggregates the driver keeps in the hardware for each access category
    #[key(to = aggregates, or = "2, as ath9k's driver; 1 of a device of VHT or HE, as its rates or its channel's width show, whose radio fills \
        an aggregate when its turn comes")]
    pub hw_aggregates: Key<Int<1, 64>>,
    /// the same for frames sent singly
    #[key(to = singles)]
    pub hw_singles: Key<Int<1, 512>>,
}

/// Options of a driver with its own queues.
#[derive(Section, Clone, Debug, Default)]
#[section(params = LegacyParams, base = LegacyParams::default())]
pub struct Legacy {
    /// frames in the driver for each access category at which the queue above is stopped (debugfs `qlen_be`)
    #[key(to = qlen)]
    pub qlen: Key<Int<1, 100_000>>,
}

/// Options of ath9k_htc.
#[derive(Section, Clone, Debug, Default)]
#[section(params = HtcParams, base = HtcParams::default())]
pub struct Htc {
    /// frames of all categories, on the host and in the target, with which all queues above are stopped
    #[key(to = limit)]
    pub limit: Key<Int<1, 100_000>>,
    /// frames that the target holds, those in aggregates included; the others wait on the host
    #[key(to = target_buffers)]
    pub target_buffers: Key<Int<1, 100_000>>,
    /// frames in an aggregate; 22 on the AR7010
    #[key(to = max_frames)]
    pub max_frames: Key<Int<1, 64>>,
}

/// Options of MAC queues.
#[derive(Section, Clone, Debug, Default)]
#[section(params = MacFqParams, base = MacFqParams::default())]
pub struct Queues {
    /// CoDel's target
    #[key(to = codel.target, hidden)]
    pub target: Key<Period>,
    /// CoDel's interval
    #[key(to = codel.interval, hidden)]
    pub interval: Key<Period>,
    /// CoDel marks packets that allow it
    #[key(to = codel.ecn, hidden)]
    pub ecn: Key<Flag>,
    /// CoDel's target for a slow station
    #[key(to = codel_slow.target, hidden)]
    pub slow_target: Key<Period>,
    /// CoDel's interval for a slow station
    #[key(to = codel_slow.interval, hidden)]
    pub slow_interval: Key<Period>,
    /// CoDel marks packets of a slow station
    #[key(to = codel_slow.ecn, hidden)]
    pub slow_ecn: Key<Flag>,
    /// flow queues of the device
    #[key(to = flows)]
    pub flows: Key<Int<1, 65_536>>,
    /// most packets over all queues
    #[key(to = limit)]
    pub limit: Key<Int<1, 1_000_000>>,
    /// most kernel memory (truesize) over all queues
    #[key(to = memory_limit, or = "4 MiB; 16 MiB of a device that can VHT or HE, as its rates or its channel's width show")]
    pub memory_limit: Key<Bytes<4096, { 1 << 30 }>>,
    /// bytes that a flow may send in a round
    // deviation: mac80211 takes any number - at a byte a full packet would cost 1,500 rounds; the least is
    // fq_codel's.
    #[key(to = quantum)]
    pub fq_quantum: Key<Bytes<256, { 1 << 20 }>>,
}

/// A rate.
pub struct Threshold;
quantity!(Threshold: Rate = ValueType::Rate, "_bps", units::rate_text;);

/// The stations that count as slow.
#[derive(Section, Clone, Debug, Default)]
#[section(params = MacFqParams)]
pub struct Slow {
    /// expected throughput below which a station is slow
    #[key(
        or = "by the node's kernel: 6 Mbit/s times the number of stations of the device from 4.12 on, no station is slow in 4.10, 4.11, 6.12 \
        and since 6.16; the paper's 12 Mbit/s before 4.10 and in what is not Linux"
    )]
    pub slow_below: Key<Threshold>,
    /// shortest time between two changes of a station between slow and fast
    #[key(to = hysteresis, or = "`0 s` in kernels since 4.10, else the paper's `2 s`")]
    pub hysteresis: Key<Time>,
}

/// Airtime quantum. A station repays a PPDU by one quantum per round, and the scheduler runs these rounds
/// before the next PPDU. Below 10 us a PPDU of 4 ms requires hundreds of rounds, without finer sharing,
/// because no frame is that short.
pub struct Quantum;
quantity!(Quantum: Duration
    = ValueType::Times { least: "10 us", most: None, why: "a smaller one costs hundreds of rounds for each frame and shares no finer" },
    "_ns", units::duration_text;);

/// Options of the airtime scheduler.
#[derive(Section, Clone, Debug, Default)]
#[section(params = AirtimeParams, base = AirtimeParams::default())]
pub struct Airtime {
    /// newly active (sparse) stations go first for one round
    #[key(to = sparse)]
    pub sparse: Key<Flag>,
    /// stations are charged for frames sent to them
    #[key(to = charge_tx)]
    pub charge_tx: Key<Flag>,
    /// stations are charged for frames that they send
    // A driver reports received frames, so a device that can HT alone stands for ath9k and one that can more
    // for ath10k.
    // linux: drivers/net/wireless/ath/ath9k/recv.c ath_rx_count_airtime (5.1) - the airtime of received
    // frames is registered.
    // linux: drivers/net/wireless/ath/ath10k/txrx.c ath10k_txrx_tx_unref (5.1) - that of sent frames alone;
    // airtime_flags of mac80211 has both bits set, but nobody tells of the other kind.
    // linux: drivers/net/wireless/mediatek/mt76/mac80211.c mt76_airtime_report (5.1), mt7915/mac.c (6.12) -
    // mt76 registers both: say `charge_rx = true` for a device of VHT with fixed rates that is one.
    #[key(to = charge_rx, or = "`true`, as ath9k and mt76 report what they received; `false` of a device of VHT, as its rates or its channel's \
        width show, as ath10k does not, unless `minstrel_ht` chooses them, as for mt76")]
    pub charge_rx: Key<Flag>,
    /// airtime that a station may use in a round
    #[key(to = quantum)]
    pub quantum: Key<Quantum>,
}

/// Options of round-robin.
#[derive(Section, Clone, Debug, Default)]
pub struct Turns {
    /// kernel of ath9k's round-robin: a station that finds the hardware full loses its turn, or keeps it
    /// (4.11 with its airtime scheduler off)
    #[key(or = "`linux-4.11` in kernels from that on, else `linux-4.10`")]
    pub kernel: Key<Choice<WhenFull>>,
}

named!(WhenFull { LosesTurn = "linux-4.10", KeepsTurn = "linux-4.11" });

/// Kernel release that changed mac80211's scheduling rules.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Since(pub u16, pub u16);

impl Since {
    /// First release with an airtime scheduler.
    pub const ROUNDS: Self = Self(5, 1);
    /// Virtual time.
    pub const VIRTUAL_TIME: Self = Self(5, 14);
    /// Rounds again, including the airtime pending below the queues.
    pub const PENDING: Self = Self(6, 0);
    /// No station is slow.
    pub const NOBODY_SLOW: Self = Self(6, 16);

    /// Returns the version of the kernel.
    pub(in super::super) const fn version(self) -> Option<(u16, u16)> {
        Some((self.0, self.1))
    }
}

named!(Since {
    ROUNDS = "linux-5.1",
    VIRTUAL_TIME = "linux-5.14",
    PENDING = "linux-6.0",
    NOBODY_SLOW = "linux-6.16",
});

/// Options of mac80211 in addition to those of the airtime scheduler.
#[derive(Section, Clone, Debug, Default)]
pub struct Mac80211 {
    /// kernel whose rules it has: deficit rounds, virtual time, rounds in which what is below the queues
    /// counts, or those with the same CoDel for all stations
    #[key(or = "by the node's kernel; `linux-5.1` before that")]
    pub kernel: Key<Choice<Since>>,
    /// most packets dropped at once from the longest queue when a limit is exceeded, half of it at most
    /// (5.12)
    #[key(or = "1; 32 since `linux-5.14`")]
    pub drop_batch: Key<Int<1, 1_000_000>>,
}

/// Airtime queue limits.
#[derive(Section, Clone, Debug, Default)]
#[section(params = AqlParams, base = AqlParams::default())]
pub struct Limits {
    /// airtime queue limits (5.5); ath9k never asked for them: a what-if here
    #[key(default = "true")]
    pub aql: Key<Flag>,
    /// airtime a station may have pending below the queues, for each access category
    #[key(to = low)]
    pub aql_low: Key<Period>,
    /// the same while all stations together have less than `aql_threshold` pending
    #[key(to = high)]
    pub aql_high: Key<Period>,
    /// pending airtime of all stations below which `aql_high` applies
    #[key(to = threshold)]
    pub aql_threshold: Key<Period>,
    /// how AQL treats group-addressed frames: they count towards `aql_threshold` only, do not count, or have
    /// their own limit (OpenWrt, and Linux after 7.2)
    #[key(to = groups, hidden, or = "`50 ms` in OpenWrt, else by the kernel: `threshold` before 6.0, `off` since")]
    pub aql_multicast: Key<GroupsCount>,
}

impl Domain for GroupsCount {
    type Value = Self;
    const TYPE: ValueType = ValueType::Either(&[ValueType::Choice(&["threshold", "off"]), ValueType::Period]);

    fn read(field: &Field<'_>, _: &mut Diagnostics) -> Result<Self, Diagnostic> {
        match field.text("") {
            Ok("threshold") => Ok(Self::InAll),
            Ok("off") => Ok(Self::Not),
            _ => field
                .value()
                .map(Self::Limited)
                .map_err(|_| field.wrong("\"threshold\", \"off\" or a time above zero, such as \"50 ms\"")),
        }
    }

    fn written(value: &Self) -> Value {
        Value::String(match value {
            Self::InAll => "threshold".to_owned(),
            Self::Not => "off".to_owned(),
            Self::Limited(most) => units::duration_text(*most),
        })
    }
}

/// Delay of the firmware's report.
pub struct Delay;
quantity!(Delay: Duration
    = ValueType::Times { least: "0 us", most: Some("100 ms"), why: "a sender would wait for its memory longer than for the air" },
    "_ns", units::duration_text;);

/// Options of firmware that builds the aggregates. Each scheme accepts some of the keys, with its own
/// defaults.
#[derive(Section, Clone, Debug, Default)]
#[section(params = FirmwareParams)]
pub struct Firmware {
    /// frames that the host hands over without having heard of them
    #[key(to = frames, or = "that of the scheme")]
    pub frames: Key<Int<64, 65_536>>,
    /// most packets that the firmware joins into an A-MSDU, within a Block Ack session; 1 joins none. Where
    /// minstrel_ht chooses rates it also limits the A-MSDU's length, as in mac80211
    #[key(to = amsdu_frames, or = "that of the scheme")]
    pub amsdu_frames: Key<Int<1, 32, u8>>,
    /// bytes of an MPDU that holds several packets (A-MSDU) at most
    #[key(to = amsdu_bytes, or = "what the receiver announces: 7,991 of mt76 (MT7915), 11,454 of ath10k and ath11k, 3,895 of another with VHT or \
        HE, the least that each takes; 7,991 of mt76 (MT7915) as sender where that is less; between radios of HT 4,095 whatever is given")]
    pub amsdu_bytes: Key<Int<3_895, 11_454, u16>>,
    /// frames with which the firmware's report does not wait any longer
    #[key(to = report_frames, or = "256 of ath11k (hal.h), 1,023 of mt76 (10 bits of its TX free event), 255 of ath10k (8 bits of its message)")]
    pub report_frames: Key<Int<1, 65_536>>,
    /// how long a report waits after the first frame of it
    #[key(to = report_delay, or = "`0 us`, a report for each PPDU; no source says when its firmware reports: 0 to 1 ms, which is ath11k's")]
    pub report_delay: Key<Delay>,
    /// who joins packets: the firmware of what it has, as of MT7915 and newer, or mac80211 packets of one
    /// flow when they leave its queues, as of MT7615, MT7603 and MT76x2. In a Block Ack session only: A-MSDUs
    /// without A-MPDU are not modelled
    #[key(to = host_joins, hidden, default = "firmware")]
    pub amsdu_by: Key<Choice<Joins>>,
    /// airtime that stations are charged with, when frames are reported: each frame at the last rate and 16
    /// us (ath10k without REPORT_AIRTIME), or what the hardware has counted, retries included
    #[key(to = airtime, hidden, or = "`frames` of ath10k, `counters` of mt76")]
    pub airtime_report: Key<Choice<AirtimeReport>>,
    /// the MAC shares the air among stations by airtime (VoW), as MT7916, MT7986, MT7996 and newer do with
    /// OpenWrt's mt76 since June 2026; without, stations take turns, an aggregate each, which is assumed of
    /// MT7915 and older
    #[key(to = shares_airtime, default = "false")]
    pub vow_atf: Key<Flag>,
}

/// Builder of A-MSDUs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Joins {
    /// The firmware.
    Firmware,
    /// mac80211.
    Mac80211,
}

named!(Joins { Firmware = "firmware", Mac80211 = "mac80211" });
named!(AirtimeReport { Frames = "frames", Counters = "counters" });

impl From<Joins> for bool {
    fn from(joins: Joins) -> Self {
        joins == Joins::Mac80211
    }
}

const HW_AGGREGATES: description::Key = key(Hardware::KEYS, "hw_aggregates");
const HW_SINGLES: description::Key = key(Hardware::KEYS, "hw_singles");

const HARDWARE: &[description::Key] = &[HW_AGGREGATES, HW_SINGLES];

const AQM: &[description::Key] = &[custom::AQM];

/// Slow stations in kernels with mac80211's scheduler.
const MAC80211_SLOW: &[description::Key] = &[
    key(Slow::KEYS, "slow_below").with(DefaultValue::Words(
        "6 Mbit/s times the number of stations of the device (4.12); no station is slow since `linux-6.16`",
    )),
    key(Slow::KEYS, "hysteresis").with(DefaultValue::Literal("0 s")),
];

const MAC80211: &[description::Key] = &[
    key(Mac80211::KEYS, "kernel"),
    key(Airtime::KEYS, "charge_tx").about("stations are charged for frames sent to them (`airtime_flags` 1)"),
    key(Airtime::KEYS, "charge_rx")
        .about("stations are charged for frames that they send (`airtime_flags` 2)"),
    key(Mac80211::KEYS, "drop_batch"),
    key(Airtime::KEYS, "quantum")
        .with(DefaultValue::Words("`256 us`; none under the rules of `linux-5.14`, which have no rounds"))
        .about("airtime that a station of weight 256 may use in a round"),
];

const fn tag(kind: &'static str) -> description::Key {
    description::Key::tag("kind", kind)
}

const fn firmware(name: &str) -> description::Key {
    key(Firmware::KEYS, name)
}

/// Type of a scheme.
const TYPE: ValueType = ValueType::Kinds {
    shapes: &[
        &FIFO,
        &FQ_CODEL,
        &FQ_MAC,
        &AIRTIME,
        &AIRTIME_AS_PRINTED,
        &LINUX,
        &ATH9K_HTC,
        &ATH10K,
        &ATH11K,
        &MT76,
    ],
    bare: true,
};

/// The key of a Wi-Fi interface.
#[derive(Section, Clone, Debug, Default)]
pub struct OfWifi {
    /// how it queues frames and schedules stations
    #[key(
        or = "on a channel of 80 MHz and more `mt76`, in kernels before 5.7 `ath10k`; else as ath9k has it in the node's kernel: `fifo` before 4.10 and in what is not Linux, `fq_mac` in 4.10, `airtime` before 5.1, \
     `mac80211` with `aql = false` since; CoDel is relaxed below 6 Mbit/s times the number of stations of the device from 4.12 on, for no station before 4.12, in 6.12 and since 6.16"
    )]
    pub scheme: Key<AsWritten>,
}

as_written! {
    /// A scheme with its options, which depend on the kernel.
    AsWritten = TYPE;
}

static FIFO: TableSchema = TableSchema {
    title: "Scheme fifo",
    about: "pfifo_fast over the driver's own queues, as ath9k has them before 4.10.",
    groups: &[&[tag("fifo")], Legacy::KEYS, Hardware::KEYS],
};

static FQ_CODEL: TableSchema = TableSchema {
    title: "Scheme fq_codel",
    about: "The fq_codel qdisc over the driver's own queues.",
    groups: &[&[tag("fq_codel")], Legacy::KEYS, Hardware::KEYS],
};

static FQ_MAC: TableSchema = TableSchema {
    title: "Scheme fq_mac",
    about: "Queues in the MAC, stations served in turn: algorithms 1 and 2 of *Ending the Anomaly*.",
    groups: &[&[tag("fq_mac")], Turns::KEYS, &[custom::SCHEDULER], AQM, Queues::KEYS, Slow::KEYS, HARDWARE],
};

static AIRTIME: TableSchema = TableSchema {
    title: "Scheme airtime",
    about: "The same, stations served by airtime: algorithm 3, as ath9k runs it.",
    groups: &[&[tag("airtime")], Airtime::KEYS, AQM, Queues::KEYS, Slow::KEYS, HARDWARE],
};

static AIRTIME_AS_PRINTED: TableSchema = TableSchema {
    title: "Scheme airtime_as_printed",
    about: "The same by the paper's listing, station by station.",
    groups: &[&[tag("airtime_as_printed")], Airtime::KEYS, AQM, Queues::KEYS, Slow::KEYS, HARDWARE],
};

static LINUX: TableSchema = TableSchema {
    title: "Scheme mac80211",
    about: "The same, stations served by airtime as mac80211 does since 5.1 for drivers that leave it that, as ath9k does: one list, weights, and since 5.5 airtime queue limits.",
    groups: &[&[tag("mac80211")], MAC80211, Limits::KEYS, AQM, Queues::KEYS, MAC80211_SLOW, HARDWARE],
};

static ATH9K_HTC: TableSchema = TableSchema {
    title: "Scheme ath9k_htc",
    about: "pfifo_fast over a device behind USB, as the AR9271 is: its host counts frames, its firmware aggregates them.",
    groups: &[
        &[tag("ath9k_htc")],
        Htc::KEYS,
        &[
            HW_AGGREGATES
                .with(DefaultValue::Literal("1"))
                .about("aggregates that the firmware keeps in the hardware, per access category"),
            HW_SINGLES.with(DefaultValue::Literal("33")),
        ],
        Usb::KEYS,
    ],
};

static ATH10K: TableSchema = TableSchema {
    title: "Scheme ath10k",
    about: "mac80211's queues over firmware that makes the aggregates, as ath10k has it (QCA988x, 9984, 4019): airtime queue limits, airtime reckoned by frames.",
    groups: &[
        &[
            tag("ath10k"),
            firmware("frames").with(DefaultValue::Literal("1424")),
            firmware("amsdu_frames").with(DefaultValue::Literal("3")),
            firmware("amsdu_bytes"),
            firmware("report_frames"),
            firmware("report_delay"),
            firmware("airtime_report"),
        ],
        MAC80211,
        Limits::KEYS,
        AQM,
        Queues::KEYS,
        MAC80211_SLOW,
    ],
};

static MT76: TableSchema = TableSchema {
    title: "Scheme mt76",
    about: "The same as mt76 has it (MT7915; MT7615 with `frames = 4032`): airtime queue limits, airtime by the hardware's counters.",
    groups: &[
        &[
            tag("mt76"),
            firmware("frames").with(DefaultValue::Literal("8128")),
            firmware("amsdu_frames").with(DefaultValue::Literal("8")),
            firmware("amsdu_bytes"),
            firmware("report_frames"),
            firmware("report_delay"),
            firmware("amsdu_by"),
            firmware("airtime_report"),
            firmware("vow_atf"),
        ],
        MAC80211,
        Limits::KEYS,
        AQM,
        Queues::KEYS,
        MAC80211_SLOW,
    ],
};

static ATH11K: TableSchema = TableSchema {
    title: "Scheme ath11k",
    about: "The same as ath11k has it (IPQ8074, QCN9074): no airtime queue limits and no airtime fairness; every frame goes to the firmware at once.",
    groups: &[
        &[
            tag("ath11k"),
            firmware("frames")
                .with(DefaultValue::Words(
                    "`4096`; no source says how many its firmware keeps: 512 (entries of a transmit ring) to 32,767 (identifiers of frames)",
                ))
                .about("frames that the firmware has room for; others are dropped"),
            firmware("amsdu_frames").with(DefaultValue::Words(
                "`4`; no source says how many its firmware joins: 1 to 7, which are what 11,454 bytes hold of full packets",
            )),
            firmware("amsdu_bytes"),
            firmware("report_frames"),
            firmware("report_delay").with(DefaultValue::Literal("1 ms")),
        ],
        AQM,
        Queues::KEYS,
        Slow::KEYS,
    ],
};
