//! Notes on a scenario: problems that are not errors. The scenario runs unchanged, and the notes are printed
//! with the results.

use stillair_model::types::Duration;
use stillair_model::wifi::config::{
    AIRTIME_WEIGHT, AirtimeReport, DriverConfig, FirmwareParams, Mac80211Rules, RetryCount, Scheduler,
};
use stillair_model::wifi::phy::errors::{ErrorTable, Snr};
use stillair_model::wifi::phy::{DsssRate, HeRate, HtRate, OfdmRate, PhyRate, VhtRate, Width};
use stillair_model::wire::WireParams;

use super::resolve::device::{FIRMWARE_RETRY_LIMIT, retry_limit};
use super::resolve::scheme::{ATH11K_AMSDU, ATH11K_FRAMES};
use super::shaped::shaped;
use super::spec::power::PHONE_TIMEOUT;
use super::{
    Attachment, Device, Errors, FlowKind, Interface, InterfaceRef, Link, Node, Profile, Rates, Role,
    Scenario, Scheme, SnrSteps, Station, Wifi,
};

/// Wire size of a full frame: an IP packet of 1,500 bytes with all headers and the FCS.
pub(super) const FRAME: u32 = 1_538;
/// Frame loss above which a rate is reported.
const LOST: f64 = 0.5;
/// Maximum frame loss of the rates suggested instead; the limit in the definition of receiver sensitivity.
// spec: ieee80211-2020 19.3.20.2 - receiver minimum input sensitivity: at most 10 % of frames are lost.
pub(super) const WORKS: f64 = 0.1;

impl Scenario {
    /// Returns the notes, each a sentence that starts with the key it concerns. `not known: ` after the key
    /// marks assumptions that no source documents.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = self.idle.clone();
        for (node, n) in self.nodes.iter().enumerate() {
            notes.extend(borrowed(n));
            for (interface, i) in n.interfaces.iter().enumerate() {
                let own = InterfaceRef { node, interface };
                let at = self.interface_name(own);
                let (name, interface) = at.split_once('.').unwrap_or((&at, ""));
                let key = format!("node.{name}.interface.{interface}");
                let wifi = match &i.medium {
                    Attachment::Wifi(wifi) => wifi,
                    Attachment::Wired { link } => {
                        notes.extend(too_fast(&key, i, own, &self.links[*link]));
                        continue;
                    }
                };
                notes.extend(unknown(&key, wifi));
                notes.extend(unknown_retries(&key, wifi));
                notes.extend(self.unused_retries(&key, wifi));
                notes.extend(self.turns(&key, wifi, own));
                notes.extend(unfair(&key, wifi));
                notes.extend(uncharged(&key, wifi));
                notes.extend(self.sleeps(&key, wifi));
                notes.extend(self.beyond(&key, wifi));
                let Role::Station(station) = &wifi.role else { continue };
                if let Errors::Noise(steps) = &station.errors {
                    notes.extend(deaf(&key, station, steps));
                }
                notes.extend(self.foreign(&key, station, &wifi.driver));
                notes.extend(self.old_groups(&key, station, node));
                notes.extend(self.windows(&key, station, wifi));
                notes.extend(self.weightless(&key, station));
            }
        }
        notes.extend(self.compound());
        notes.extend(self.outages());
        notes.extend(self.starts());
        notes
    }
}

/// Note on airtime flags that charge no station, which does not result in round robin.
// linux: net/mac80211/tx.c __ieee80211_schedule_txq (6.12), drivers/net/wireless/ath/ath9k/xmit.c
// ath_txq_schedule (6.12) - a station that finds the hardware full moves to the end of the list, and all
// stations after it find it full as well.
fn unfair(key: &str, wifi: &Wifi) -> Option<String> {
    let DriverConfig::Fq(_, Scheduler::Mac80211(airtime, _, rules)) = &wifi.driver else { return None };
    (!airtime.charges() && *rules != Mac80211Rules::VirtualTime).then(|| {
        format!(
            "{key}.scheme: with charge_tx and charge_rx false (airtime_flags 0) one station may hold the air while it has frames, as measured of Linux 6.12; for stations in turn try fq_mac"
        )
    })
}

