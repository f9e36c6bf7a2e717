//! Power save and background scans of a station, and the access point's beacon parameters for both.

use serde_json::Value as Json;
use stillair_model::types::{Ac, Duration};
use stillair_model::wifi::power::saver::{Listen, Retrieve, SaverParams};
use stillair_model::wifi::power::scan::ScanParams;
use stillair_scenario_derive::Section;

use super::super::Wifi;
use super::super::description::ValueType;
use super::super::document::Value;
use super::super::error::{Diagnostic, Diagnostics};
use super::super::reader::Field;
use super::domain::{Choice, Int, Period, Time, named};
use super::{Domain, Key, Object, Resolved};

/// Options of power save. Keys without a default have that of the kind.
#[derive(Section, Clone, Debug, Default)]
#[section(params = SaverParams, base = each(ms(100), Listen::Every(1)))]
pub struct Saver {
    /// time without traffic after which it sleeps; with `0 ms` it always sleeps, and still sends
    #[key(to = timeout, or = "that of the kind")]
    pub timeout: Key<Time>,
    /// which beacons it listens to while it sleeps: every DTIM, or every N beacons
    #[key(to = listen, or = "that of the kind")]
    pub listen_interval: Key<Listen>,
    /// how it fetches waiting frames: it announces with a null frame that it is awake, or requests one frame
    /// at a time with PS-Polls
    #[key(to = retrieve, or = "that of the kind")]
    pub retrieve: Key<Choice<Retrieve>>,
    /// access categories with U-APSD: a frame it sends in one of them triggers a service period and does not
    /// wake it
    #[key(or = "none")]
    pub uapsd: Key<Categories>,
    /// most frames in a U-APSD service period
    #[key(to = max_sp, or = "`all`")]
    pub max_sp: Key<MaxSp>,
    /// time after which a null frame triggers a service period if no other frame has
    #[key(to = trigger_every, or = "never")]
    pub trigger_interval: Key<Period>,
}

kinds! {
    /// Power save of a station.
    // linux: net/mac80211/mlme.c ieee80211_recalc_ps, drivers/net/wireless/intel/iwlwifi/mvm/constants.h
    // IWL_MVM_DEFAULT_PS_TX_DATA_TIMEOUT, drivers/net/wireless/ath/ath10k/mac.c ath10k_mac_vif_setup_ps
    // (6.12) - 100 ms, 100 ms, and the beacon interval.
    // linux: net/mac80211/mlme.c ieee80211_rx_mgmt_beacon (6.12) - with a timeout a null frame, without one
    // PS-Polls.
    pub struct PowerSave: Saver => SaverParams {
        /// It is always awake.
        "off": "No power save",
        /// As mac80211 does it for drivers that leave it to it, such as ath9k: asleep after 100 ms, each
        /// beacon, awake for what waits.
        "mac80211": "Power save of mac80211" = each(ms(100), Listen::Every(1)),
        /// As Intel's firmware is told to do it: asleep after 100 ms, each DTIM, awake for what waits.
        "iwlwifi": "Power save of iwlwifi" = each(ms(100), Listen::Dtim),
        /// As their firmware is told to do it: asleep after 102 ms, each DTIM, awake for what waits.
        "ath10k": "Power save of ath10k and ath11k" = each(ms(102), Listen::Dtim),
        // linux: drivers/net/wireless/broadcom/brcm80211/brcmfmac/cfg80211.c brcmf_cfg80211_set_power_mgmt,
        // BRCMF_PS_MAX_TIMEOUT_MS (6.12), net/wireless/core.c cfg80211_init_wdev (6.12) - the least of no
        // time given, which is the largest number, and of 2 s; on by default.
        // deviation: that firmware hears each DTIM and wakes by a null frame is assumed, as nothing tells it
        // otherwise.
        /// As Linux tells Broadcom's firmware, in a Raspberry Pi or a Mac: asleep after 2 s, each DTIM, awake
        /// for what waits.
        "brcmfmac": "Power save of brcmfmac" = each(ms(2_000), Listen::Dtim),
        // linux: drivers/net/wireless/marvell/mwifiex/init.c mwifiex_init_adapter (5.0) - delay_to_ps,
        // multiple_dtim.
        // deviation: a null frame - the firmware is free to ask by PS-Polls (PS_MODE_AUTO).
        /// As Linux tells Marvell's firmware, in a Surface or a Chromebook: asleep after 1 s, each DTIM,
        /// awake for what waits.
        "mwifiex": "Power save of mwifiex" = each(ms(1_000), Listen::Dtim),
        // qcacld-3.0: core/hdd/inc/wlan_hdd_cfg.h CFG_DATA_INACTIVITY_TIMEOUT_DEFAULT,
        // core/wma/src/wma_power.c wma_set_force_sleep (WMI_STA_PS_RX_WAKE_POLICY_WAKE) - both in Android's
        // kernels; CFG_DATA_INACTIVITY_TIMEOUT_DEFAULT of the older prima: 20.
        /// As Qualcomm's driver of Android telephones has it where their maker changes nothing: asleep after
        /// 200 ms, each DTIM, awake for what waits.
        "qcacld": "Power save of qcacld-3.0" = each(PHONE_TIMEOUT, Listen::Dtim),
        /// Asleep after 200 ms, each DTIM, awake for what waits. Makers choose the time: Qualcomm's
        /// qcacld-3.0 has 200 ms, its older driver 20 ms.
        "phone": "Power save of a telephone" = each(PHONE_TIMEOUT, Listen::Dtim),
        /// As mac80211 does it without a timeout, and as stations of 1997 did: it always sleeps, hears each
        /// beacon, and asks for one frame after the other.
        "static": "Power save all the time"
            = SaverParams { retrieve: Retrieve::PsPoll, ..each(Duration::ZERO, Listen::Every(1)) },
    }
}

