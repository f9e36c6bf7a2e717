//! Power save and background scans of a station, and the beacon parameters of an access point for both.

use stillair_model::vocabulary::{Ac, Duration};
use stillair_model::wifi::power::saver::{Listen, Retrieve, SaverParams};
use stillair_model::wifi::power::scan::ScanParams;

use super::super::contract::{Form, Key, Shape};
use super::super::error::Fault;
use super::super::reader::{Field, Section};
use super::super::{Attachment, Channel, InterfaceRef, Node, Role, Scheme, Station, Wifi};

const OWN: &str = "that of the kind";

const LISTEN: Form = Form::Either(&[Form::Choice(&["dtim"]), Form::Integer(1, 255)]);

const SAVER: &[Key] = &[
    Key::open(
        "timeout",
        Form::Time,
        OWN,
        "time without traffic after which it sleeps; with `0 ms` it always sleeps, and still sends",
    ),
    Key::open(
        "listen_interval",
        LISTEN,
        OWN,
        "which beacons it listens to while it sleeps: every DTIM, or every N beacons",
    ),
    Key::open(
        "retrieve",
        Form::Choice(&["null", "ps_poll"]),
        OWN,
        "how it fetches waiting frames: it announces with a null frame that it is awake, or requests one frame at a time with PS-Polls",
    ),
    Key::open(
        "uapsd",
        Form::List(&Form::Choice(&["VO", "VI", "BE", "BK"])),
        "none",
        "access categories with U-APSD: a frame it sends in one of them triggers a service period and does not wake it",
    ),
    Key::open(
        "max_sp",
        Form::Either(&[Form::Choice(&["all"]), Form::Numbers(&[2, 4, 6])]),
        "`all`",
        "most frames in a U-APSD service period",
    ),
    Key::open(
        "trigger_interval",
        Form::Period,
        "never",
        "time after which a null frame triggers a service period if no other frame has",
    ),
];

/// A shape of power save.
macro_rules! saver {
    ($name:ident, $kind:literal, $title:literal, $about:literal) => {
        static $name: Shape =
            Shape { title: $title, about: $about, groups: &[&[Key::tag("kind", $kind)], SAVER] };
    };
}

static OFF: Shape =
    Shape { title: "No power save", about: "It is always awake.", groups: &[&[Key::tag("kind", "off")]] };
saver!(
    MAC80211,
    "mac80211",
    "Power save of mac80211",
    "As mac80211 does it for drivers that leave it to it, such as ath9k: asleep after 100 ms, each beacon, awake for what waits."
);
saver!(
    IWLWIFI,
    "iwlwifi",
    "Power save of iwlwifi",
    "As Intel's firmware is told to do it: asleep after 100 ms, each DTIM, awake for what waits."
);
saver!(
    ATH10K,
    "ath10k",
    "Power save of ath10k and ath11k",
    "As their firmware is told to do it: asleep after 102 ms, each DTIM, awake for what waits."
);
saver!(
    BRCMFMAC,
    "brcmfmac",
    "Power save of brcmfmac",
    "As Linux tells Broadcom's firmware, in a Raspberry Pi or a Mac: asleep after 2 s, each DTIM, awake for what waits."
);
saver!(
    MWIFIEX,
    "mwifiex",
    "Power save of mwifiex",
    "As Linux tells Marvell's firmware, in a Surface or a Chromebook: asleep after 1 s, each DTIM, awake for what waits."
);
saver!(
    QCACLD,
    "qcacld",
    "Power save of qcacld-3.0",
    "As Qualcomm's driver of Android telephones has it where their maker changes nothing: asleep after 200 ms, each DTIM, awake for what waits."
);
saver!(
    PHONE,
    "phone",
    "Power save of a telephone",
    "Asleep after 200 ms, each DTIM, awake for what waits. Makers choose the time: Qualcomm's qcacld-3.0 has 200 ms, its older driver 20 ms."
);
saver!(
    STATIC,
    "static",
    "Power save all the time",
    "As mac80211 does it without a timeout, and as stations of 1997 did: it always sleeps, hears each beacon, and asks for one frame after the other."
);

