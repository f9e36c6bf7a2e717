//! Configuration of the transmit path of an access point or a station: the queueing scheme and its parts.

use crate::aqm::algorithm::AqmFactory;
use crate::aqm::codel::CodelParams;
use crate::types::{Duration, PartFactory, Rate};
pub use crate::wifi::air::radio::HardwareDepth;
use crate::wifi::stations::StationScheduler;
pub use crate::wifi::stations::{AirtimeParams, AqlParams, GroupsCount};
pub use crate::wifi::tx::transmitter::AIRTIME_WEIGHT;

/// Queueing and scheduling of a device (*Ending the Anomaly*, section 4).
#[derive(Clone, PartialEq, Debug)]
pub enum DriverConfig {
    /// ath9k before Linux 4.10: a qdisc above the driver's own FIFO queues.
    Legacy(LegacyParams),
    /// mac80211's flow queues, no qdisc.
    Fq(MacFqParams, Scheduler),
    /// ath9k_htc over USB, with a qdisc above.
    Htc(HtcParams),
    /// Firmware that builds the aggregates, below mac80211's flow queues.
    Firmware(MacFqParams, Scheduler, FirmwareParams),
}

/// The transmit path of a driver whose firmware builds the aggregates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FirmwareParams {
    /// Maximum number of frames handed to the firmware and not yet reported.
    pub frames: u32,
    /// What happens to a frame beyond that.
    pub full: WhenFirmwareFull,
    /// Number of frames at which the firmware sends its report at once.
    pub report_frames: u32,
    /// Maximum wait of a report after its first frame.
    pub report_delay: Duration,
    /// How the host learns the airtime that stations are charged for.
    pub airtime: AirtimeReport,
    /// Maximum number of packets in an A-MSDU.
    pub amsdu_frames: u8,
    /// mac80211 builds the A-MSDUs at dequeue instead of the firmware.
    pub host_joins: bool,
    /// Maximum length in bytes of an A-MSDU. `None`: the peer's announced limit.
    pub amsdu_bytes: Option<u16>,
    /// The firmware schedules stations by airtime; otherwise round robin, one aggregate each.
    pub shares_airtime: bool,
    /// mac80211 negotiates Block Ack sessions and stops its queue meanwhile. If false, the firmware
    /// negotiates them and holds the frames.
    pub host_sessions: bool,
}

/// Tries that count towards the retry limit of a frame in a Block Ack session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RetryCount {
    /// Hardware tries in earlier PPDUs: the driver compares before it adds the tries of the PPDU that failed.
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_complete_aggr (4.4).
    EarlierTries,
    /// Earlier PPDUs, each with its whole retry chain.
    // ath9k_htc-firmware: wlan/if_owl.c ath_tx_retry_subframe, ath_tx_set_retry (e888634).
    EarlierPpdus,
    /// All hardware tries. The limit holds for single frames outside a session, too.
    // linux: drivers/net/wireless/mediatek/mt76/mt76_connac_mac.c mt76_connac2_mac_write_txwi (6.12) - the
    // remaining count of each frame.
    Tries,
}

impl RetryCount {
    /// The count of a driver's frames.
    pub const fn of(driver: &DriverConfig) -> Self {
        match driver {
            DriverConfig::Legacy(_) | DriverConfig::Fq(..) => Self::EarlierTries,
            DriverConfig::Htc(_) => Self::EarlierPpdus,
            DriverConfig::Firmware(..) => Self::Tries,
        }
    }
}

impl DriverConfig {
    /// Returns true if rate control gets a report of each PPDU. If false, rate control gets none of a PPDU of
    /// a Block Ack session whose frames are all sent again.
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_complete_aggr (4.4, 4.11) - the status is reported
    // with the first frame that is done.
    // ath9k_htc-firmware: wlan/if_owl.c ath_tx_comp_aggr, ath_tx_comp_aggr_error (e888634) - of every PPDU.
    // deviation: rate control in firmware (ath10k, ath11k, MT7915 and newer) is taken to count all of its own
    // tries, as no source tells. mt76's other chips report some frames only.
    pub const fn reports_failed_ppdus(&self) -> bool {
        match self {
            Self::Legacy(_) | Self::Fq(..) => false,
            Self::Htc(_) | Self::Firmware(..) => true,
        }
    }
}

/// What happens to a frame for which the firmware has no room.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WhenFirmwareFull {
    /// It stays in its queue.
    Waits,
    /// It is dequeued and dropped.
    Drops,
}

/// How a host learns the airtime of its stations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AirtimeReport {
    /// Not at all: there is no airtime fairness.
    Nothing,
    /// The host computes each frame's airtime at the last rate, when the frame is reported.
    Frames,
    /// The hardware counts by station and access category; the host reads the counters of the stations in a
    /// report.
    Counters,
}

/// The transmit path of ath9k_htc.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HtcParams {
    /// Frames on the host and in the target, over all access categories, at which all queues are stopped.
    pub limit: u32,
    /// Frame buffers of the target, including those of frames in PPDUs.
    pub target_buffers: u32,
    /// Maximum number of frames in an aggregate.
    pub max_frames: u32,
    /// The USB bus; `None`: transfers take no time.
    pub usb: Option<UsbParams>,
}

