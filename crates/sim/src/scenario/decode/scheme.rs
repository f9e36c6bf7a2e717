//! A Wi-Fi device's queueing scheme and its parts.

mod custom;
mod firmware;
mod keys;

use stillair_model::vocabulary::Duration;
use stillair_model::wifi::config::{
    AIRTIME_WEIGHT, AirtimeParams, AqlParams, DriverConfig, GroupsCount, HardwareDepth, HtcParams,
    LegacyParams, Mac80211Rules, MacFqParams, Scheduler, SlowBelow, WhenFull,
};

use super::super::Scheme;
use super::super::contract::{Form, Key};
use super::super::error::{Fault, Mistakes};
use super::super::reader::{Field, Section};
use super::super::spec::Section as _;
use super::super::spec::usb::Usb;
use super::device::Device;
pub(in crate::scenario) use firmware::{ATH11K_AMSDU, ATH11K_FRAMES};
use keys::{ROUND_SINCE, SINCE};

/// What a scheme may be.
const FORM: Form = Form::Kinds {
    shapes: &[
        &keys::FIFO,
        &keys::FQ_CODEL,
        &keys::FQ_MAC,
        &keys::AIRTIME,
        &keys::AIRTIME_AS_PRINTED,
        &keys::MAC80211,
        &keys::ATH9K_HTC,
        &firmware::ATH10K,
        &firmware::ATH11K,
        &firmware::MT76,
    ],
    bare: true,
};

/// The key of an interface.
pub(super) const KEY: Key = Key::open(
    "scheme",
    FORM,
    "on a channel of 80 MHz and more `mt76`, in kernels before 5.7 `ath10k`; else as ath9k has it in the node's kernel: `fifo` before 4.10 and in what is not Linux, `fq_mac` in 4.10, `airtime` before 5.1, \
     `mac80211` with `aql = false` since; CoDel is relaxed below 6 Mbit/s times the number of stations of the device from 4.12 on, for no station before 4.12, in 6.12 and since 6.16",
    "how it queues frames and schedules stations",
);

/// How a kernel serves stations; one before all of them as the first.
fn rules(version: Version) -> Mac80211Rules {
    match version {
        Some(version) if version >= SINCE[2].1 => Mac80211Rules::RoundsWithPending,
        Some(version) if version >= SINCE[1].1 => Mac80211Rules::VirtualTime,
        _ => Mac80211Rules::Rounds,
    }
}

/// The queues in the MAC of a kernel; those of the paper where a kernel has none.
fn queues_of(version: Version) -> MacFqParams {
    let fq = MacFqParams::default();
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

/// Version of a kernel; none of what is not Linux.
pub(in crate::scenario) type Version = Option<(u16, u16)>;

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

/// The scheme of a device that can 80 MHz, which ath9k's cannot.
// linux: drivers/net/wireless/mediatek/mt76/mac80211.c (5.7) - airtime queue limits since then.
fn of_wide(version: Version) -> Choice {
    match version {
        Some(version) if version >= (5, 7) => Choice::new(Scheme::Mt76, Some(version)),
        Some(version) => Choice::new(Scheme::Ath10k, Some(version)),
        None => of_kernel(None),
    }
}

/// The scheme that a device has by default where its channel is wider than 40 MHz, or where it is not: the other of the two.
pub(super) fn of_other_width(version: Version, wide: bool) -> Scheme {
    if wide { of_kernel(version).name } else { of_wide(version).name }
}

/// A scheme as the model takes it.
pub(in crate::scenario) struct Choice {
    pub name: Scheme,
    pub driver: DriverConfig,
    pub hardware: HardwareDepth,
    /// The parts of the scheme that depend on the device.
    pub by_device: ByDevice,
}

/// Which pieces of a scheme the scenario leaves to what the device can.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in crate::scenario) struct ByDevice {
    /// Whether the memory limit of the queues in the MAC follows from the device.
    pub memory: bool,
    /// Whether the device decides if stations are charged for the frames that they send.
    pub charge_rx: bool,
    /// Whether the device decides if its hardware filters by destination.
    pub filter: bool,
    /// Whether the number of aggregates prepared in advance follows from the device.
    pub aggregates: bool,
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
                let rules = rules(version);
                let aql = Some(AqlParams { groups: rules.groups(), ..AqlParams::default() });
                DriverConfig::Fq(mac80211_queues(version), Scheduler::Mac80211(airtime, aql, rules))
            }
            Scheme::Ath9kHtc => DriverConfig::Htc(HtcParams::default()),
            Scheme::Ath10k | Scheme::Ath11k | Scheme::Mt76 => firmware::of(name, version),
        };
        let hardware = HardwareDepth::of(&driver);
        let queues = matches!(driver, DriverConfig::Fq(..) | DriverConfig::Firmware(..));
        let charges = matches!(driver, DriverConfig::Fq(_, ref by) if by.airtime().is_some());
        let aggregates = matches!(driver, DriverConfig::Legacy(_) | DriverConfig::Fq(..));
        Self {
            name,
            driver,
            hardware,
            by_device: ByDevice { memory: queues, charge_rx: charges, filter: false, aggregates },
        }
    }
}

impl Choice {
    /// The same with the numbers of a device that has its driver.
    fn with_numbers_of(mut self, device: &Device) -> Self {
        if let DriverConfig::Firmware(_, _, firmware) = &mut self.driver {
            *firmware = device.firmware;
        }
        self
    }