const SAVERS: Form = Form::Kinds {
    shapes: &[&OFF, &MAC80211, &IWLWIFI, &ATH10K, &BRCMFMAC, &MWIFIEX, &QCACLD, &PHONE, &STATIC],
    bare: true,
};

const CHANNELS: Form = Form::Integer(0, 100);

const SCAN: &[Key] = &[
    Key::open("every", Form::Period, "one scan", "from the beginning of a scan to that of the next"),
    Key::or("start", Form::Time, "1 s", "when the first scan begins"),
    Key::or(
        "active_channels",
        CHANNELS,
        "19",
        "other channels where it sends probe requests: 11 at 2.4 GHz and 9 at 5 GHz, without its own",
    ),
    Key::or("passive_channels", CHANNELS, "16", "channels where it only listens, such as DFS channels"),
    Key::open("dwell_active", Form::Period, OWN, "time on each channel where it sends probe requests"),
    Key::open("dwell_passive", Form::Period, OWN, "time on each channel where it only listens"),
    Key::open("away", Form::Time, OWN, "it visits several channels in a row, up to this time away"),
    Key::open("home", Form::Period, OWN, "time back on its own channel in between"),
    Key::open(
        "home_busy",
        Form::Period,
        OWN,
        "the same if it has frames to send when it returns; at least `home`",
    ),
    Key::or(
        "settle",
        Form::Time,
        "0 ms",
        "from when its access point knows until it leaves, which counts as away: 100 ms with drivers of mac80211 without `flush`",
    ),
];

macro_rules! scan {
    ($name:ident, $kind:literal, $title:literal, $about:literal) => {
        static $name: Shape =
            Shape { title: $title, about: $about, groups: &[&[Key::tag("kind", $kind)], SCAN] };
    };
}

scan!(
    SOFTWARE,
    "mac80211",
    "Scans of mac80211",
    "In software, as with ath9k: 60 ms on a channel (111 ms to listen), away for 125 ms at most, back for 200 ms."
);
scan!(
    INTEL,
    "iwlwifi",
    "Scans of iwlwifi",
    "By Intel's firmware at low load: 10 time units of 1.024 ms on a channel (110 to listen), away for 120, back for 30, and for 120 where it is busy."
);
scan!(
    ATHEROS,
    "ath10k",
    "Scans of ath10k and ath11k",
    "By their firmware: 50 ms on a channel (150 ms to listen), one at a time, back for 50 ms, and for 500 ms where it is busy."
);

scan!(
    AP_SOFTWARE,
    "mac80211",
    "Scans of an access point by mac80211",
    "In software, as with ath9k: 60 ms on a channel (111 ms to listen), and all of them without coming back, as no station of its own is associated."
);

// linux: drivers/net/wireless/ath/ath10k/mac.c NL80211_FEATURE_AP_SCAN (6.12), which iwlwifi does not have; net/mac80211/main.c (6.12) - and
// mac80211 for drivers that leave scans to it.
const AP_SCANS: Form = Form::Kinds { shapes: &[&AP_SOFTWARE, &ATHEROS], bare: true };

const SCANS: Form = Form::Kinds { shapes: &[&SOFTWARE, &INTEL, &ATHEROS], bare: true };

/// Keys of a station.
pub(super) const STATION: &[Key] = &[
    Key::or("power_save", SAVERS, "off", "whether the station sleeps when idle"),
    Key::open("scan", SCANS, "never", "looks at other channels while it is associated"),
];

