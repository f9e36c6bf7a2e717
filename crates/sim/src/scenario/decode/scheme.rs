//! A Wi-Fi device's queueing scheme and its pieces.

use stillair_model::vocabulary::Duration;
use stillair_model::wifi::config::{
    AIRTIME_WEIGHT, AirtimeParams, AqlParams, DriverConfig, FqParams, HardwareDepth, HtcParams, LegacyParams,
    Mac80211Rules, Scheduler, SlowBelow, WhenFull,
};

use super::super::Scheme;
use super::super::contract::{Form, Key, Shape};
use super::super::error::Fault;
use super::super::reader::Section;
use super::qdisc;

const HARDWARE: &[Key] = &[
    Key::or(
        "hw_aggregates",
        Form::Integer(1, 64),
        "2",
        "aggregates that the driver keeps in the hardware, per access category",
    ),
    Key::or("hw_singles", Form::Integer(1, 512), "8", "the same for frames that are sent alone"),
];

const LEGACY: &[Key] = &[Key::or(
    "qlen",
    Form::Integer(1, 100_000),
    "123",
    "frames that an access category of the driver holds before it stops the queue above (debugfs `qlen_be`)",
)];

/// Where aggregates are made.
const RING: &[Key] = &[Key::or(
    "firmware_aggregates",
    Form::Boolean,
    "false",
    "aggregates are made when they are sent, of what is there by then, as firmware of ath10k or iwlwifi makes them; ath9k's driver makes \
     them before (`hw_aggregates` is then 1 unless said)",
)];

const QUEUES: &[Key] = &[
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
        "most bytes of truesize over all queues",
    ),
    // deviation: mac80211 takes any number - at a byte a full packet would cost 1,500 rounds; the least is fq_codel's.
    Key::or(
        "fq_quantum",
        Form::Bytes(qdisc::MIN_QUANTUM, 1 << 20),
        "300 B",
        "bytes that a flow may send in a round",
    ),
];

const SLOW_BELOW: &str = "expected throughput below which a station is slow";
const HYSTERESIS: &str = "least time between two changes of a station from slow to fast or back";

/// Who is slow by the paper.
const SLOW: &[Key] = &[
    Key::or("slow_below", Form::Rate, "12 Mbit/s", SLOW_BELOW),
    Key::or("hysteresis", Form::Time, "2 s", HYSTERESIS),
];

/// Who is slow by Linux.
const MAC80211_SLOW: &[Key] = &[
    Key::open(
        "slow_below",
        Form::Rate,
        "6 Mbit/s for each station of the device (4.12); nobody is slow since `linux-6.16`",
        SLOW_BELOW,
    ),
    Key::or("hysteresis", Form::Time, "0 s", HYSTERESIS),
];

/// A station pays for a PPDU of up to 4 ms and its retries by one quantum a round, and the scheduler goes through all these
/// rounds before the next PPDU: at 10 us they are some hundreds for every station, below they only cost time. No frame is
/// shorter on the air, so that shares are no finer either.
const QUANTUM: Form = Form::Times {
    least: "10 us",
    most: None,
    why: "a smaller one costs hundreds of rounds for each frame and shares no finer",
};

const PIECES: &[Key] = &[
    Key::or("sparse", Form::Boolean, "true", "newly active stations go first, for one round"),
    Key::or("charge_tx", Form::Boolean, "true", "stations are charged for what they are sent"),
    Key::or("charge_rx", Form::Boolean, "true", "stations are charged for what they send"),
    Key::or("quantum", QUANTUM, "300 us", "airtime that a station may use in a round"),
];

static FIFO: Shape = Shape {
    title: "Scheme fifo",
    about: "pfifo_fast over the driver's own queues, as ath9k has them before 4.10.",
    groups: &[&[Key::tag("kind", "fifo")], LEGACY, RING, HARDWARE],
};

static FQ_CODEL: Shape = Shape {
    title: "Scheme fq_codel",
    about: "The fq_codel qdisc over the driver's own queues.",
    groups: &[&[Key::tag("kind", "fq_codel")], LEGACY, RING, HARDWARE],
};