/// A USB 2.0 bus between a host and its device, with the waits at both ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UsbParams {
    /// Time of a packet of 512 bytes on the bus.
    pub packet: Duration,
    /// Delay until a transfer begins.
    pub start: Duration,
    /// Delay from the end of a transfer to the host's driver.
    pub interrupt: Duration,
    /// Maximum number of frames in a transfer from the host.
    pub tx_frames: u32,
    /// Maximum number of frames in a transfer from the device.
    pub rx_frames: u32,
    /// How long the first frame of a transfer to the host waits for others.
    pub rx_wait: Duration,
}

impl UsbParams {
    /// Maximum of `start` and `interrupt`: a USB microframe.
    // spec: usb 2.0 5.8 - a bulk transfer goes when the bus is free, in the same microframe or the next.
    // linux: drivers/usb/host/ehci-hcd.c log2_irq_thresh (4.14) - EHCI interrupts in each microframe at most;
    // xhci.c xhci_run (4.14) - xHCI 40 us after the last interrupt.
    pub const MICROFRAME: Duration = Duration::from_micros(125);

    /// Time of a transfer of `bytes` on the bus.
    #[inline]
    pub fn takes(&self, bytes: u32) -> Duration {
        self.packet * u64::from(bytes.div_ceil(512))
    }
}

impl Default for UsbParams {
    // spec: usb 2.0 5.8.4 table 5-10 - 13 packets of 512 bytes in a microframe.
    // deviation: `start` and `interrupt` are the middle of 0 to a microframe, of which no source says where
    // in it they lie.
    // linux: drivers/net/wireless/ath/ath9k/hif_usb.h MAX_TX_AGGR_NUM (4.14) - 20.
    // ath9k_htc-firmware: magpie_fw_dev/target/init/app_start.c (e888634) - 9 frames behind the first, 160
    // units; sboot's rom_cfg.h - a unit is 32 cycles of 30 MHz.
    // deviation: the wait begins with the first frame - whether the next begins it anew is not known.
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
    // linux: drivers/net/wireless/ath/ath9k/htc.h ATH9K_HTC_TX_THRESHOLD (4.14) - 256 slots less 10 kept
    // back.
    // ath9k_htc-firmware: wlan/if_owl.c ath_tgt_tx_form_aggr (e888634) - 17 on the AR9271, 22 on its sibling;
    // 33 buffers.
    fn default() -> Self {
        Self { limit: 246, target_buffers: 33, max_frames: 17, usb: Some(UsbParams::default()) }
    }
}

/// The legacy transmit path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LegacyParams {
    /// Frames an access category may hold before its queue is stopped (debugfs `qlen_be` etc.).
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
    /// Flow queues for the whole device.
    pub flows: u32,
    /// Maximum number of packets in all queues together.
    pub limit: u32,
    /// Maximum truesize of the packets in all queues together, in bytes.
    pub memory_limit: u32,
    /// Maximum number of packets dropped at once from the longest queue when a limit is exceeded. At most
    /// half of the queue.
    pub drop_batch: u32,
    /// Bytes a flow may send in a round.
    pub quantum: u32,
    /// CoDel for a station that is not slow.
    pub codel: CodelParams,
    /// CoDel for a slow station.
    pub codel_slow: CodelParams,
    /// Expected throughput below which a station is slow.
    pub slow_below: SlowBelow,
    /// Minimum time between two changes of a station's CoDel parameters.
    pub hysteresis: Duration,
    /// A user-defined AQM algorithm on each flow queue instead of CoDel. The CoDel parameters then have no
    /// effect; the AQM is told which stations are slow.
    pub aqm: Option<AqmFactory>,
}

/// Threshold of expected throughput below which a station is slow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SlowBelow {
    /// A fixed threshold.
    Rate(Rate),
    /// A rate times the number of stations of the device, active or not.
    EachStation(Rate),
}

impl SlowBelow {
    /// No station is slow.
    pub const NOBODY: Self = Self::Rate(Rate::from_bps(0));

    /// The threshold of a device with this many stations.
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

    /// With Linux's rule for slow stations: the threshold grows with the number of stations and is checked at
    /// each rate update.
    // linux: net/mac80211/sta_info.c sta_update_codel_params, sta_info.h STA_SLOW_THRESHOLD (4.12) - commit
    // 484a54c2e597.
    // deviation: the stations of the device - Linux counts those of all devices on its radio.
    #[must_use]
    pub const fn as_linux_has_it(mut self) -> Self {
        self.slow_below = SlowBelow::EachStation(Rate::from_mbps(6));
        self.hysteresis = Duration::ZERO;
        self
    }

    /// With drops in batches of 32, as since Linux 5.12.
    // linux: include/net/fq_impl.h fq_flow_drop (5.12) - commit 07be2fed5ee7.
    #[must_use]
    pub const fn with_batches(mut self) -> Self {
        self.drop_batch = 32;
        self
    }

