//! Configuration of the transmit path of an access point or station: the queueing scheme and its parameters.

use crate::aqm::algorithm::AqmFactory;
use crate::aqm::codel::CodelParams;
use crate::types::{Duration, PartFactory, Rate};
pub use crate::wifi::air::radio::HardwareDepth;
use crate::wifi::stations::StationScheduler;
pub use crate::wifi::stations::{AirtimeParams, AqlParams, GroupsCount};
pub use crate::wifi::tx::transmitter::AIRTIME_WEIGHT;

/// Queueing and scheduling in a device (*Ending the Anomaly*, section 4).
#[derive(Clone, PartialEq, Debug)]
pub enum DriverConfig {
    /// ath9k before Linux 4.10: FIFO queues in the driver below a qdisc.
    Legacy(LegacyParams),
    /// mac80211's flow queues without a qdisc.
    Fq(MacFqParams, Scheduler),
    /// ath9k_htc over USB, below a qdisc.
    Htc(HtcParams),
    /// Firmware that builds the aggregates below mac80211's flow queues.
    Firmware(MacFqParams, Scheduler, FirmwareParams),
}

/// Transmit path of a driver whose firmware builds the aggregates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FirmwareParams {
    /// Maximum frames handed to the firmware and not yet reported.
    pub frames: u32,
    /// Handling of frames beyond that maximum.
    pub full: WhenFirmwareFull,
    /// Number of frames at which the firmware reports immediately.
    pub report_frames: u32,
    /// Maximum delay of a report after its first frame.
    pub report_delay: Duration,
    /// How the host learns the airtime charged to stations.
    pub airtime: AirtimeReport,
    /// Maximum packets per A-MSDU.
    pub amsdu_frames: u8,
    /// Build A-MSDUs in mac80211 at dequeue instead of in the firmware.
    pub host_joins: bool,
    /// Maximum A-MSDU length in bytes. `None`: the limit announced by the peer.
    pub amsdu_bytes: Option<u16>,
    /// Schedule stations in the firmware by airtime. If false, the firmware serves them round robin, one
    /// aggregate each.
    pub shares_airtime: bool,
    /// Negotiate Block Ack sessions in mac80211, which stops its queue meanwhile. If false, the firmware
    /// negotiates them and holds the frames.
    pub host_sessions: bool,
}

/// Transmissions that count towards the retry limit of a frame in a Block Ack session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RetryCount {
    /// Hardware tries in earlier PPDUs. The driver checks the limit before it adds the tries of the failed
    /// PPDU.
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_complete_aggr (4.4).
    EarlierTries,
    /// Earlier PPDUs, each with its whole retry chain.
    // ath9k_htc-firmware: wlan/if_owl.c ath_tx_retry_subframe, ath_tx_set_retry (e888634).
    EarlierPpdus,
    /// All hardware tries. The limit also applies to single frames outside a session.
    // linux: drivers/net/wireless/mediatek/mt76/mt76_connac_mac.c mt76_connac2_mac_write_txwi (6.12) - writes
    // the remaining count into each frame's descriptor.
    Tries,
}

impl RetryCount {
    /// Returns how the driver counts tries.
    pub const fn of(driver: &DriverConfig) -> Self {
        match driver {
            DriverConfig::Legacy(_) | DriverConfig::Fq(..) => Self::EarlierTries,
            DriverConfig::Htc(_) => Self::EarlierPpdus,
            DriverConfig::Firmware(..) => Self::Tries,
        }
    }
}

impl DriverConfig {
    /// Returns true if the driver reports each PPDU to rate control. If false, a Block Ack PPDU whose frames
    /// are all retried is not reported.
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_complete_aggr (4.4, 4.11) - reports the status with
    // the first completed frame.
    // ath9k_htc-firmware: wlan/if_owl.c ath_tx_comp_aggr, ath_tx_comp_aggr_error (e888634) - reports every
    // PPDU.
    // deviation: rate control in firmware (ath10k, ath11k, MT7915 and newer) counts all of its own tries - an
    // assumption, as no source documents it. Other mt76 chips report only some frames.
    pub const fn reports_failed_ppdus(&self) -> bool {
        match self {
            Self::Legacy(_) | Self::Fq(..) => false,
            Self::Htc(_) | Self::Firmware(..) => true,
        }
    }
}