/// Scan keys.
#[derive(Section, Clone, Debug, Default)]
#[section(params = ScanParams, base = scan([ms(60), ms(111)], ms(125), [ms(200); 2]))]
pub struct Scan {
    /// from the beginning of a scan to that of the next
    #[key(to = interval, or = "one scan")]
    pub interval: Key<Period>,
    /// when the first scan begins
    #[key(to = start)]
    pub start: Key<Time>,
    /// other channels where it sends probe requests: 11 at 2.4 GHz and 9 at 5 GHz, without its own
    #[key(to = active.0)]
    pub active_channels: Key<Int<0, 100>>,
    /// channels where it only listens, such as DFS channels
    #[key(to = passive.0)]
    pub passive_channels: Key<Int<0, 100>>,
    /// time on each channel where it sends probe requests
    #[key(to = active.1, or = "that of the kind")]
    pub dwell_active: Key<Period>,
    /// time on each channel where it only listens
    #[key(to = passive.1, or = "that of the kind")]
    pub dwell_passive: Key<Period>,
    /// it visits several channels in a row, up to this time away
    #[key(to = max_off_channel, or = "that of the kind")]
    pub max_off_channel: Key<Time>,
    /// time back on its own channel in between
    #[key(to = home_dwell, or = "that of the kind")]
    pub home_dwell: Key<Period>,
    /// the same if it has frames to send when it returns; at least `home_dwell`
    #[key(to = home_dwell_busy, or = "that of the kind")]
    pub home_dwell_busy: Key<Period>,
    /// from when its access point knows until it leaves, which counts as away: 100 ms with drivers of
    /// mac80211 without `flush`
    #[key(to = leave_delay)]
    pub leave_delay: Key<Time>,
}

