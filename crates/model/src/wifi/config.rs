//! What can be chosen about an access point or a station: the queueing scheme and its pieces.

use crate::aqm::codel::CodelParams;
use crate::aqm::law::LawFactory;
use crate::vocabulary::{Duration, PartFactory, Rate};
pub use crate::wifi::air::radio::HardwareDepth;
use crate::wifi::stations::StationScheduler;
pub use crate::wifi::stations::{AirtimeParams, AqlParams, GroupsCount};
pub use crate::wifi::tx::transmitter::AIRTIME_WEIGHT;

/// How the device queues and schedules: *Ending the Anomaly*, section 4.
#[derive(Clone, PartialEq, Debug)]
pub enum DriverConfig {
    /// ath9k before 4.10: a qdisc above, the driver's own FIFOs below.
    Legacy(LegacyParams),
    /// Queues in the MAC, no qdisc.
    Fq(MacFqParams, Scheduler),
    /// ath9k_htc behind USB: a qdisc above.
    Htc(HtcParams),
    /// Firmware that makes the aggregates, below queues in the MAC.
    Firmware(MacFqParams, Scheduler, FirmwareParams),
}

/// The transmit path of a driver whose firmware makes the aggregates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FirmwareParams {
    /// Most frames that the host hands over without having heard of them.
    pub frames: u32,
    /// What becomes of the next one.
    pub full: WhenFirmwareFull,
    /// Frames with which the firmware's report does not wait any longer.
    pub report_frames: u32,
    /// How long a report waits after the first frame of it.
    pub report_delay: Duration,
    /// Airtime that stations are charged with.
    pub airtime: AirtimeReport,
    /// Packets that the firmware joins into an A-MSDU at most.
    pub amsdu_frames: u8,
    /// mac80211 joins them, when they leave its queues; the firmware none.
    pub host_joins: bool,
    /// Bytes of an MPDU with several packets at most; what the peer announces if it is not given.
    pub amsdu_bytes: Option<u16>,
    /// Whether the firmware shares the air among stations by airtime; else they take turns, an aggregate each.
    pub shares_airtime: bool,
}

/// What becomes of a frame for which the firmware has no room.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WhenFirmwareFull {
    /// It stays in its queue.
    Waits,
    /// It has left its queue and is dropped.
    Drops,
}

/// How a host learns what airtime its stations use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AirtimeReport {
    /// Not at all: there is no airtime fairness.
    Nothing,
    /// It reckons each frame at the last rate, when it is reported.
    Frames,
    /// The hardware counts, by station and category; the counters of those that a report names are read.
    Counters,
}

/// The transmit path of ath9k_htc.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HtcParams {
    /// Frames on the host and in the target, of all categories, with which all queues are stopped.
    pub limit: u32,
    /// Frames that the target has buffers for, those in PPDUs included.
    pub target_buffers: u32,
    /// Frames that the firmware puts in an aggregate at most.
    pub max_frames: u32,
    /// The bus; without it frames are where they go at once.
    pub usb: Option<UsbParams>,
}

/// A USB 2.0 bus between a host and its device, with what both wait for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UsbParams {
    /// Time of a packet of 512 bytes on the bus.
    pub packet: Duration,
    /// From the time when there is something to move until it begins.
    pub start: Duration,
    /// From the end of a transfer until the host's driver has it.
    pub interrupt: Duration,
    /// Frames that the host puts in a transfer at most.
    pub tx_frames: u32,
    /// Frames that the device puts in a transfer at most.
    pub rx_frames: u32,
    /// How long the first frame of a transfer to the host waits for others.
    pub rx_wait: Duration,
}

impl UsbParams {
    /// How far `start` and `interrupt` may go: a microframe each.
    // spec: usb 2.0 5.8 - a bulk transfer goes when the bus is free, in the same microframe or the next.
    // linux: drivers/usb/host/ehci-hcd.c log2_irq_thresh (4.14) - EHCI interrupts in each microframe at most; xhci.c xhci_run (4.14) -
    // xHCI 40 us after the last interrupt.
    pub const MICROFRAME: Duration = Duration::from_micros(125);

    /// How long so many bytes are on the bus.
    #[inline]
    pub fn takes(&self, bytes: u32) -> Duration {
        self.packet * u64::from(bytes.div_ceil(512))
    }
}