/// Handling of a frame for which the firmware has no room.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WhenFirmwareFull {
    /// The frame stays in its queue.
    Waits,
    /// The frame is dequeued and dropped.
    Drops,
}

/// How a host learns the airtime of its stations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AirtimeReport {
    /// Not reported: no airtime fairness.
    Nothing,
    /// The host computes the airtime of each reported frame from the latest rate.
    Frames,
    /// The hardware counts per station and access category. For each report, the host reads the counters of
    /// the stations in it.
    Counters,
}

/// Transmit path of ath9k_htc.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HtcParams {
    /// Frames on the host and in the target, over all access categories, at which all queues stop.
    pub limit: u32,
    /// Frame buffers in the target, including those of frames in PPDUs.
    pub target_buffers: u32,
    /// Maximum frames per aggregate.
    pub max_frames: u32,
    /// The USB bus. `None`: transfers take no time.
    pub usb: Option<UsbParams>,
}

/// A USB 2.0 bus between host and device, with the delays at both ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UsbParams {
    /// Bus time of a 512-byte packet.
    pub packet: Duration,
    /// Delay before a transfer starts.
    pub start: Duration,
    /// Delay from the end of a transfer until the host driver runs.
    pub interrupt: Duration,
    /// Maximum frames per transfer from the host.
    pub tx_frames: u32,
    /// Maximum frames per transfer from the device.
    pub rx_frames: u32,
    /// Time that the first frame of a transfer to the host waits for more frames.
    pub rx_wait: Duration,
}

impl UsbParams {
    /// Maximum of `start` and `interrupt`: one USB microframe.
    // spec: usb 2.0 5.8 - a bulk transfer starts when the bus is free, in the current or the next microframe.
    // linux: drivers/usb/host/ehci-hcd.c log2_irq_thresh (4.14) - EHCI interrupts at most once per
    // microframe; xhci.c xhci_run (4.14) - xHCI interrupts at least 40 us apart.
    pub const MICROFRAME: Duration = Duration::from_micros(125);

    /// Bus time of a transfer of `bytes`.
    #[inline]
    pub fn takes(&self, bytes: u32) -> Duration {
        self.packet * u64::from(bytes.div_ceil(512))
    }
}

impl Default for UsbParams {
    // spec: usb 2.0 5.8.4 table 5-10 - 13 packets of 512 bytes per microframe.
    // deviation: `start` and `interrupt` are half a microframe - no source gives their position between 0 and
    // a microframe.
    // linux: drivers/net/wireless/ath/ath9k/hif_usb.h MAX_TX_AGGR_NUM (4.14) - 20.
    // ath9k_htc-firmware: magpie_fw_dev/target/init/app_start.c (e888634) - 9 frames after the first, 160
    // units; sboot's rom_cfg.h - a unit is 32 cycles at 30 MHz.
    // deviation: the wait starts with the first frame - it is unknown whether the next frame restarts it.
    fn default() -> Self {
        Self {
            packet: Duration::from_nanos(Self::MICROFRAME.nanos() / 13),
            start: Duration::from_nanos(Self::MICROFRAME.nanos() / 2),
            interrupt: Duration::from_nanos(Self::MICROFRAME.nanos() / 2),
            tx_frames: 20,
            rx_frames: 10,
            rx_wait: Duration::from_nanos(160 * 32 * 1_000 / 30),
        }
    }
}

impl Default for HtcParams {
    // linux: drivers/net/wireless/ath/ath9k/htc.h ATH9K_HTC_TX_THRESHOLD (4.14) - 256 slots minus 10
    // reserved.
    // ath9k_htc-firmware: wlan/if_owl.c ath_tgt_tx_form_aggr (e888634) - 17 frames on the AR9271, 22 on the
    // AR7010; 33 buffers.
    fn default() -> Self {
        Self { limit: 246, target_buffers: 33, max_frames: 17, usb: Some(UsbParams::default()) }
    }
}

/// The legacy transmit path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LegacyParams {
    /// Frames per access category at which its queue stops (debugfs `qlen_be` etc.).
    pub qlen: u32,
}

impl Default for LegacyParams {
    // linux: drivers/net/wireless/ath/ath9k/ath9k.h ATH_MAX_QDEPTH (4.4) - 512 / 4 - 5.
    fn default() -> Self {
        Self { qlen: 123 }
    }
}