kinds! {
    /// Scans of a station.
    // linux: net/mac80211/scan.c IEEE80211_PROBE_DELAY, IEEE80211_CHANNEL_TIME,
    // IEEE80211_PASSIVE_CHANNEL_TIME, ieee80211_scan_state_decision, ieee80211_scan_state_suspend (6.12) - at
    // 1,000 ticks a second.
    // linux: drivers/net/wireless/intel/iwlwifi/mvm/scan.c scan_timing, mvm.h (6.12); ath10k/wmi.c
    // ath10k_wmi_start_scan_init (6.12).
    pub struct Scans: Scan => ScanParams {
        /// In software, as with ath9k: 60 ms on a channel (111 ms to listen), away for 125 ms at most, back
        /// for 200 ms.
        "mac80211": "Scans of mac80211" = Scan::base(),
        /// By Intel's firmware at low load: 10 time units of 1.024 ms on a channel (110 to listen), away for
        /// 120, back for 30, and for 120 where it is busy.
        "iwlwifi": "Scans of iwlwifi" = scan([tu(10), tu(110)], tu(120), [tu(30), tu(120)]),
        /// By their firmware: 50 ms on a channel (150 ms to listen), one at a time, back for 50 ms, and for
        /// 500 ms where it is busy.
        "ath10k": "Scans of ath10k and ath11k" = scan([ms(50), ms(150)], Duration::ZERO, [ms(50), ms(500)]),
    }
}

kinds! {
    /// Scans of an access point.
    // linux: drivers/net/wireless/ath/ath10k/mac.c NL80211_FEATURE_AP_SCAN (6.12), which iwlwifi does not
    // have; net/mac80211/main.c (6.12) - and mac80211 for drivers that leave scans to it.
    // linux: net/mac80211/cfg.c ieee80211_scan (6.12) - refused while it beacons, but with
    // NL80211_SCAN_FLAG_AP.
    // openwrt: package/kernel/mac80211/patches/subsys/210-ap_scan.patch - never refused.
    // linux: net/mac80211/scan.c ieee80211_scan_state_decision (6.12) - it comes back in between for stations
    // of its own alone.
    pub struct ScansOfAp: Scan => ScanParams {
        /// In software, as with ath9k: 60 ms on a channel (111 ms to listen), and all of them without coming
        /// back, as no station of its own is associated.
        "mac80211": "Scans of an access point by mac80211"
            = ScanParams { max_off_channel: Duration::from_secs(3_600), ..Scan::base() },
        /// By their firmware: 50 ms on a channel (150 ms to listen), one at a time, back for 50 ms, and for
        /// 500 ms where it is busy.
        "ath10k": "Scans of ath10k and ath11k" = scan([ms(50), ms(150)], Duration::ZERO, [ms(50), ms(500)]),
    }
}

/// Keys of a station.
#[derive(Section, Clone, Debug, Default)]
pub struct OfStation {
    /// whether the station sleeps when idle
    #[key(default = "off")]
    pub power_save: Key<PowerSave>,
    /// looks at other channels while it is associated
    #[key(or = "never")]
    pub scan: Key<Scans>,
}

/// Keys of an access point.
// hostapd: src/ap/ap_config.c hostapd_config_defaults (2.10) - 2.
#[derive(Section, Clone, Debug, Default)]
pub struct OfAp {
    /// every n-th beacon is a DTIM
    #[key(or = "2 if a station saves power or scans")]
    pub dtim_period: Key<Int<1, 255>>,
    /// looks at other channels while it has stations: it sends neither beacons nor frames meanwhile, and
    /// hears none of theirs. Linux does so with `iw dev wlan0 scan ap-force`, OpenWrt at each scan
    #[key(or = "never")]
    pub scan: Key<ScansOfAp>,
}

/// Power save and scan keys of an interface.
#[derive(Clone, Debug)]
pub(in super::super) enum Written {
    Station(Box<OfStation>),
    Ap(Box<OfAp>),
}

/// Adds a station's power save and scans to the resolved scenario.
pub(in super::super) fn resolved(wifi: &Wifi, out: &mut Json) {
    if let Some((kind, params)) = &wifi.power_save {
        let mut keys: Object = super::resolved::<Saver, _>(params);
        keys.insert("kind".to_owned(), (*kind).into());
        let on: Vec<&str> =
            Ac::ALL.iter().filter(|ac| params.uapsd >> ac.index() & 1 == 1).map(|ac| ac.name()).collect();
        keys.insert("uapsd".to_owned(), on.into());
        out["power_save"] = keys.into();
    }
    if let Some(params) = &wifi.scan {
        out["scan"] = super::resolved::<Scan, _>(params).into();
    }
}