    /// Without slow stations, as since Linux 6.16.
    // linux: net/mac80211/sta_info.c (6.16) - the rule is gone: commit 4876376988081 of 2025, in stable
    // kernels too.
    #[must_use]
    pub const fn with_nobody_slow(mut self) -> Self {
        self.slow_below = SlowBelow::NOBODY;
        self
    }
}

impl Default for MacFqParams {
    // linux: include/net/fq.h, net/mac80211/main.c ieee80211_txq_setup_flows (4.10) - and
    // paper: ending-the-anomaly 3.1.1 - threshold and hysteresis, which Linux has otherwise.
    fn default() -> Self {
        let ms = Duration::from_millis;
        Self {
            flows: 4096,
            limit: 8192,
            // linux: net/mac80211/tx.c ieee80211_txq_setup_flows (5.4) - of a device none of whose bands has
            // VHT.
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

/// A user-defined scheduler in a configuration: one instance is made for each device, from the number of its
/// peers.
pub type SchedulerFactory = PartFactory<dyn StationScheduler + Send, usize>;

/// Which station is served next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Scheduler {
    /// One aggregate each in turn (scheme `fq_mac`).
    RoundRobin(WhenFull),
    /// Algorithm 3 as ath9k runs it, TID by TID (scheme `airtime`).
    Airtime(AirtimeParams),
    /// Algorithm 3 as the paper prints it, station by station (scheme `airtime_as_printed`).
    AirtimeAsPrinted(AirtimeParams),
    /// mac80211's scheduler since Linux 5.1 (scheme `mac80211`). `sparse` has no effect: there is one list.
    Mac80211(AirtimeParams, Option<AqlParams>, Mac80211Rules),
    /// A user-defined scheduler, without airtime queue limits.
    Custom(SchedulerFactory),
}

impl Scheduler {
    /// The parameters of an airtime scheduler.
    pub const fn airtime(&self) -> Option<&AirtimeParams> {
        match self {
            Self::RoundRobin(_) | Self::Custom(_) => None,
            Self::Airtime(p) | Self::AirtimeAsPrinted(p) | Self::Mac80211(p, ..) => Some(p),
        }
    }

    /// The same, mutable.
    pub const fn airtime_mut(&mut self) -> Option<&mut AirtimeParams> {
        match self {
            Self::RoundRobin(_) | Self::Custom(_) => None,
            Self::Airtime(p) | Self::AirtimeAsPrinted(p) | Self::Mac80211(p, ..) => Some(p),
        }
    }

    /// Airtime queue limits (AQL), if the scheduler has them.
    pub const fn aql(&self) -> Option<&AqlParams> {
        match self {
            Self::Mac80211(_, aql, _) => aql.as_ref(),
            Self::RoundRobin(_) | Self::Airtime(_) | Self::AirtimeAsPrinted(_) | Self::Custom(_) => None,
        }
    }
}

/// Which station is next after the hardware queue was found full.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WhenFull {
    /// The next station. The driver tries at each packet, so most turns are lost this way, and a station that
    /// may have more in the hardware than others gets their turns.
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_txq_schedule (4.4; 4.10 too, as commit 50f08edf9809
    // left it so).
    LosesTurn,
    /// The same station, as soon as there is room.
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_txq_schedule (4.11), commit 63fefa050477.
    KeepsTurn,
}

/// The kernel versions whose rules mac80211's scheduler follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mac80211Rules {
    /// 5.1 to 5.13: deficit round robin. A station that becomes active goes to the head; one without frames
    /// is not listed.
    // linux: net/mac80211/tx.c ieee80211_next_txq (5.1).
    #[default]
    Rounds,
    /// 5.14 to 5.19: virtual time.
    // linux: net/mac80211/tx.c ieee80211_next_txq (5.15), commit 2433647bc8d9 of June 2021.
    VirtualTime,
    /// Since 6.0: deficit round robin again. Airtime pending below the queues counts as used where AQL knows
    /// it. A station with a negative deficit stays listed for 100 ms; one without frames for that long is not
    /// charged.
    // linux: net/mac80211/tx.c ieee80211_sta_deficit, ieee80211_txq_keep_active (6.0), commits 942741dabcb4,
    // 9c1be3cde004, 8ccc07028cb7 and c77bfab92371 of June 2022.
    // deviation: without the limit of all of a category (8e4bac067105), which begins at 12 ms: two aggregates
    // are less.
    RoundsWithPending,
}

impl Mac80211Rules {
    /// How group-addressed frames count against airtime queue limits under these rules.
    pub const fn groups(self) -> GroupsCount {
        match self {
            Self::Rounds | Self::VirtualTime => GroupsCount::InAll,
            Self::RoundsWithPending => GroupsCount::Not,
        }
    }
}

impl AirtimeParams {
    /// Whether stations are charged for airtime.
    pub const fn charges(&self) -> bool {
        self.charge_tx || self.charge_rx
    }
}

impl HardwareDepth {
    /// The default of a driver.
    pub fn of(driver: &DriverConfig) -> Self {
        match driver {
            DriverConfig::Htc(_) => Self::HTC,
            DriverConfig::Firmware(..) => Self::RING,
            DriverConfig::Legacy(_) | DriverConfig::Fq(..) => Self::default(),
        }
    }
}