/// Keys of an access point.
// hostapd: src/ap/ap_config.c hostapd_config_defaults (2.10) - 2.
pub(super) const AP: &[Key] = &[
    Key::open(
        "dtim_period",
        Form::Integer(1, 255),
        "2 if a station saves power or scans",
        "every n-th beacon is a DTIM",
    ),
    Key::open(
        "scan",
        AP_SCANS,
        "never",
        "looks at other channels while it has stations: it sends neither beacons nor frames meanwhile, and hears none of theirs. Linux does so with \
         `iw dev wlan0 scan ap-force`, OpenWrt at each scan",
    ),
];

/// The DTIM period of an access point that says nothing.
pub(super) const DTIM_PERIOD: u32 = 2;

const fn tu(n: u64) -> Duration {
    Duration::from_micros(1_024 * n)
}

const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// What the kinds of power save are.
// linux: net/mac80211/mlme.c ieee80211_recalc_ps, drivers/net/wireless/intel/iwlwifi/mvm/constants.h IWL_MVM_DEFAULT_PS_TX_DATA_TIMEOUT,
// drivers/net/wireless/ath/ath10k/mac.c ath10k_mac_vif_setup_ps (6.12) - 100 ms, 100 ms, and the beacon interval.
// linux: net/mac80211/mlme.c ieee80211_rx_mgmt_beacon (6.12) - with a timeout a null frame, without one PS-Polls.
fn saver(kind: &str) -> SaverParams {
    let each = |timeout, listen| SaverParams {
        timeout,
        listen,
        retrieve: Retrieve::Null,
        uapsd: 0,
        max_sp: ALL,
        trigger_every: None,
    };
    match kind {
        "iwlwifi" => each(ms(100), Listen::Dtim),
        "ath10k" => each(ms(102), Listen::Dtim),
        // linux: drivers/net/wireless/broadcom/brcm80211/brcmfmac/cfg80211.c brcmf_cfg80211_set_power_mgmt, BRCMF_PS_MAX_TIMEOUT_MS (6.12),
        // net/wireless/core.c cfg80211_init_wdev (6.12) - the least of no time given, which is the largest number, and of 2 s; on by default.
        // deviation: that firmware hears each DTIM and wakes by a null frame is assumed, as nothing tells it otherwise.
        "brcmfmac" => each(ms(2_000), Listen::Dtim),
        // linux: drivers/net/wireless/marvell/mwifiex/init.c mwifiex_init_adapter (5.0) - delay_to_ps, multiple_dtim.
        // deviation: a null frame - the firmware is free to ask by PS-Polls (PS_MODE_AUTO).
        "mwifiex" => each(ms(1_000), Listen::Dtim),
        // qcacld-3.0: core/hdd/inc/wlan_hdd_cfg.h CFG_DATA_INACTIVITY_TIMEOUT_DEFAULT, core/wma/src/wma_power.c wma_set_force_sleep
        // (WMI_STA_PS_RX_WAKE_POLICY_WAKE) - both in Android's kernels; CFG_DATA_INACTIVITY_TIMEOUT_DEFAULT of the older prima: 20.
        "qcacld" => each(PHONE_TIMEOUT, Listen::Dtim),
        "phone" => each(PHONE_TIMEOUT, Listen::Dtim),
        "static" => SaverParams { retrieve: Retrieve::PsPoll, ..each(Duration::ZERO, Listen::Every(1)) },
        _ => each(ms(100), Listen::Every(1)),
    }
}

/// A telephone's, as Qualcomm's driver has it.
pub(in super::super) const PHONE_TIMEOUT: Duration = ms(200);

/// Frames of a service period without a limit.
// linux: net/mac80211/rx.c ieee80211_sta_uapsd_trigger, sta_info.c (6.12) - 128.
const ALL: u32 = 128;