/// Default DTIM period of an access point.
pub(in super::super) const DTIM_PERIOD: u32 = 2;

/// Timeout of a phone, as in Qualcomm's driver.
pub(in super::super) const PHONE_TIMEOUT: Duration = ms(200);

/// Number of frames that represents a service period without a limit.
// linux: net/mac80211/rx.c ieee80211_sta_uapsd_trigger, sta_info.c (6.12) - 128.
const ALL: u32 = 128;

const fn tu(n: u64) -> Duration {
    Duration::from_micros(1_024 * n)
}

const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

const fn each(timeout: Duration, listen: Listen) -> SaverParams {
    SaverParams { timeout, listen, retrieve: Retrieve::Null, uapsd: 0, max_sp: ALL, trigger_every: None }
}

const fn scan(dwell: [Duration; 2], max_off_channel: Duration, home_dwell: [Duration; 2]) -> ScanParams {
    ScanParams {
        start: ms(1_000),
        interval: None,
        active: (19, dwell[0]),
        passive: (16, dwell[1]),
        max_off_channel,
        home_dwell: home_dwell[0],
        home_dwell_busy: home_dwell[1],
        leave_delay: Duration::ZERO,
    }
}

named!(Retrieve { Null = "null", PsPoll = "ps_poll" });
named!(Ac { Vo = "VO", Vi = "VI", Be = "BE", Bk = "BK" });

/// Reads `word` as `stands_for`, or a number.
fn word_or<T>(
    field: &Field<'_>,
    word: &str,
    stands_for: T,
    other: impl Fn(u32) -> T,
) -> Result<T, Diagnostic> {
    let expected = format!("{word:?}");
    match field.text(&expected) {
        Ok(text) if text == word => Ok(stands_for),
        _ => field.value().map(other).map_err(|fault| fault.or(&expected)),
    }
}

impl Domain for Listen {
    type Value = Self;
    const TYPE: ValueType = ValueType::Either(&[ValueType::Choice(&["dtim"]), ValueType::Integer(1, 255)]);

    fn read(field: &Field<'_>, _: &mut Diagnostics) -> Result<Self, Diagnostic> {
        word_or(field, "dtim", Self::Dtim, Self::Every)
    }

    fn written(value: &Self) -> Value {
        match value {
            Self::Dtim => Value::String("dtim".to_owned()),
            Self::Every(n) => Value::Integer((*n).into()),
        }
    }
}

impl Resolved for Listen {
    fn json(&self) -> Json {
        match self {
            Self::Dtim => "dtim".into(),
            Self::Every(n) => (*n).into(),
        }
    }
}

/// Maximum number of frames per service period.
pub struct MaxSp;

impl Domain for MaxSp {
    type Value = u32;
    const TYPE: ValueType = ValueType::Either(&[ValueType::Choice(&["all"]), ValueType::Numbers(&[2, 4, 6])]);

    fn read(field: &Field<'_>, _: &mut Diagnostics) -> Result<u32, Diagnostic> {
        word_or(field, "all", ALL, |frames| frames)
    }

    fn written(value: &u32) -> Value {
        if *value == ALL { Value::String("all".to_owned()) } else { Value::Integer((*value).into()) }
    }
}

/// A set of access categories.
pub struct Categories;

/// One bit per access category.
#[derive(Clone, Copy, Debug)]
pub struct Bits(pub u8);

impl Domain for Categories {
    type Value = Bits;
    const TYPE: ValueType = ValueType::List(&ValueType::Choice(&["VO", "VI", "BE", "BK"]));

    fn read(field: &Field<'_>, faults: &mut Diagnostics) -> Result<Bits, Diagnostic> {
        let mut bits = 0;
        for one in field.list() {
            bits |= 1 << Choice::<Ac>::read(&one, faults)?.index();
        }
        Ok(Bits(bits))
    }

    fn written(value: &Bits) -> Value {
        let one = |ac: &Ac| super::item(Value::String(ac.name().to_owned()));
        Value::Array(Ac::ALL.iter().filter(|ac| value.0 >> ac.index() & 1 == 1).map(one).collect())
    }
}