/// Note on airtime charges that the firmware does not report.
fn uncharged(key: &str, wifi: &Wifi) -> Option<String> {
    let DriverConfig::Firmware(_, scheduler, firmware) = &wifi.driver else { return None };
    let airtime = scheduler.airtime()?;
    if firmware.airtime == AirtimeReport::Frames && airtime.charge_rx {
        return Some(format!(
            "{key}.scheme.charge_rx: no effect: airtime_report = \"frames\" counts sent frames only; try \"counters\""
        ));
    }
    let names = if firmware.airtime == AirtimeReport::Frames { "frames" } else { "counters" };
    (!airtime.charges() && firmware.airtime != AirtimeReport::Nothing).then(|| {
        format!(
            "{key}.scheme.airtime_report: no effect of {names:?} with charge_tx and charge_rx false: no station is charged"
        )
    })
}

impl Scenario {
    /// Note on the order in which an access point's firmware serves its stations.
    fn turns(&self, key: &str, wifi: &Wifi, ap: InterfaceRef) -> Option<String> {
        let (DriverConfig::Firmware(_, _, firmware), Role::Ap) = (&wifi.driver, &wifi.role) else {
            return None;
        };
        let media = self.nodes.iter().flat_map(|n| &n.interfaces).map(|i| &i.medium);
        let is_its = |medium: &&Attachment| matches!(medium, Attachment::Wifi(Wifi { role: Role::Station(s), .. }) if s.ap == ap);
        let unsure = !firmware.shares_airtime && media.filter(is_its).nth(1).is_some();
        let other = if wifi.scheme == Scheme::Mt76 {
            "; try scheme = { kind = \"mt76\", vow_atf = true }, as MT7916 and newer have it"
        } else {
            ""
        };
        unsure.then(|| {
            format!(
                "{key}.scheme: not known: how the firmware of {} chooses among stations; an aggregate each in turn is assumed{other}",
                wifi.scheme.name()
            )
        })
    }