/// Kernels since which ath9k has served stations in turn by other rules.
const ROUND_SINCE: [&str; 2] = ["linux-4.10", "linux-4.11"];

static FQ_MAC: Shape = Shape {
    title: "Scheme fq_mac",
    about: "Queues in the MAC, stations served in turn: algorithms 1 and 2 of *Ending the Anomaly*.",
    groups: &[
        &[
            Key::tag("kind", "fq_mac"),
            Key::or(
                "since",
                Form::Choice(&ROUND_SINCE),
                "linux-4.10",
                "kernel whose round ath9k has: whoever finds the hardware full loses its turn, or keeps it (4.11 with its airtime scheduler switched off)",
            ),
        ],
        QUEUES,
        SLOW,
        HARDWARE,
    ],
};

static AIRTIME: Shape = Shape {
    title: "Scheme airtime",
    about: "The same, stations served by airtime: algorithm 3, as ath9k runs it.",
    groups: &[&[Key::tag("kind", "airtime")], PIECES, QUEUES, SLOW, HARDWARE],
};

static AIRTIME_AS_PRINTED: Shape = Shape {
    title: "Scheme airtime_as_printed",
    about: "The same by the paper's listing, station by station.",
    groups: &[&[Key::tag("kind", "airtime_as_printed")], PIECES, QUEUES, SLOW, HARDWARE],
};

/// Kernels since which mac80211 has served stations by other rules.
const SINCE: [(&str, (u16, u16)); 4] =
    [("linux-5.1", (5, 1)), ("linux-5.14", (5, 14)), ("linux-6.0", (6, 0)), ("linux-6.16", (6, 16))];
const SINCE_NAMES: [&str; 4] = [SINCE[0].0, SINCE[1].0, SINCE[2].0, SINCE[3].0];

/// How a kernel serves stations, and its queues by what they are without that; one before all of them as the first.
fn since(version: Version, fq: FqParams) -> (Mac80211Rules, FqParams) {
    match version {
        Some(version) if version >= SINCE[3].1 => {
            (Mac80211Rules::RoundsWithPending, fq.with_batches().with_nobody_slow())
        }
        Some(version) if version >= SINCE[2].1 => (Mac80211Rules::RoundsWithPending, fq.with_batches()),
        Some(version) if version >= SINCE[1].1 => (Mac80211Rules::VirtualTime, fq.with_batches()),
        _ => (Mac80211Rules::Rounds, fq),
    }
}

const MAC80211_PIECES: &[Key] = &[
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
        "stations are charged for what they are sent (`airtime_flags` 1)",
    ),
    Key::or(
        "charge_rx",
        Form::Boolean,
        "true",
        "stations are charged for what they send (`airtime_flags` 2)",
    ),
    Key::open(
        "drop_batch",
        Form::Integer(1, 1_000_000),
        "1; 32 since `linux-5.14`",
        "most packets dropped at once from the longest queue when a limit is exceeded, half of it at most (5.12)",
    ),
    Key::or("quantum", QUANTUM, "256 us", "airtime that a station of weight 256 may use in a round"),
    Key::or(
        "aql",
        Form::Boolean,
        "true",
        "airtime queue limits (5.5); ath9k never asked for them: a what-if here",
    ),
    Key::or("aql_low", Form::Period, "5 ms", "airtime that a station may have below the queues, by category"),
    Key::or("aql_high", Form::Period, "12 ms", "the same while all have less than `aql_threshold`"),
    Key::or(
        "aql_threshold",
        Form::Period,
        "24 ms",
        "airtime of all stations together below which `aql_high` holds",
    ),
];

static MAC80211: Shape = Shape {
    title: "Scheme mac80211",
    about: "The same, stations served by airtime as mac80211 does since 5.1 for drivers that leave it that, as ath9k does: one list, weights, and since 5.5 airtime queue limits.",
    groups: &[&[Key::tag("kind", "mac80211")], MAC80211_PIECES, QUEUES, MAC80211_SLOW, HARDWARE],
};

static ATH9K_HTC: Shape = Shape {
    title: "Scheme ath9k_htc",
    about: "pfifo_fast over a device behind USB, as the AR9271 is: its host counts frames, its firmware aggregates them.",
    groups: &[&[
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
        Key::or("hw_singles", Form::Integer(1, 512), "33", "the same for frames that are sent alone"),
    ]],
};

