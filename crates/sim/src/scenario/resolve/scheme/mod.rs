//! A Wi-Fi device's queueing scheme and its options.

mod firmware;

use stillair_model::types::Duration;
use stillair_model::wifi::config::{
    AIRTIME_WEIGHT, AirtimeParams, AqlParams, DriverConfig, GroupsCount, HardwareDepth, HtcParams,
    LegacyParams, Mac80211Rules, MacFqParams, Scheduler, SlowBelow, WhenFull,
};

use super::super::error::{Diagnostic, Diagnostics};
use super::super::reader::{Field, Section};
use super::super::spec::scheme::{
    Airtime, Firmware, Hardware, Htc, Legacy, Limits, Mac80211, Queues, Since, Slow, Turns,
};
use super::super::spec::usb::Usb;
use super::super::spec::{Assign as _, Section as _, custom, idle};
use super::super::{Device, Scheme};
pub(in super::super) use firmware::{ATH11K_AMSDU, ATH11K_FRAMES};

/// Returns the scheduling rules of a kernel. Kernels before the first such scheduler get its rules.
fn rules(version: Version) -> Mac80211Rules {
    match version {
        Some((major, minor)) if Since(major, minor) >= Since::PENDING => Mac80211Rules::RoundsWithPending,
        Some((major, minor)) if Since(major, minor) >= Since::VIRTUAL_TIME => Mac80211Rules::VirtualTime,
        _ => Mac80211Rules::Rounds,
    }
}

/// Returns the MAC queues of a kernel, or those of the paper if the kernel has none.
fn queues_of(version: Version) -> MacFqParams {
    let fq = MacFqParams::default();
    match version {
        // linux: net/mac80211/sta_info.c (6.12.117) - commit 4876376988081d of 2025, also in stable 6.12.
        Some(version) if version >= (6, 16) || version == (6, 12) => {
            fq.as_linux_has_it().with_batches().with_nobody_slow()
        }
        Some(version) if version >= (5, 12) => fq.as_linux_has_it().with_batches(),
        Some(version) if version >= (4, 12) => fq.as_linux_has_it(),
        Some(version) if version >= (4, 10) => fq.as_linux_has_it().with_nobody_slow(),
        _ => fq,
    }
}

/// Kernel version; `None` for systems other than Linux.
pub(in super::super) type Version = Option<(u16, u16)>;

/// Returns the scheme of ath9k in a kernel.
fn of_kernel(version: Version) -> Choice {
    let name = match version {
        Some((5, 1..) | (6.., _)) => Scheme::Mac80211,
        Some((4, 11..) | (5, 0)) => Scheme::Airtime,
        Some((4, 10)) => Scheme::FqMac,
        _ => Scheme::Fifo,
    };
    let mut choice = Choice::new(name, version);
    if let DriverConfig::Fq(_, Scheduler::Mac80211(_, aql, _)) = &mut choice.driver {
        // ath9k reports no airtime to mac80211 by which the queues could be limited.
        *aql = None;
    }
    choice
}

/// Returns the default scheme on channels wider than 40 MHz, which ath9k does not support.
// linux: drivers/net/wireless/mediatek/mt76/mac80211.c (5.7) - introduced airtime queue limits.
fn of_wide(version: Version) -> Choice {
    match version {
        Some(version) if version >= (5, 7) => Choice::new(Scheme::Mt76, Some(version)),
        Some(version) => Choice::new(Scheme::Ath10k, Some(version)),
        None => of_kernel(None),
    }
}

/// Returns the default scheme on a channel of the other width class: up to 40 MHz if `wide` is true, wider if
/// false.
pub(in super::super) fn of_other_width(version: Version, wide: bool) -> Scheme {
    if wide { of_kernel(version).name } else { of_wide(version).name }
}

/// A scheme in the model's terms.
pub(in super::super) struct Choice {
    pub name: Scheme,
    pub driver: DriverConfig,
    pub hardware: HardwareDepth,
    /// Options that depend on the device.
    pub by_device: ByDevice,
}