    /// Notes on assumptions about power save.
    fn sleeps(&self, key: &str, wifi: &Wifi) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(("phone", params)) = wifi.power_save
            && params.timeout == PHONE_TIMEOUT
        {
            notes.push(format!(
                "{key}.power_save: not known: when a telephone sleeps, as makers choose; 200 ms are assumed, as of qcacld; try timeout = \"20 ms\" and \"400 ms\""
            ));
        }
        if let Some(scan) = wifi.scan
            && let Some(every) = scan.interval
        {
            notes.push(format!(
                "{key}.scan: not known: how often devices scan; each {} s is this scenario's choice",
                every.secs_f64()
            ));
        }
        let firmware = matches!(wifi.driver, DriverConfig::Firmware(..));
        if firmware && matches!(wifi.role, Role::Ap) && self.has_savers(wifi) {
            notes.push(format!(
                "{key}.scheme: not known: how many frames the firmware of {} keeps for stations that sleep; no limit but those of the host's queues is assumed",
                wifi.scheme.name()
            ));
        }
        notes
    }

    /// Returns true if a station of this access point uses power save or scans.
    pub(super) fn has_savers(&self, ap: &Wifi) -> bool {
        let all = self.nodes.iter().flat_map(|n| &n.interfaces);
        let own = |at: InterfaceRef| match &self.nodes[at.node].interfaces[at.interface].medium {
            Attachment::Wifi(wifi) => core::ptr::eq(wifi, ap),
            Attachment::Wired { .. } => false,
        };
        all.filter_map(|i| if let Attachment::Wifi(wifi) = &i.medium { Some(wifi) } else { None }).any(
            |wifi| {
                (wifi.power_save.is_some() || wifi.scan.is_some())
                    && matches!(&wifi.role, Role::Station(station) if own(station.ap))
            },
        )
    }
    /// Notes on rate control that the transmitter's driver does not use.
    // linux: drivers/net/wireless/ath/ath9k/htc_drv_init.c (4.14) - sets HAS_RATE_CONTROL: bypasses
    // mac80211's rate control.
    fn foreign(&self, key: &str, station: &Station, own: &DriverConfig) -> Vec<String> {
        let ap = &self.nodes[station.ap.node].interfaces[station.ap.interface].medium;
        let Attachment::Wifi(ap) = ap else { return Vec::new() };
        let ends = [
            ("rate", "the access point", &station.rates, &ap.driver),
            ("uplink_rate", "it", &station.uplink, own),
        ];
        let one = |(option, whose, rates, driver): (&str, &str, &Rates, &DriverConfig)| {
            let of_host = matches!(rates, Rates::MinstrelHt(..) | Rates::Minstrel(_));
            let of_firmware = matches!(rates, Rates::Ath9kHtc(_));
            match driver {
                DriverConfig::Htc(_) if of_host => Some(format!(
                    "{key}.{option}: {whose} has the scheme ath9k_htc, whose firmware chooses rates itself: `ath9k_htc` is its rate control"
                )),
                DriverConfig::Legacy(_) | DriverConfig::Fq(..) | DriverConfig::Firmware(..)
                    if of_firmware =>
                {
                    Some(format!(
                        "{key}.{option}: ath9k_htc is the rate control of the firmware behind the scheme ath9k_htc, which {whose} has not"
                    ))
                }
                DriverConfig::Firmware(..) if of_host => Some(format!(
                    "{key}.{option}: not known: the rate control of the firmware that {whose} has; Minstrel stands in for it (mt76's chips of 802.11ac leave it to Minstrel-HT)"
                )),
                _ => None,
            }
        };
        ends.into_iter().filter_map(one).collect()
    }
}

impl Scenario {
    /// Notes on VHT groups that the kernel lacks or has only as an option.
    fn old_groups(&self, key: &str, station: &Station, node: usize) -> Vec<String> {
        let ends = [("rate", station.ap.node, &station.rates), ("uplink_rate", node, &station.uplink)];
        let one = |(option, node, rates): (&str, usize, &Rates)| {
            let (own, Rates::MinstrelHt(can, _)) = (&self.nodes[node], rates) else { return Vec::new() };
            let (profile, name) = (&own.profile, &own.name);
            if !rates.has_vht_groups() {
                return Vec::new();
            }
            let option_of_build = profile.vht_groups_are_an_option().then(|| {
                format!(
                    "{key}.{option}: minstrel_ht of {} ({name}) has rates of VHT only if built with MAC80211_RC_MINSTREL_VHT, which it is taken to be",
                    profile.name
                )
            });
            let most = profile.most_vht_streams();
            let fewer = (can.streams > most).then(|| {
                format!("{key}.{option}: minstrel_ht of {} ({name}) has rates of {most} streams at most, which stand for {}", profile.name, can.streams)
            });
            option_of_build.into_iter().chain(fewer).collect()
        };
        ends.into_iter().flat_map(one).collect()
    }
}

impl Scenario {
    /// Returns the rates that a device sends at, for each of its links.
    fn sends_at<'a>(&'a self, wifi: &'a Wifi) -> impl Iterator<Item = &'a Rates> {
        let media = self.nodes.iter().flat_map(|n| &n.interfaces).map(|i| &i.medium);
        media.filter_map(move |medium| match medium {
            Attachment::Wifi(Wifi { role: Role::Station(station), .. }) => match &wifi.role {
                Role::Station(own) => core::ptr::eq(own, station).then_some(&station.uplink),
                Role::Ap => core::ptr::eq(self.wifi_at(station.ap), wifi).then_some(&station.rates),
            },
            _ => None,
        })
    }