impl Default for UsbParams {
    // spec: usb 2.0 5.8.4 table 5-10 - 13 packets of 512 bytes in a microframe.
    // deviation: `start` and `interrupt` are the middle of 0 to a microframe, of which no source says where in it they lie.
    // linux: drivers/net/wireless/ath/ath9k/hif_usb.h MAX_TX_AGGR_NUM (4.14) - 20.
    // ath9k_htc-firmware: magpie_fw_dev/target/init/app_start.c (e888634) - 9 frames behind the first, 160 units; sboot's rom_cfg.h -
    // a unit is 32 cycles of 30 MHz.
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
    // linux: drivers/net/wireless/ath/ath9k/htc.h ATH9K_HTC_TX_THRESHOLD (4.14) - 256 slots less 10 kept back.
    // ath9k_htc-firmware: wlan/if_owl.c ath_tgt_tx_form_aggr (e888634) - 17 on the AR9271, 22 on its sibling; 33 buffers.
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

/// The queues in the MAC: Algorithms 1 and 2.
#[derive(Clone, PartialEq, Debug)]
pub struct MacFqParams {
    /// Flow queues for the whole device.
    pub flows: u32,
    /// Most packets over all queues.
    pub limit: u32,
    /// Most bytes of truesize over all queues.
    pub memory_limit: u32,
    /// Most packets dropped at once from the longest queue when a limit is exceeded; half of the queue at most.
    pub drop_batch: u32,
    /// Bytes a flow may send in a round.
    pub quantum: u32,
    /// CoDel for a station that is not slow.
    pub codel: CodelParams,
    /// CoDel for a slow station.
    pub codel_slow: CodelParams,
    /// Expected throughput below which a station is slow.
    pub slow_below: SlowBelow,
    /// Least time between two changes of a station's parameters.
    pub hysteresis: Duration,
    /// A user-defined control law on each flow queue, in CoDel's place: the parameters of CoDel are without effect then, but a law is
    /// told which stations are slow.
    pub law: Option<LawFactory>,
}

/// Where the expected throughput of a slow station ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SlowBelow {
    /// There, however many stations there are.
    Rate(Rate),
    /// At so much for each station of the device, busy or not.
    EachStation(Rate),
}

impl SlowBelow {
    /// Nobody is slow.
    pub const NOBODY: Self = Self::Rate(Rate::from_bps(0));

    /// The threshold of a device with so many stations.
    pub fn threshold(self, stations: usize) -> Rate {
        match self {
            Self::Rate(rate) => rate,
            Self::EachStation(rate) => Rate::from_bps(rate.bps() * stations as u64),
        }
    }
}

impl MacFqParams {
    /// The default limit on truesize of a device that can VHT or HE.
    // linux: include/net/fq_impl.h fq_init (5.4).
    pub const VHT_MEMORY_LIMIT: u32 = 16 << 20;

    /// The same as Linux has it: a threshold that grows with the stations, looked at anew with each choice of rates.
    // linux: net/mac80211/sta_info.c sta_update_codel_params, sta_info.h STA_SLOW_THRESHOLD (4.12) - commit 484a54c2e597.
    // deviation: the stations of the device - Linux counts those of all devices on its radio.
    #[must_use]
    pub const fn as_linux_has_it(mut self) -> Self {
        self.slow_below = SlowBelow::EachStation(Rate::from_mbps(6));
        self.hysteresis = Duration::ZERO;
        self
    }

    /// The same with drops in batches.
    // linux: include/net/fq_impl.h fq_flow_drop (5.12) - commit 07be2fed5ee7.
    #[must_use]
    pub const fn with_batches(mut self) -> Self {
        self.drop_batch = 32;
        self
    }

    /// The same without slow stations.
    // linux: net/mac80211/sta_info.c (6.16) - the rule is gone: commit 4876376988081 of 2025, in stable kernels too.
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
            // linux: net/mac80211/tx.c ieee80211_txq_setup_flows (5.4) - of a device none of whose bands has VHT.
            memory_limit: 4 << 20,
            drop_batch: 1,
            quantum: 300,
            codel: CodelParams { target: ms(20), interval: ms(100), ecn: true, mtu: 0 },
            codel_slow: CodelParams { target: ms(50), interval: ms(300), ecn: false, mtu: 0 },
            slow_below: SlowBelow::Rate(Rate::from_mbps(12)),
            hysteresis: Duration::from_secs(2),
            law: None,
        }
    }
}