/// Options that the scenario leaves to the device's capabilities.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in super::super) struct ByDevice {
    /// True if the memory limit of the MAC queues depends on the device.
    pub memory: bool,
    /// True if the device decides whether received frames are charged to stations.
    pub charge_rx: bool,
    /// True if the device decides whether its hardware filters by destination.
    pub filter: bool,
    /// True if the number of aggregates prepared in advance depends on the device.
    pub aggregates: bool,
}

impl Choice {
    /// Returns the scheme with default options.
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
                // linux: net/mac80211/tx.c ieee80211_next_txq (5.1) - a quantum in microseconds equal to the
                // weight.
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
    /// Applies the parameters of a device that uses the scheme's driver.
    fn with_numbers_of(mut self, device: &Device) -> Self {
        if let DriverConfig::Firmware(_, _, firmware) = &mut self.driver {
            *firmware = device.firmware;
        }
        self
    }

    /// Applies OpenWrt's quantum of the airtime scheduler, and its limit for group-addressed frames.
    // openwrt: package/kernel/mac80211/patches/subsys, commits ea5ebd9c1b63, 95e633efbd1b (23.05.3),
    // 1f5fd5cb9711, 163c87dfc20b - February and March 2024.
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

/// Returns the default scheme of an interface: that of its device, if it names one, or that of the kernel.
/// `quantum` is the system's own airtime quantum, if any.
pub(in super::super) fn usual(
    (version, quantum): (Version, Option<Duration>),
    wide: bool,
    device: Option<&Device>,
) -> Choice {
    let choice = match device {
        Some(device) => Choice::new(device.scheme, version).with_numbers_of(device),
        None if wide => of_wide(version),
        None => of_kernel(version),
    };
    choice.with_quantum(quantum)
}

/// Reads a scheme: a name, or a table with `kind` and options. If the named device uses this scheme, its
/// parameters are the defaults.
pub(in super::super) fn read(
    field: &Field<'_>,
    (version, quantum): (Version, Option<Duration>),
    device: Option<&Device>,
) -> Result<Choice, Diagnostic> {
    let (kind, section) = field.kind()?;
    let name = Scheme::ALL.iter().find(|(name, _)| *name == kind).map_or(Scheme::Fifo, |(_, scheme)| *scheme);
    let mut choice = Choice::new(name, version).with_quantum(quantum);
    if let Some(device) = device.filter(|device| device.scheme == name) {
        choice = choice.with_numbers_of(device);
    }
    let Some(mut section) = section else { return Ok(choice) };
    let mut faults = Diagnostics::default();
    pieces(&mut section, &mut choice, &mut faults);
    faults.unless(section.finish());
    faults.or(choice)
}

fn pieces(section: &mut Section<'_>, choice: &mut Choice, faults: &mut Diagnostics) {
    let Choice { driver, hardware, by_device, .. } = choice;
    match driver {
        DriverConfig::Htc(htc) => {
            Htc::read(section, faults).assign(htc);
            htc.usb = Usb::read(section, faults).params(faults);
        }
        DriverConfig::Legacy(legacy) => Legacy::read(section, faults).assign(legacy),
        DriverConfig::Firmware(fq, scheduler, params) => {
            firmware::assign(&Firmware::read(section, faults), params, faults);
            if let Scheduler::Mac80211(airtime, aql, rules) = scheduler {
                mac80211(section, fq, airtime, aql, rules, faults);
            }
            by_device.memory = queues(section, fq, faults);
        }
        DriverConfig::Fq(fq, scheduler) => {
            match scheduler {
                Scheduler::RoundRobin(when_full) => {
                    let custom = faults.unless(custom::scheduler(section)).flatten();
                    let own = Turns::read(section, faults);
                    own.kernel.assign(when_full);
                    if let Some(custom) = custom {
                        let right = "no `kernel`, or scheduler = \"round_robin\"";
                        own.kernel.idle("under a scheduler of a program's own", right, faults);
                        *scheduler = Scheduler::Custom(custom);
                    }
                }
                Scheduler::Airtime(airtime) | Scheduler::AirtimeAsPrinted(airtime) => {
                    let own = Airtime::read(section, faults);
                    own.assign(airtime);
                    uncharged(&own, airtime, faults);
                    by_device.charge_rx = own.charge_rx.place().is_none();
                }
                Scheduler::Mac80211(airtime, aql, rules) => {
                    by_device.charge_rx = mac80211(section, fq, airtime, aql, rules, faults);
                }
                Scheduler::Custom(_) => {}
            }
            by_device.memory = queues(section, fq, faults);
        }
    }
    let own = Hardware::read(section, faults);
    if own.firmware_aggregates.or(false) {
        *hardware = HardwareDepth::RING;
    }
    own.assign(hardware);
    by_device.aggregates &= own.hw_aggregates.place().is_none();
}

/// Rejects a quantum if airtime is never charged.
fn uncharged(own: &Airtime, p: &AirtimeParams, faults: &mut Diagnostics) {
    let misread = own.charge_tx.is_misread() || own.charge_rx.is_misread();
    if !misread && !p.charges() {
        let right = "no quantum, or charge_tx or charge_rx = true";
        own.quantum.idle("while nothing is charged", right, faults);
    }
}

/// Returns the queues under mac80211's airtime scheduler. Kernels before the first such scheduler get its
/// queues.
fn mac80211_queues(version: Version) -> MacFqParams {
    queues_of(version.max(Since::ROUNDS.version()))
}

/// Reads the options of mac80211. Returns true if the device decides whether received frames are charged to
/// stations.
fn mac80211(
    section: &mut Section<'_>,
    fq: &mut MacFqParams,
    p: &mut AirtimeParams,
    aql: &mut Option<AqlParams>,
    by: &mut Mac80211Rules,
    faults: &mut Diagnostics,
) -> bool {
    let own = Mac80211::read(section, faults);
    let airtime = Airtime::read(section, faults);
    let limits = Limits::read(section, faults);
    if let Some(since) = own.kernel.get() {
        (*by, *fq) = (rules(since.version()), queues_of(since.version()));
        aql.iter_mut().for_each(|aql| aql.groups = by.groups());
    }
    own.drop_batch.assign(&mut fq.drop_batch);
    airtime.assign(p);
    let limited = limits.aql.or(true);
    match by {
        _ if own.kernel.is_misread() => {}
        Mac80211Rules::VirtualTime => airtime.quantum.idle(
            "under the rules of 5.14 to 5.19, which serve by virtual time",
            "no quantum, or `kernel` of another kernel",
            faults,
        ),
        // Pending airtime counts as used.
        Mac80211Rules::RoundsWithPending if limited => {}
        Mac80211Rules::Rounds | Mac80211Rules::RoundsWithPending => uncharged(&airtime, p, faults),
    }
    if limited {
        limits.assign(aql.get_or_insert_default());
    } else {
        let Limits { aql_low, aql_high, aql_threshold, aql_multicast, .. } = &limits;
        let keys = [aql_low.place(), aql_high.place(), aql_threshold.place(), aql_multicast.place()];
        idle(keys, "while aql = false", "none of the limits, or aql = true", faults);
        *aql = None;
    }
    airtime.charge_rx.place().is_none()
}

/// Reads the options of the MAC queues. Returns true if their memory limit depends on the device.
fn queues(section: &mut Section<'_>, p: &mut MacFqParams, faults: &mut Diagnostics) -> bool {
    p.aqm = faults.unless(custom::aqm(section)).flatten();
    let own = Queues::read(section, faults);
    let slow = Slow::read(section, faults);
    own.assign(p);
    slow.assign(p);
    if let Some(rate) = slow.slow_below.get() {
        p.slow_below = SlowBelow::Rate(*rate);
    }
    let codel = [own.target.place(), own.interval.place(), own.ecn.place()];
    let codel_slow = [own.slow_target.place(), own.slow_interval.place(), own.slow_ecn.place()];
    if p.aqm.is_some() {
        let (why, right) = ("under an AQM of a program's own", "options of that, or aqm = \"codel\"");
        idle(codel, why, right, faults);
        idle(codel_slow, why, right, faults);
    }
    if p.slow_below == SlowBelow::NOBODY && !slow.slow_below.is_misread() {
        let (why, right) = ("while no station is slow", "none of them, or slow_below beside it");
        idle(codel_slow, why, right, faults);
        slow.hysteresis.idle(why, right, faults);
    }
    own.memory_limit.place().is_none()
}