    /// Notes on overridden retry rules that have no effect.
    fn unused_retries(&self, key: &str, wifi: &Wifi) -> Vec<String> {
        let mut notes = Vec::new();
        let learns = |rates: &Rates| !matches!(rates, Rates::Fixed(_));
        if wifi.report_failed_ppdus != wifi.driver.reports_failed_ppdus() && !self.sends_at(wifi).any(learns)
        {
            notes.push(format!(
                "{key}.report_failed_ppdus: no effect: all its rates are fixed; a rate control such as `minstrel_ht` uses reports"
            ));
        }
        let aggregates = |rates: &Rates| rates.all().iter().any(|rate| rate.aggregates());
        let of_sessions = RetryCount::of(&wifi.driver) != RetryCount::Tries;
        if of_sessions
            && (wifi.retry_limit, wifi.retry_limit_by_rate) != (retry_limit(wifi.scheme, wifi.device), false)
            && !self.sends_at(wifi).any(aggregates)
        {
            notes.push(format!(
                "{key}.retry_limit: no effect: {} applies retry_limit and retry_limit_by_rate in Block Ack sessions, and rates without HT have none; retry_chain sets the tries",
                wifi.scheme.name()
            ));
        }
        notes
    }

    /// Note on an airtime weight that the firmware's scheduler ignores.
    // linux: net/mac80211/tx.c ieee80211_next_txq, ieee80211_txq_airtime_check (6.12) - weights only decide
    // which station fills the firmware's queues first. Each station may have aql_low of airtime queued there
    // regardless of its weight, and the firmware chooses among them.
    fn weightless(&self, key: &str, station: &Station) -> Option<String> {
        let ap = self.wifi_at(station.ap);
        let below = matches!(ap.driver, DriverConfig::Firmware(..));
        (below && station.airtime_weight != AIRTIME_WEIGHT).then(|| {
            format!(
                "{key}.airtime_weight: little effect with {}: the firmware schedules stations and ignores weights; use scheme `mac80211`",
                ap.scheme.name()
            )
        })
    }
}

impl Scenario {
    /// Note on an HE link whose ends have different Block Ack windows.
    fn windows(&self, key: &str, station: &Station, own: &Wifi) -> Option<String> {
        let ap = &self.nodes[station.ap.node].interfaces[station.ap.interface].medium;
        let Attachment::Wifi(ap) = ap else { return None };
        let (own, ap) = (own.block_ack_window, ap.block_ack_window);
        (station.can_he() && own != ap).then(|| {
            let (least, whose) = if own < ap { (own, "it") } else { (ap, "its access point") };
            format!("{key}: windows of Block Ack sessions have {least} frames, as {whose} has no more (block_ack_window)")
        })
    }
}