/// mac80211's flow queues (*Ending the Anomaly*, Algorithms 1 and 2).
#[derive(Clone, PartialEq, Debug)]
pub struct MacFqParams {
    /// Flow queues of the whole device.
    pub flows: u32,
    /// Maximum packets in all queues together.
    pub limit: u32,
    /// Maximum truesize of all queued packets, in bytes.
    pub memory_limit: u32,
    /// Maximum packets dropped at once from the longest queue when a limit is exceeded; never more than half
    /// of that queue.
    pub drop_batch: u32,
    /// Bytes that a flow may send per round.
    pub quantum: u32,
    /// CoDel parameters of stations that are not slow.
    pub codel: CodelParams,
    /// CoDel parameters of slow stations.
    pub codel_slow: CodelParams,
    /// Expected throughput below which a station is slow.
    pub slow_below: SlowBelow,
    /// Minimum time between two changes of a station's CoDel parameters.
    pub hysteresis: Duration,
    /// User-defined AQM on each flow queue instead of CoDel. The CoDel parameters then have no effect; the
    /// AQM still receives the slow flag of each station.
    pub aqm: Option<AqmFactory>,
}

/// Expected throughput below which a station is slow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SlowBelow {
    /// A fixed rate.
    Rate(Rate),
    /// A rate multiplied by the number of stations of the device, active or not.
    EachStation(Rate),
}

impl SlowBelow {
    /// No station is slow.
    pub const NOBODY: Self = Self::Rate(Rate::from_bps(0));

    /// Returns the threshold of a device with `stations` stations.
    pub fn threshold(self, stations: usize) -> Rate {
        match self {
            Self::Rate(rate) => rate,
            Self::EachStation(rate) => Rate::from_bps(rate.bps() * stations as u64),
        }
    }
}

impl MacFqParams {
    /// Default `memory_limit` of a device with VHT or HE.
    // linux: include/net/fq_impl.h fq_init (5.4).
    pub const VHT_MEMORY_LIMIT: u32 = 16 << 20;

    /// Applies Linux's rule for slow stations: the threshold grows with the number of stations and is checked
    /// at each rate update.
    // linux: net/mac80211/sta_info.c sta_update_codel_params, sta_info.h STA_SLOW_THRESHOLD (4.12) - commit
    // 484a54c2e597.
    // deviation: counts the stations of the device - Linux counts those of all devices of the radio.
    #[must_use]
    pub const fn as_linux_has_it(mut self) -> Self {
        self.slow_below = SlowBelow::EachStation(Rate::from_mbps(6));
        self.hysteresis = Duration::ZERO;
        self
    }

    /// Drops in batches of 32, as Linux has done since 5.12.
    // linux: include/net/fq_impl.h fq_flow_drop (5.12) - commit 07be2fed5ee7.
    #[must_use]
    pub const fn with_batches(mut self) -> Self {
        self.drop_batch = 32;
        self
    }

    /// Treats no station as slow, as Linux has done since 6.16.
    // linux: net/mac80211/sta_info.c (6.16) - removes the rule: commit 4876376988081 of 2025, also in stable
    // kernels.
    #[must_use]
    pub const fn with_nobody_slow(mut self) -> Self {
        self.slow_below = SlowBelow::NOBODY;
        self
    }
}

impl Default for MacFqParams {
    // linux: include/net/fq.h, net/mac80211/main.c ieee80211_txq_setup_flows (4.10).
    // paper: ending-the-anomaly 3.1.1 - threshold and hysteresis, which differ in Linux.
    fn default() -> Self {
        let ms = Duration::from_millis;
        Self {
            flows: 4096,
            limit: 8192,
            // linux: net/mac80211/tx.c ieee80211_txq_setup_flows (5.4) - for a device without VHT in any
            // band.
            memory_limit: 4 << 20,
            drop_batch: 1,
            quantum: 300,
            codel: CodelParams { target: ms(20), interval: ms(100), ecn: true, mtu: 0 },
            codel_slow: CodelParams { target: ms(50), interval: ms(300), ecn: false, mtu: 0 },
            slow_below: SlowBelow::Rate(Rate::from_mbps(12)),
            hysteresis: Duration::from_secs(2),
            aqm: None,
        }
    }
}

/// Factory of a user-defined scheduler. It builds one instance per device, from the device's number of peers.
pub type SchedulerFactory = PartFactory<dyn StationScheduler + Send, usize>;