/// A user-defined scheduler, as a configuration names it: one is made for each device, told the number of its peers.
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
    /// The scheduler that mac80211 has had since 5.1 (scheme `mac80211`). Its `sparse` says nothing: there is one list.
    Mac80211(AirtimeParams, Option<AqlParams>, Mac80211Rules),
    /// Somebody's own, without airtime queue limits.
    Custom(SchedulerFactory),
}

impl Scheduler {
    /// The pieces of one that serves by airtime.
    pub const fn airtime(&self) -> Option<&AirtimeParams> {
        match self {
            Self::RoundRobin(_) | Self::Custom(_) => None,
            Self::Airtime(p) | Self::AirtimeAsPrinted(p) | Self::Mac80211(p, ..) => Some(p),
        }
    }

    /// The same, to be changed.
    pub const fn airtime_mut(&mut self) -> Option<&mut AirtimeParams> {
        match self {
            Self::RoundRobin(_) | Self::Custom(_) => None,
            Self::Airtime(p) | Self::AirtimeAsPrinted(p) | Self::Mac80211(p, ..) => Some(p),
        }
    }

    /// The airtime queue limits of one that has them.
    pub const fn aql(&self) -> Option<&AqlParams> {
        match self {
            Self::Mac80211(_, aql, _) => aql.as_ref(),
            Self::RoundRobin(_) | Self::Airtime(_) | Self::AirtimeAsPrinted(_) | Self::Custom(_) => None,
        }
    }
}

/// Whose turn it is after somebody found the hardware full.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WhenFull {
    /// The next one's. As the driver looks whenever a packet comes, most turns are lost that way, and whoever may have more
    /// in the hardware than others gets theirs.
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_txq_schedule (4.4; 4.10 too, as commit 50f08edf9809 left it so).
    LosesTurn,
    /// Its own, as soon as there is room.
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_txq_schedule (4.11), commit 63fefa050477.
    KeepsTurn,
}

/// By which kernel's rules mac80211 serves stations.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mac80211Rules {
    /// 5.1 to 5.13: deficit rounds; whoever becomes active stands first, and whoever has no frames is not listed.
    // linux: net/mac80211/tx.c ieee80211_next_txq (5.1).
    #[default]
    Rounds,
    /// 5.14 to 5.19: virtual time.
    // linux: net/mac80211/tx.c ieee80211_next_txq (5.15), commit 2433647bc8d9 of June 2021.
    VirtualTime,
    /// Since 6.0: deficit rounds again. What is below the queues counts as used where airtime queue limits know it, who
    /// owes stays listed for 100 ms, and who has not had frames for so long is not charged.
    // linux: net/mac80211/tx.c ieee80211_sta_deficit, ieee80211_txq_keep_active (6.0), commits 942741dabcb4, 9c1be3cde004,
    // 8ccc07028cb7 and c77bfab92371 of June 2022.
    // deviation: without the limit of all of a category (8e4bac067105), which begins at 12 ms: two aggregates are less.
    RoundsWithPending,
}

impl Mac80211Rules {
    /// What frames to groups count for against airtime queue limits under these rules.
    pub const fn groups(self) -> GroupsCount {
        match self {
            Self::Rounds | Self::VirtualTime => GroupsCount::InAll,
            Self::RoundsWithPending => GroupsCount::Not,
        }
    }
}

impl AirtimeParams {
    /// Whether stations are charged at all.
    pub const fn charges(&self) -> bool {
        self.charge_tx || self.charge_rx
    }
}

impl HardwareDepth {
    /// What a driver keeps ready unless told otherwise.
    pub fn of(driver: &DriverConfig) -> Self {
        match driver {
            DriverConfig::Htc(_) => Self::HTC,
            DriverConfig::Firmware(..) => Self::RING,
            DriverConfig::Legacy(_) | DriverConfig::Fq(..) => Self::default(),
        }
    }
}