impl Scenario {
    /// Notes on settings that the named device does not support: driver, channel width, or rates.
    fn beyond(&self, key: &str, wifi: &Wifi) -> Vec<String> {
        let Some(device) = wifi.device else { return Vec::new() };
        let mut notes = Vec::new();
        if wifi.scheme != device.scheme {
            notes.push(format!(
                "{key}.scheme: {} in place of {}, which {} has: of the device only its Block Ack window and what it announces count",
                wifi.scheme.name(),
                device.scheme.name(),
                device.name
            ));
        }
        let width = self.channels[wifi.channel].width.megahertz();
        if width > device.width.into() {
            notes.push(format!(
                "{key}.device: {} has channels of {} MHz, and this one has {width}",
                device.name, device.width
            ));
        }
        let rates: Vec<PhyRate> = match &wifi.role {
            Role::Station(own) => own.all_rates().collect(),
            Role::Ap => {
                let media = self.nodes.iter().flat_map(|n| &n.interfaces).map(|i| &i.medium);
                let links = media.filter_map(|medium| match medium {
                    Attachment::Wifi(Wifi { role: Role::Station(station), .. }) => Some(station),
                    Attachment::Wifi(_) | Attachment::Wired { .. } => None,
                });
                let own = |station: &&Station| core::ptr::eq(self.wifi_at(station.ap), wifi);
                links.filter(own).flat_map(Station::all_rates).collect()
            }
        };
        let most = rates.iter().map(|rate| rate.streams()).max();
        if let Some(most) = most.filter(|&most| most > device.streams) {
            notes.push(format!(
                "{key}.device: {} has {} streams, and its links have rates of {most}",
                device.name, device.streams
            ));
        }
        let wide = rates.iter().filter(|rate| rate.width() == Width::Mhz160).map(|rate| rate.streams()).max();
        if let Some(most) = wide.filter(|&most| most > device.streams_160 && most <= device.streams) {
            notes.push(format!(
                "{key}.device: {} has {} streams in 160 MHz, and its links have rates of {most}",
                device.name, device.streams_160
            ));
        }
        if !device.he && rates.iter().any(|rate| matches!(rate, PhyRate::He(_))) {
            notes.push(format!(
                "{key}.device: {} has no rates of 802.11ax, and its links have some",
                device.name
            ));
        }
        notes
    }

    fn wifi_at(&self, at: InterfaceRef) -> &Wifi {
        match &self.nodes[at.node].interfaces[at.interface].medium {
            Attachment::Wifi(wifi) => wifi,
            Attachment::Wired { .. } => unreachable!("stations have access points"),
        }
    }
}

/// Notes on a qdisc whose rate exceeds that of the interface's link.
fn too_fast(key: &str, interface: &Interface, own: InterfaceRef, link: &Link) -> Vec<String> {
    let out = usize::from(link.ends[0] != own);
    let rate = |params: &WireParams| match params {
        WireParams::Access(_, line) => Some(("line", line.rate.bps())),
        WireParams::Ethernet(ethernet) => Some(("link", ethernet.rate.bps())),
        WireParams::Veth => None,
    };
    let ways = [
        ("what leaves", shaped(&interface.qdisc.config), out),
        ("what comes in", interface.ingress.as_ref().and_then(shaped), 1 - out),
    ];
    let one = |(what, bps, way): (&str, Option<u64>, usize)| {
        let (bps, (of, most)) = (bps?, rate(&link.params[way])?);
        let mbps = |bps: u64| bps as f64 / 1e6;
        (bps > most && most > 0).then(|| {
            format!(
                "{key}: {what} is shaped to {} Mbit/s, and its {of} carries {}: packets wait before that {of}, where the shaper does not see them",
                mbps(bps),
                mbps(most)
            )
        })
    };
    let lone = match (ways[0].1, ways[1].1) {
        (Some(_), None) => {
            Some("leaves is shaped: what comes in waits in the line's own buffer; shaper.down shapes it")
        }
        (None, Some(_)) => Some("comes in is shaped: what leaves waits in the modem; shaper.up shapes it"),
        _ => None,
    };
    let is_line = matches!(link.params[out], WireParams::Access(..));
    let lone = lone.filter(|_| is_line).map(|which| format!("{key}: only what {which}"));
    ways.into_iter().filter_map(one).chain(lone).collect()
}