/// Station scheduler of a device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Scheduler {
    /// Round robin, one aggregate each (scheme `fq_mac`).
    RoundRobin(WhenFull),
    /// Algorithm 3 as implemented in ath9k, per TID (scheme `airtime`).
    Airtime(AirtimeParams),
    /// Algorithm 3 as printed in the paper, per station (scheme `airtime_as_printed`).
    AirtimeAsPrinted(AirtimeParams),
    /// mac80211's scheduler since Linux 5.1 (scheme `mac80211`). `sparse` has no effect: there is only one
    /// list.
    Mac80211(AirtimeParams, Option<AqlParams>, Mac80211Rules),
    /// A user-defined scheduler without airtime queue limits.
    Custom(SchedulerFactory),
}

impl Scheduler {
    /// Returns the parameters of an airtime scheduler.
    pub const fn airtime(&self) -> Option<&AirtimeParams> {
        match self {
            Self::RoundRobin(_) | Self::Custom(_) => None,
            Self::Airtime(p) | Self::AirtimeAsPrinted(p) | Self::Mac80211(p, ..) => Some(p),
        }
    }

    /// Returns the parameters of an airtime scheduler, mutable.
    pub const fn airtime_mut(&mut self) -> Option<&mut AirtimeParams> {
        match self {
            Self::RoundRobin(_) | Self::Custom(_) => None,
            Self::Airtime(p) | Self::AirtimeAsPrinted(p) | Self::Mac80211(p, ..) => Some(p),
        }
    }

    /// Returns the airtime queue limits (AQL), if the scheduler has them.
    pub const fn aql(&self) -> Option<&AqlParams> {
        match self {
            Self::Mac80211(_, aql, _) => aql.as_ref(),
            Self::RoundRobin(_) | Self::Airtime(_) | Self::AirtimeAsPrinted(_) | Self::Custom(_) => None,
        }
    }
}

/// The station that is next after the hardware queue was full.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WhenFull {
    /// The next station. The driver tries at each packet, so most turns are lost this way, and a station that
    /// may have more frames in the hardware than others gets their turns.
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_txq_schedule (4.4; commit 50f08edf9809 leaves it
    // unchanged in 4.10).
    LosesTurn,
    /// The same station, as soon as the hardware has room.
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_txq_schedule (4.11), commit 63fefa050477.
    KeepsTurn,
}

/// Kernel versions whose mac80211 scheduler is modelled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mac80211Rules {
    /// 5.1 to 5.13: deficit round robin. A station that becomes active goes to the head of the list; a
    /// station without frames leaves the list.
    // linux: net/mac80211/tx.c ieee80211_next_txq (5.1).
    #[default]
    Rounds,
    /// 5.14 to 5.19: virtual time.
    // linux: net/mac80211/tx.c ieee80211_next_txq (5.15), commit 2433647bc8d9 of June 2021.
    VirtualTime,
    /// Since 6.0: deficit round robin again. Pending airtime counts as used if AQL tracks it. A station with
    /// a negative deficit stays listed for 100 ms; a station without frames for that long is not charged.
    // linux: net/mac80211/tx.c ieee80211_sta_deficit, ieee80211_txq_keep_active (6.0), commits 942741dabcb4,
    // 9c1be3cde004, 8ccc07028cb7 and c77bfab92371 of June 2022.
    // deviation: applies the limit per access category (8e4bac067105) only above firmware with queues of its
    // own - it starts at 12 ms, which two aggregates do not reach.
    RoundsWithPending,
}

impl Mac80211Rules {
    /// Returns how group-addressed frames count against airtime queue limits.
    pub const fn groups(self) -> GroupsCount {
        match self {
            Self::Rounds | Self::VirtualTime => GroupsCount::InAll,
            Self::RoundsWithPending => GroupsCount::Not,
        }
    }
}

impl AirtimeParams {
    /// Returns true if stations are charged for airtime.
    pub const fn charges(&self) -> bool {
        self.charge_tx || self.charge_rx
    }
}

impl HardwareDepth {
    /// Returns the driver's default depth.
    pub fn of(driver: &DriverConfig) -> Self {
        match driver {
            DriverConfig::Htc(_) => Self::HTC,
            DriverConfig::Firmware(..) => Self::RING,
            DriverConfig::Legacy(_) | DriverConfig::Fq(..) => Self::default(),
        }
    }
}