/// What a scheme may be.
pub(super) const FORM: Form = Form::Kinds {
    shapes: &[&FIFO, &FQ_CODEL, &FQ_MAC, &AIRTIME, &AIRTIME_AS_PRINTED, &MAC80211, &ATH9K_HTC],
    bare: true,
};

/// The key of an interface.
pub(super) const KEY: Key = Key::open(
    "scheme",
    FORM,
    "as ath9k has it in the node's kernel: `fifo` before 4.10 and in what is not Linux, `fq_mac` in 4.10, `airtime` before 5.1, \
     `mac80211` with `aql = false` since; CoDel is relaxed for nobody before 4.12, below 6 Mbit/s for each station of the device since",
    "how it queues and schedules",
);

/// Version of a kernel; none of what is not Linux.
type Version = Option<(u16, u16)>;

/// The scheme of ath9k in a kernel, with what that has of its own.
fn of_kernel(version: Version) -> Choice {
    let name = match version {
        Some((5, 1..) | (6.., _)) => Scheme::Mac80211,
        Some((4, 11..) | (5, 0)) => Scheme::Airtime,
        Some((4, 10)) => Scheme::FqMac,
        _ => Scheme::Fifo,
    };
    let mut choice = Choice::new(name, version);
    if let DriverConfig::Fq(fq, scheduler) = &mut choice.driver {
        match scheduler {
            // ath9k tells mac80211 no airtime of its own that queues could be limited by.
            Scheduler::Mac80211(_, aql, _) => *aql = None,
            _ if version < Some((4, 12)) => *fq = fq.with_nobody_slow(),
            _ => *fq = fq.as_linux_has_it(),
        }
    }
    choice
}

/// A scheme as the model takes it.
pub(super) struct Choice {
    pub name: Scheme,
    pub driver: DriverConfig,
    pub hardware: HardwareDepth,
    /// It has queues in the MAC, and their memory is to be limited by what the device can.
    pub memory_by_device: bool,
}

impl Choice {
    /// The scheme with all pieces at their defaults.
    fn new(name: Scheme, version: Version) -> Self {
        let fq = FqParams::default();
        let driver = match name {
            Scheme::Fifo | Scheme::FqCodel => DriverConfig::Legacy(LegacyParams::default()),
            Scheme::FqMac => DriverConfig::Fq(fq, Scheduler::RoundRobin(WhenFull::LosesTurn)),
            Scheme::Airtime => DriverConfig::Fq(fq, Scheduler::Airtime(AirtimeParams::default())),
            Scheme::AirtimeAsPrinted => {
                DriverConfig::Fq(fq, Scheduler::AirtimeAsPrinted(AirtimeParams::default()))
            }
            Scheme::Mac80211 => {
                // linux: net/mac80211/tx.c ieee80211_next_txq (5.1) - microseconds as many as the weight.
                let quantum = Duration::from_micros(u64::from(AIRTIME_WEIGHT));
                let airtime = AirtimeParams { quantum, ..AirtimeParams::default() };
                let aql = Some(AqlParams::default());
                let (rules, fq) = since(version, fq.as_linux_has_it());
                DriverConfig::Fq(fq, Scheduler::Mac80211(airtime, aql, rules))
            }
            Scheme::Ath9kHtc => DriverConfig::Htc(HtcParams::default()),
        };
        let hardware = HardwareDepth::of(&driver);
        let memory_by_device = matches!(driver, DriverConfig::Fq(..));
        Self { name, driver, hardware, memory_by_device }
    }
}