// linux: net/mac80211/scan.c IEEE80211_PROBE_DELAY, IEEE80211_CHANNEL_TIME, IEEE80211_PASSIVE_CHANNEL_TIME,
// ieee80211_scan_state_decision, ieee80211_scan_state_suspend (6.12) - at 1,000 ticks a second.
// linux: drivers/net/wireless/intel/iwlwifi/mvm/scan.c scan_timing, mvm.h (6.12); ath10k/wmi.c ath10k_wmi_start_scan_init (6.12).
fn scan(kind: &str) -> ScanParams {
    let each = |active, passive, away, home, home_busy| ScanParams {
        start: ms(1_000),
        every: None,
        active: (19, active),
        passive: (16, passive),
        away,
        home,
        home_busy,
        settle: Duration::ZERO,
    };
    match kind {
        "iwlwifi" => each(tu(10), tu(110), tu(120), tu(30), tu(120)),
        "ath10k" => each(ms(50), ms(150), Duration::ZERO, ms(50), ms(500)),
        _ => each(ms(60), ms(111), ms(125), ms(200), ms(200)),
    }
}

/// What a station says of both: with the kind of power save, for notes.
pub(super) type Given = (Option<(&'static str, SaverParams)>, Option<ScanParams>);

pub(super) fn read(section: &mut Section<'_>) -> Result<Given, Fault> {
    let mut given: Given = (None, None);
    if let Some(field) = section.get("power_save") {
        let (kind, own) = field.kind()?;
        let mut params = saver(kind);
        if let Some(mut own) = own {
            if kind != "off" {
                read_saver(&mut own, &mut params)?;
            }
            own.finish()?;
        }
        given.0 = (kind != "off").then_some((kind, params));
    }
    given.1 = read_scans(section, scan)?;
    Ok(given)
}

/// An access point's own scans.
// linux: net/mac80211/cfg.c ieee80211_scan (6.12) - refused while it beacons, but with NL80211_SCAN_FLAG_AP.
// openwrt: package/kernel/mac80211/patches/subsys/210-ap_scan.patch - never refused.
// linux: net/mac80211/scan.c ieee80211_scan_state_decision (6.12) - it comes back in between for stations of its own alone.
pub(super) fn read_scan_of_ap(section: &mut Section<'_>) -> Result<Option<ScanParams>, Fault> {
    read_scans(section, |kind| match kind {
        "mac80211" => ScanParams { away: Duration::from_secs(3_600), ..scan(kind) },
        _ => scan(kind),
    })
}

fn read_scans(
    section: &mut Section<'_>,
    defaults: impl Fn(&str) -> ScanParams,
) -> Result<Option<ScanParams>, Fault> {
    let Some(field) = section.get("scan") else { return Ok(None) };
    let (kind, own) = field.kind()?;
    let mut params = defaults(kind);
    if let Some(mut own) = own {
        read_scan(&mut own, &mut params)?;
        own.finish()?;
    }
    Ok(Some(params))
}

fn read_saver(own: &mut Section<'_>, params: &mut SaverParams) -> Result<(), Fault> {
    params.timeout = own.or("timeout", params.timeout)?;
    params.listen = own.or_by("listen_interval", params.listen, |field| match field.text("\"dtim\"") {
        Ok("dtim") => Ok(Listen::Dtim),
        _ => field.value().map(Listen::Every).map_err(|fault| fault.or("\"dtim\"")),
    })?;
    let ways = [("null", Retrieve::Null), ("ps_poll", Retrieve::PsPoll)];
    params.retrieve = own.or_by("retrieve", params.retrieve, |field| field.choice(&ways))?;
    if let Some(field) = own.get("uapsd") {
        let names = Ac::ALL.map(|ac| (ac.name(), ac));
        for one in field.list() {
            params.uapsd |= 1 << one.choice(&names)?.index();
        }
    }
    if params.uapsd == 0 {
        for key in ["max_sp", "trigger_interval"] {
            own.idle(key, "without uapsd", "categories in uapsd, or no such key")?;
        }
    } else {
        params.max_sp = own.or_by("max_sp", ALL, |field| match field.text("\"all\"") {
            Ok("all") => Ok(ALL),
            _ => field.value().map_err(|fault| fault.or("\"all\"")),
        })?;
        params.trigger_every = own.find("trigger_interval")?;
    }
    Ok(())
}

fn read_scan(own: &mut Section<'_>, params: &mut ScanParams) -> Result<(), Fault> {
    params.every = own.find("every")?;
    params.start = own.or("start", params.start)?;
    params.active.0 = own.or("active_channels", params.active.0)?;
    params.passive.0 = own.or("passive_channels", params.passive.0)?;
    if params.active.0 + params.passive.0 == 0 {
        return Err(own.wrong("no channel to scan", "active_channels or passive_channels above zero"));
    }
    for (key, (channels, dwell)) in
        [("dwell_active", &mut params.active), ("dwell_passive", &mut params.passive)]
    {
        if *channels == 0 {
            own.idle(key, "without such channels", "some, or no such key")?;
        }
        *dwell = own.or(key, *dwell)?;
    }
    params.away = own.or("away", params.away)?;
    let home = own.or("home", params.home)?;
    params.home_busy = own.or_by("home_busy", params.home_busy.max(home), |field| {
        let busy: Duration = field.value()?;
        if busy < home { Err(field.wrong("at least home")) } else { Ok(busy) }
    })?;
    params.home = home;
    params.settle = own.or("settle", params.settle)?;
    Ok(())
}

/// Refuses what cannot be had, once all is known: `given` are stations with power save or scans, and access points with scans, each with the field that says so.
pub(super) fn check(
    nodes: &[Node],
    channels: &[Channel],
    given: &[(InterfaceRef, Field<'_>)],
) -> Result<(), Fault> {
    let wifi = |at: InterfaceRef| match &nodes[at.node].interfaces[at.interface].medium {
        Attachment::Wifi(wifi) => wifi,
        Attachment::Wired { .. } => unreachable!("who saves power has a Wi-Fi device"),
    };
    for (at, field) in given {
        let own = wifi(*at);
        let shares = nodes
            .iter()
            .flat_map(|n| &n.interfaces)
            .any(|i| matches!(&i.medium, Attachment::Wifi(wifi) if wifi.radio == Some(*at)));
        if own.radio.is_some() || shares {
            return Err(field.idle("on a radio that it shares", "a radio of its own"));
        }
        if channels[own.channel].beacon_interval.is_none() {
            return Err(field.idle("without beacons", "a beacon_interval on its channel"));
        }
        // No source that was read tells what it and its firmware do with frames for those that sleep, nor as it leaves its channel.
        let ap = match &own.role {
            Role::Station(Station { ap, .. }) => wifi(*ap),
            Role::Ap => own,
        };
        if ap.scheme == Scheme::Ath9kHtc {
            return Err(field.idle("at an access point with ath9k_htc", "another scheme there"));
        }
    }
    Ok(())
}

/// Whether a station saves power or scans.
pub(super) fn any(wifi: &Wifi) -> bool {
    wifi.power_save.is_some() || wifi.scan.is_some()
}

/// Keys of access points that nobody's power save makes use of, each a sentence.
pub(super) fn idle(nodes: &[Node], given: &[(InterfaceRef, u32)]) -> Vec<String> {
    let used = |at: InterfaceRef| {
        nodes.iter().flat_map(|n| &n.interfaces).any(|i| match &i.medium {
            Attachment::Wifi(wifi) => {
                any(wifi) && matches!(&wifi.role, Role::Station(station) if station.ap == at)
            }
            Attachment::Wired { .. } => false,
        })
    };
    let unused = given.iter().filter(|(at, _)| !used(*at));
    unused
        .map(|(at, period)| {
            let node = &nodes[at.node];
            format!(
                "node.{}.interface.{}.dtim_period: {period} has no effect where no station saves power or scans; power_save of one",
                node.name, node.interfaces[at.interface].name
            )
        })
        .collect()
}