/// Notes on undocumented firmware behaviour, while the assumed values are in use.
fn unknown(key: &str, wifi: &Wifi) -> Vec<String> {
    let DriverConfig::Firmware(_, _, firmware) = &wifi.driver else { return Vec::new() };
    let name = wifi.scheme.name();
    let device = wifi.device.filter(|device| device.scheme == wifi.scheme);
    let joins = match wifi.scheme {
        Scheme::Ath11k if device.is_none() && firmware.amsdu_frames == ATH11K_AMSDU => Some(format!(
            "{key}.scheme: not known: how many packets the firmware of {name} joins into an MPDU; {ATH11K_AMSDU} at most are assumed; try scheme = {{ kind = \"{name}\", amsdu_frames = 1 }}, and 7"
        )),
        Scheme::Ath10k | Scheme::Mt76 if firmware.amsdu_frames > 1 && !firmware.host_joins => Some(format!(
            "{key}.scheme: not known: when the firmware of {name} joins packets into an MPDU; whenever it may is assumed; try scheme = {{ kind = \"{name}\", amsdu_frames = 1 }}"
        )),
        _ => None,
    };
    if let Some(device) = device {
        return assumed(key, firmware, device).chain(joins).collect();
    }
    let first = match wifi.scheme {
        Scheme::Ath11k if firmware.frames == ATH11K_FRAMES => Some(format!(
            "{key}.scheme: not known: how many frames the firmware of {name} keeps; {ATH11K_FRAMES} are assumed; try scheme = {{ kind = \"{name}\", frames = 512 }}, and 32767"
        )),
        Scheme::Ath10k | Scheme::Mt76 if firmware.report_delay == Duration::ZERO => Some(format!(
            "{key}.scheme: not known: when the firmware of {name} reports frames; after each PPDU is assumed; try scheme = {{ kind = \"{name}\", report_delay = \"1 ms\" }}, as ath11k has it"
        )),
        _ => None,
    };
    first.into_iter().chain(joins).collect()
}

/// Notes on undocumented retry rules, while the assumed values are in use.
fn unknown_retries(key: &str, wifi: &Wifi) -> Vec<String> {
    let name = wifi.scheme.name();
    let mut notes = Vec::new();
    if let Scheme::Ath10k | Scheme::Ath11k = wifi.scheme {
        if wifi.retry_limit == FIRMWARE_RETRY_LIMIT {
            notes.push(format!(
                "{key}.retry_limit: not known: the retry limit of the firmware of {name}; {FIRMWARE_RETRY_LIMIT} is assumed (qcacld's default); compare 4 and 64"
            ));
        }
        notes.push(format!(
            "{key}.scheme: not known: what the firmware of {name} does with frames during Block Ack negotiation; it is assumed to hold them, as mac80211 does for mt76"
        ));
    }
    notes
}

/// Notes on undocumented properties of a device, while the assumed values are in use. The number of streams
/// and the widths of a board change no result.
fn assumed<'a>(
    key: &'a str,
    firmware: &'a FirmwareParams,
    device: &'a Device,
) -> impl Iterator<Item = String> + 'a {
    device.unknown.iter().filter_map(move |(what, range)| {
        let (assumed, what) = match *what {
            "frames" => (firmware.frames == device.firmware.frames, "frames"),
            "report_delay" => (firmware.report_delay == device.firmware.report_delay, "report_delay"),
            "amsdu_frames" => (firmware.amsdu_frames == device.firmware.amsdu_frames, "amsdu_frames"),
            "amsdu_bytes" => (true, "the longest MPDU in bytes that the firmware receives"),
            "streams" | "width" => (false, ""),
            other => (true, other),
        };
        let name = device.name;
        assumed.then(|| format!("{key}.device: not known: {what} of {name}; {range}"))
    })
}

/// Note on defaults of a system other than Linux that no source documents.
fn borrowed(node: &Node) -> Option<String> {
    let Profile { name, assumed: Some((major, minor)), .. } = node.profile else { return None };
    Some(format!(
        "node.{}.profile: not known: defaults of {name} that no source states; those of linux-{major}.{minor} are assumed",
        node.name
    ))
}

impl Scenario {
    /// Notes on Compound TCP's weight, per TCP flow that uses Compound.
    fn compound(&self) -> impl Iterator<Item = String> + '_ {
        self.flows.iter().filter_map(|flow| match &flow.kind {
            FlowKind::Tcp { congestion_control, .. } if congestion_control.name() == "compound" => {
                Some(format!(
                    "flow.{}.congestion_control: not known: the weight of a new sample in Compound's gamma; 0.8 is assumed",
                    flow.name
                ))
            }
            _ => None,
        })
    }
}