/// Reads the scheme of an interface of a node with this kernel: a name, or a table of `kind` and pieces.
pub(super) fn read(section: &mut Section<'_>, version: Version) -> Result<Choice, Fault> {
    let Some(field) = section.get(KEY.name) else { return Ok(of_kernel(version)) };
    let (kind, section) = field.kind()?;
    let name = Scheme::ALL.iter().find(|(name, _)| *name == kind).map_or(Scheme::Fifo, |(_, scheme)| *scheme);
    let mut choice = Choice::new(name, version);
    let Some(mut section) = section else { return Ok(choice) };
    match &mut choice.driver {
        DriverConfig::Htc(htc) => {
            htc.limit = section.or("limit", htc.limit)?;
            htc.target_buffers = section.or("target_buffers", htc.target_buffers)?;
            htc.max_frames = section.or("max_frames", htc.max_frames)?;
        }
        DriverConfig::Legacy(legacy) => {
            legacy.qlen = section.or("qlen", legacy.qlen)?;
            if section.or("firmware_aggregates", false)? {
                choice.hardware = HardwareDepth::RING;
            }
        }
        DriverConfig::Fq(fq, scheduler) => {
            match scheduler {
                Scheduler::RoundRobin(when_full) => {
                    let since =
                        [(ROUND_SINCE[0], WhenFull::LosesTurn), (ROUND_SINCE[1], WhenFull::KeepsTurn)];
                    *when_full = section.or_by("since", *when_full, |field| field.choice(&since))?;
                }
                Scheduler::Airtime(airtime) | Scheduler::AirtimeAsPrinted(airtime) => {
                    pieces(&mut section, airtime)?
                }
                Scheduler::Mac80211(airtime, aql, rules) => mac80211(&mut section, fq, airtime, aql, rules)?,
            }
            choice.memory_by_device = !section.has("memory_limit");
            queues(&mut section, fq)?;
        }
    }
    let depth = &mut choice.hardware;
    depth.aggregates = section.or("hw_aggregates", depth.aggregates)?;
    depth.singles = section.or("hw_singles", depth.singles)?;
    section.finish()?;
    Ok(choice)
}

fn pieces(section: &mut Section<'_>, p: &mut AirtimeParams) -> Result<(), Fault> {
    p.sparse = section.or("sparse", p.sparse)?;
    p.charge_tx = section.or("charge_tx", p.charge_tx)?;
    p.charge_rx = section.or("charge_rx", p.charge_rx)?;
    p.quantum = section.or("quantum", p.quantum)?;
    Ok(())
}

fn mac80211(
    section: &mut Section<'_>,
    fq: &mut FqParams,
    p: &mut AirtimeParams,
    aql: &mut Option<AqlParams>,
    rules: &mut Mac80211Rules,
) -> Result<(), Fault> {
    if let Some(field) = section.get("since") {
        (*rules, *fq) = field.choice(
            &SINCE.map(|(name, from)| (name, since(Some(from), FqParams::default().as_linux_has_it()))),
        )?;
    }
    fq.drop_batch = section.or("drop_batch", fq.drop_batch)?;
    p.charge_tx = section.or("charge_tx", p.charge_tx)?;
    p.charge_rx = section.or("charge_rx", p.charge_rx)?;
    p.quantum = section.or("quantum", p.quantum)?;
    let limits = AqlParams::default();
    let limits = AqlParams {
        low: section.or("aql_low", limits.low)?,
        high: section.or("aql_high", limits.high)?,
        threshold: section.or("aql_threshold", limits.threshold)?,
    };
    *aql = section.or("aql", true)?.then_some(limits);
    Ok(())
}

fn queues(section: &mut Section<'_>, p: &mut FqParams) -> Result<(), Fault> {
    p.codel.target = section.or("target", p.codel.target)?;
    p.codel.interval = section.or("interval", p.codel.interval)?;
    p.codel.ecn = section.or("ecn", p.codel.ecn)?;
    p.codel_slow.target = section.or("slow_target", p.codel_slow.target)?;
    p.codel_slow.interval = section.or("slow_interval", p.codel_slow.interval)?;
    p.codel_slow.ecn = section.or("slow_ecn", p.codel_slow.ecn)?;
    if let Some(field) = section.get("slow_below") {
        p.slow_below = SlowBelow::Rate(field.value()?);
    }
    p.hysteresis = section.or("hysteresis", p.hysteresis)?;
    p.flows = section.or("flows", p.flows)?;
    p.limit = section.or("limit", p.limit)?;
    p.memory_limit = section.or("memory_limit", p.memory_limit)?;
    p.quantum = section.or("fq_quantum", p.quantum)?;
    Ok(())
}
