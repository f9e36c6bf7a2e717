//! A Wi-Fi device's queueing scheme and its pieces.

mod own;

use stillair_model::vocabulary::Duration;
use stillair_model::wifi::config::{
    AIRTIME_WEIGHT, AirtimeParams, AqlParams, DriverConfig, FqParams, HardwareDepth, HtcParams, LegacyParams,
    Mac80211Rules, Scheduler, SlowBelow, WhenFull,
};

use super::super::Scheme;
use super::super::contract::{Form, Key, Shape};
use super::super::error::Fault;
use super::super::reader::Section;
use super::{qdisc, usb};

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
    own::AQM,
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

/// Who is slow by the node's kernel, or by the paper in one that is older than the paper's queues.
const SLOW: &[Key] = &[
    Key::open(
        "slow_below",
        Form::Rate,
        "by the node's kernel: nobody is slow in 4.10 and 4.11, 6 Mbit/s for each station of the device is the threshold since 4.12, and \
         nobody is slow since 6.16; the paper's 12 Mbit/s before 4.10 and in what is not Linux",
        SLOW_BELOW,
    ),
    Key::open("hysteresis", Form::Time, "`0 s` in kernels since 4.10, else the paper's `2 s`", HYSTERESIS),
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

/// Who reports received frames: a driver, so that a device that can HT alone stands for ath9k and one that can more for ath10k.
// linux: drivers/net/wireless/ath/ath9k/recv.c ath_rx_count_airtime (5.1) - the airtime of received frames is registered.
// linux: drivers/net/wireless/ath/ath10k/txrx.c ath10k_txrx_tx_unref (5.1) - that of sent frames alone; airtime_flags of mac80211
// has both bits set, but nobody tells of the other kind.
// linux: drivers/net/wireless/mediatek/mt76/mac80211.c mt76_airtime_report (5.1), mt7915/mac.c (6.12) - mt76 registers both: say
// `charge_rx = true` for a device of VHT that is one.
const CHARGE_RX: &str = "`true`, as ath9k and mt76 report what they received; `false` of a device of VHT, as its rates or its channel's width \
                         show, as ath10k does not";

const PIECES: &[Key] = &[
    Key::or("sparse", Form::Boolean, "true", "newly active stations go first, for one round"),
    Key::or("charge_tx", Form::Boolean, "true", "stations are charged for what they are sent"),
    Key::open("charge_rx", Form::Boolean, CHARGE_RX, "stations are charged for what they send"),
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
            Key::open(
                "since",
                Form::Choice(&ROUND_SINCE),
                "`linux-4.11` in kernels from that on, else `linux-4.10`",
                "kernel whose round ath9k has: whoever finds the hardware full loses its turn, or keeps it (4.11 with its airtime scheduler switched off)",
            ),
            own::SCHEDULER,
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

/// How a kernel serves stations; one before all of them as the first.
fn rules(version: Version) -> Mac80211Rules {
    match version {
        Some(version) if version >= SINCE[2].1 => Mac80211Rules::RoundsWithPending,
        Some(version) if version >= SINCE[1].1 => Mac80211Rules::VirtualTime,
        _ => Mac80211Rules::Rounds,
    }
}

/// The queues in the MAC of a kernel; those of the paper where a kernel has none.
fn queues_of(version: Version) -> FqParams {
    let fq = FqParams::default();
    match version {
        // linux: net/mac80211/sta_info.c (6.12.117) - commit 4876376988081d of 2025, in stable kernels of 6.12 too.
        Some(version) if version >= (6, 16) || version == (6, 12) => {
            fq.as_linux_has_it().with_batches().with_nobody_slow()
        }
        Some(version) if version >= (5, 12) => fq.as_linux_has_it().with_batches(),
        Some(version) if version >= (4, 12) => fq.as_linux_has_it(),
        Some(version) if version >= (4, 10) => fq.as_linux_has_it().with_nobody_slow(),
        _ => fq,
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
    Key::open(
        "charge_rx",
        Form::Boolean,
        CHARGE_RX,
        "stations are charged for what they send (`airtime_flags` 2)",
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
            Key::or("hw_singles", Form::Integer(1, 512), "33", "the same for frames that are sent alone"),
        ],
        usb::KEYS,
    ],
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
pub(super) type Version = Option<(u16, u16)>;

/// The scheme of ath9k in a kernel, with what that has of its own.
fn of_kernel(version: Version) -> Choice {
    let name = match version {
        Some((5, 1..) | (6.., _)) => Scheme::Mac80211,
        Some((4, 11..) | (5, 0)) => Scheme::Airtime,
        Some((4, 10)) => Scheme::FqMac,
        _ => Scheme::Fifo,
    };
    let mut choice = Choice::new(name, version);
    if let DriverConfig::Fq(_, Scheduler::Mac80211(_, aql, _)) = &mut choice.driver {
        // ath9k tells mac80211 no airtime of its own that queues could be limited by.
        *aql = None;
    }
    choice
}

/// A scheme as the model takes it.
pub(super) struct Choice {
    pub name: Scheme,
    pub driver: DriverConfig,
    pub hardware: HardwareDepth,
    /// What of it is left to what the device can.
    pub by_device: ByDevice,
}

/// Which pieces of a scheme the scenario leaves to what the device can.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct ByDevice {
    /// How much memory queues in the MAC may hold.
    pub memory: bool,
    /// Whether stations are charged for what they send.
    pub charge_rx: bool,
    /// Whether its hardware filters by destination.
    pub filter: bool,
}

impl Choice {
    /// The scheme with all pieces at their defaults.
    fn new(name: Scheme, version: Version) -> Self {
        let fq = queues_of(version);
        let driver = match name {
            Scheme::Fifo | Scheme::FqCodel => DriverConfig::Legacy(LegacyParams::default()),
            Scheme::FqMac => {
                let keeps = version.is_some_and(|own| own >= (4, 11));
                let when_full = if keeps { WhenFull::KeepsTurn } else { WhenFull::LosesTurn };
                DriverConfig::Fq(fq, Scheduler::RoundRobin(when_full))
            }
            Scheme::Airtime => DriverConfig::Fq(fq, Scheduler::Airtime(AirtimeParams::default())),
            Scheme::AirtimeAsPrinted => {
                DriverConfig::Fq(fq, Scheduler::AirtimeAsPrinted(AirtimeParams::default()))
            }
            Scheme::Mac80211 => {
                // linux: net/mac80211/tx.c ieee80211_next_txq (5.1) - microseconds as many as the weight.
                let quantum = Duration::from_micros(u64::from(AIRTIME_WEIGHT));
                let airtime = AirtimeParams { quantum, ..AirtimeParams::default() };
                let aql = Some(AqlParams::default());
                DriverConfig::Fq(mac80211_queues(version), Scheduler::Mac80211(airtime, aql, rules(version)))
            }
            Scheme::Ath9kHtc => DriverConfig::Htc(HtcParams::default()),
        };
        let hardware = HardwareDepth::of(&driver);
        let queues = matches!(driver, DriverConfig::Fq(..));
        let charges = matches!(driver, DriverConfig::Fq(_, ref by) if by.airtime().is_some());
        Self {
            name,
            driver,
            hardware,
            by_device: ByDevice { memory: queues, charge_rx: charges, filter: false },
        }
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
            htc.usb = usb::read(&mut section)?;
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
                    let own = own::scheduler(&mut section)?;
                    if own.is_some() {
                        let right = "no `since`, or scheduler = \"round_robin\"";
                        section.idle("since", "under a scheduler of a program's own", right)?;
                    }
                    *when_full = section.or_by("since", *when_full, |field| field.choice(&since))?;
                    if let Some(own) = own {
                        *scheduler = Scheduler::Own(own);
                    }
                }
                Scheduler::Airtime(airtime) | Scheduler::AirtimeAsPrinted(airtime) => {
                    choice.by_device.charge_rx = !section.has("charge_rx");
                    pieces(&mut section, airtime)?
                }
                Scheduler::Mac80211(airtime, aql, rules) => {
                    choice.by_device.charge_rx = !section.has("charge_rx");
                    mac80211(&mut section, fq, airtime, aql, rules)?
                }
                Scheduler::Own(_) => {}
            }
            choice.by_device.memory = !section.has("memory_limit");
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
    charges(section, p)?;
    quantum(section, p, false)
}

fn charges(section: &mut Section<'_>, p: &mut AirtimeParams) -> Result<(), Fault> {
    p.charge_tx = section.or("charge_tx", p.charge_tx)?;
    p.charge_rx = section.or("charge_rx", p.charge_rx)?;
    Ok(())
}

/// Reads the quantum, which has no effect where nothing is ever taken off it.
fn quantum(section: &mut Section<'_>, p: &mut AirtimeParams, pending_counts: bool) -> Result<(), Fault> {
    if !p.charge_tx && !p.charge_rx && !pending_counts {
        section.idle(
            "quantum",
            "while nothing is charged",
            "no quantum, or charge_tx or charge_rx = true",
        )?;
    }
    p.quantum = section.or("quantum", p.quantum)?;
    Ok(())
}

/// The queues under the airtime scheduler of mac80211, in a kernel without that as in the first that had it.
fn mac80211_queues(version: Version) -> FqParams {
    queues_of(version.max(Some(SINCE[0].1)))
}

fn mac80211(
    section: &mut Section<'_>,
    fq: &mut FqParams,
    p: &mut AirtimeParams,
    aql: &mut Option<AqlParams>,
    by: &mut Mac80211Rules,
) -> Result<(), Fault> {
    if let Some(field) = section.get("since") {
        let kernels = SINCE.map(|(name, from)| (name, (rules(Some(from)), queues_of(Some(from)))));
        (*by, *fq) = field.choice(&kernels)?;
    }
    fq.drop_batch = section.or("drop_batch", fq.drop_batch)?;
    charges(section, p)?;
    let limited = section.or("aql", true)?;
    if *by == Mac80211Rules::VirtualTime {
        section.idle(
            "quantum",
            "under the rules of 5.14 to 5.19, which serve by virtual time",
            "no quantum, or `since` of another kernel",
        )?;
    }
    quantum(section, p, limited && *by == Mac80211Rules::RoundsWithPending)?;
    if !limited {
        for key in ["aql_low", "aql_high", "aql_threshold"] {
            section.idle(key, "while aql = false", "none of the limits, or aql = true")?;
        }
    }
    let limits = AqlParams::default();
    let limits = AqlParams {
        low: section.or("aql_low", limits.low)?,
        high: section.or("aql_high", limits.high)?,
        threshold: section.or("aql_threshold", limits.threshold)?,
    };
    *aql = limited.then_some(limits);
    Ok(())
}

fn queues(section: &mut Section<'_>, p: &mut FqParams) -> Result<(), Fault> {
    p.law = own::law(section)?;
    if p.law.is_some() {
        for key in ["target", "interval", "ecn", "slow_target", "slow_interval", "slow_ecn"] {
            section.idle(key, "under a law of a program's own", "options of that, or aqm = \"codel\"")?;
        }
    }
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
    if p.slow_below == SlowBelow::NOBODY {
        for key in ["slow_target", "slow_interval", "slow_ecn", "hysteresis"] {
            section.idle(key, "while no station is slow", "none of them, or slow_below beside it")?;
        }
    }
    p.flows = section.or("flows", p.flows)?;
    p.limit = section.or("limit", p.limit)?;
    p.memory_limit = section.or("memory_limit", p.memory_limit)?;
    p.quantum = section.or("fq_quantum", p.quantum)?;
    Ok(())
}