/// Notes on rates that the path's signal-to-noise ratio cannot support, each at its lowest ratio.
fn deaf(key: &str, station: &Station, steps: &SnrSteps) -> Vec<String> {
    let mut uses = vec![("rate", &station.rates)];
    if station.uplink != station.rates {
        uses.push(("uplink_rate", &station.uplink));
    }
    let worst = steps.iter().min_by_key(|(_, snr)| *snr);
    let Some((at, snr)) = worst else { return Vec::new() };
    let when = if steps.iter().count() > 1 { format!(" from {} s on", at.secs_f64()) } else { String::new() };
    let table = ErrorTable::new(snr);
    let one = |(option, rates): (&str, &Rates)| {
        let (what, rate) = match rates {
            // The chain falls back, but always starts with its first rate.
            Rates::Fixed(chain) => (chain.entries()[0].rate.to_string(), chain.entries()[0].rate),
            Rates::MinstrelHt(..) | Rates::Minstrel(_) | Rates::Ath9kHtc(_) => {
                let all = rates.all();
                let best = all.into_iter().min_by(|a, b| lost(&table, *a).total_cmp(&lost(&table, *b)))?;
                (format!("{best}, the most robust of its rates"), best)
            }
        };
        let share = lost(&table, rate);
        (share > LOST).then(|| {
            let right = match fastest(&table, rate) {
                Some(works) => {
                    format!("`{works}` is the fastest rate of its kind that loses less than a tenth")
                }
                None => "no rate of its kind loses less than a tenth".to_owned(),
            };
            format!(
                "{key}.{option}: {}{when}, where {:.0} % of full frames at {what} are lost; {right}",
                decibels(snr),
                (100.0 * share).floor()
            )
        })
    };
    uses.into_iter().filter_map(one).collect()
}

fn decibels(Snr(milli): Snr) -> String {
    format!("the signal is {:.1} dB above the noise of 20 MHz", f64::from(milli) / 1e3)
}

/// Returns the probability that a full frame is lost, by a preamble or payload error.
pub(super) fn lost(table: &ErrorTable, rate: PhyRate) -> f64 {
    1.0 - (1.0 - table.unheard(rate)) * (1.0 - table.broken(rate, FRAME))
}

/// Returns the fastest working rate similar to `like`: same amendment and guard interval, and at most the
/// same width and number of streams.
pub(super) fn fastest(table: &ErrorTable, like: PhyRate) -> Option<PhyRate> {
    let all: Vec<PhyRate> = match like {
        PhyRate::Ht(r) => {
            let widths = [Width::Mhz20, Width::Mhz40].into_iter().filter(|&width| width <= r.width);
            let one = |width| (0..8 * like.streams()).map(move |mcs| HtRate { mcs, width, ..r });
            widths.flat_map(one).map(PhyRate::Ht).collect()
        }
        PhyRate::Vht(r) => {
            let fits = |o: &VhtRate| o.gi == r.gi && o.width <= r.width && o.streams <= r.streams;
            VhtRate::all().filter(fits).map(PhyRate::Vht).collect()
        }
        PhyRate::He(r) => {
            let fits = |o: &HeRate| o.gi == r.gi && o.width <= r.width && o.streams <= r.streams;
            HeRate::all().filter(fits).map(PhyRate::He).collect()
        }
        PhyRate::Ofdm(_) => OfdmRate::ALL.map(PhyRate::Ofdm).to_vec(),
        PhyRate::Dsss(_, preamble) => DsssRate::ALL.map(|r| PhyRate::Dsss(r, preamble)).to_vec(),
    };
    all.into_iter().filter(|&rate| lost(table, rate) < WORKS).max_by_key(|rate| rate.rate())
}