    /// The same with OpenWrt's own quantum of the airtime scheduler, and its limit for frames to groups.
    // openwrt: package/kernel/mac80211/patches/subsys, commits ea5ebd9c1b63, 95e633efbd1b (23.05.3), 1f5fd5cb9711, 163c87dfc20b - of February and March
    // 2024.
    fn with_quantum(mut self, own: Option<Duration>) -> Self {
        if let (
            DriverConfig::Fq(_, Scheduler::Mac80211(airtime, aql, ..))
            | DriverConfig::Firmware(_, Scheduler::Mac80211(airtime, aql, ..), _),
            Some(own),
        ) = (&mut self.driver, own)
        {
            airtime.quantum = own;
            aql.iter_mut().for_each(|aql| aql.groups = GroupsCount::PATCHED);
        }
        self
    }
}

/// Reads the scheme of an interface of a node with this kernel, and this quantum if it has one of its own: a name, or a table of `kind` and
/// pieces. Without either that of its device, if it names one; that device's numbers are what pieces of its scheme are unless they are given.
pub(super) fn read(
    section: &mut Section<'_>,
    (version, quantum): (Version, Option<Duration>),
    wide: bool,
    device: Option<&Device>,
) -> Result<Choice, Fault> {
    let Some(field) = section.get(KEY.name) else {
        let choice = match device {
            Some(device) => Choice::new(device.scheme, version).with_numbers_of(device),
            None if wide => of_wide(version),
            None => of_kernel(version),
        };
        return Ok(choice.with_quantum(quantum));
    };
    let (kind, section) = field.kind()?;
    let name = Scheme::ALL.iter().find(|(name, _)| *name == kind).map_or(Scheme::Fifo, |(_, scheme)| *scheme);
    let mut choice = Choice::new(name, version).with_quantum(quantum);
    if let Some(device) = device.filter(|device| device.scheme == name) {
        choice = choice.with_numbers_of(device);
    }
    let Some(mut section) = section else { return Ok(choice) };
    match &mut choice.driver {
        DriverConfig::Htc(htc) => {
            htc.limit = section.or("limit", htc.limit)?;
            htc.target_buffers = section.or("target_buffers", htc.target_buffers)?;
            htc.max_frames = section.or("max_frames", htc.max_frames)?;
            let mut faults = Mistakes::default();
            htc.usb = Usb::read(&mut section, &mut faults).params(&mut faults);
            faults.or(())?;
        }
        DriverConfig::Legacy(legacy) => {
            legacy.qlen = section.or("qlen", legacy.qlen)?;
            if section.or("firmware_aggregates", false)? {
                choice.hardware = HardwareDepth::RING;
            }
        }
        DriverConfig::Firmware(fq, scheduler, params) => {
            firmware::read(&mut section, name, params)?;
            if let Scheduler::Mac80211(airtime, aql, rules) = scheduler {
                mac80211(&mut section, fq, airtime, aql, rules)?;
            }
            choice.by_device.memory = !section.has("memory_limit");
            queues(&mut section, fq)?;
            section.finish()?;
            return Ok(choice);
        }
        DriverConfig::Fq(fq, scheduler) => {
            match scheduler {
                Scheduler::RoundRobin(when_full) => {
                    let since =
                        [(ROUND_SINCE[0], WhenFull::LosesTurn), (ROUND_SINCE[1], WhenFull::KeepsTurn)];
                    let own = custom::scheduler(&mut section)?;
                    if own.is_some() {
                        let right = "no `since`, or scheduler = \"round_robin\"";
                        section.idle("since", "under a scheduler of a program's own", right)?;
                    }
                    *when_full = section.or_by("since", *when_full, |field| field.choice(&since))?;
                    if let Some(own) = own {
                        *scheduler = Scheduler::Custom(own);
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
                Scheduler::Custom(_) => {}
            }
            choice.by_device.memory = !section.has("memory_limit");
            queues(&mut section, fq)?;
        }
    }
    let depth = &mut choice.hardware;
    choice.by_device.aggregates &= !section.has("hw_aggregates");
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
fn mac80211_queues(version: Version) -> MacFqParams {
    queues_of(version.max(Some(SINCE[0].1)))
}

fn mac80211(
    section: &mut Section<'_>,
    fq: &mut MacFqParams,
    p: &mut AirtimeParams,
    aql: &mut Option<AqlParams>,
    by: &mut Mac80211Rules,
) -> Result<(), Fault> {
    if let Some(field) = section.get("since") {
        let kernels = SINCE.map(|(name, from)| (name, (rules(Some(from)), queues_of(Some(from)))));
        (*by, *fq) = field.choice(&kernels)?;
        aql.iter_mut().for_each(|aql| aql.groups = by.groups());
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
        for key in ["aql_low", "aql_high", "aql_threshold", "aql_multicast"] {
            section.idle(key, "while aql = false", "none of the limits, or aql = true")?;
        }
    }
    let limits = aql.unwrap_or_default();
    let limits = AqlParams {
        groups: section.or_by("aql_multicast", limits.groups, groups)?,
        low: section.or("aql_low", limits.low)?,
        high: section.or("aql_high", limits.high)?,
        threshold: section.or("aql_threshold", limits.threshold)?,
    };
    *aql = limited.then_some(limits);
    Ok(())
}

/// What frames to groups count for.
fn groups(field: &Field<'_>) -> Result<GroupsCount, Fault> {
    match field.text("") {
        Ok("threshold") => Ok(GroupsCount::InAll),
        Ok("off") => Ok(GroupsCount::Not),
        _ => field
            .value()
            .map(GroupsCount::Limited)
            .map_err(|_| field.wrong("\"threshold\", \"off\" or a time above zero, such as \"50 ms\"")),
    }
}

fn queues(section: &mut Section<'_>, p: &mut MacFqParams) -> Result<(), Fault> {
    p.law = custom::law(section)?;
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
