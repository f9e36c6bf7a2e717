//! What a host does by default: a kernel's own numbers and rules, which its data file and a node's overrides fill.

use stillair_model::node::classify::DscpToUp;
use stillair_model::transport::cc::CcParams;
use stillair_model::transport::tcp::config::TcpConfig;
use stillair_model::vocabulary::Duration;
use stillair_model::wifi::rate::minstrel_ht::MinstrelVersion;

use super::super::control::CongestionControl;
use super::memory::SocketMemory;

/// A kernel's defaults, with a node's overrides applied. Sources stand in the data files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Profile {
    /// Name, such as `linux-4.4`.
    pub name: &'static str,
    /// The two numbers of a Linux kernel; none of another system.
    pub version: Option<(u16, u16)>,
    /// The same of its wireless stack, which may be of a later kernel.
    pub wifi_version: Option<(u16, u16)>,
    /// What a station's deficit grows by in a round of mac80211's airtime scheduler, if that is not its weight.
    pub airtime_quantum: Option<Duration>,
    /// Packets in an Ethernet-like device's queue (`txqueuelen`).
    pub txqueuelen: u32,
    /// pfifo_fast's limit holds for each band.
    pub pfifo_fast_limit_per_band: bool,
    /// Most bytes of truesize in an fq_codel.
    pub fq_codel_memory_limit: u32,
    /// Most packets that fq_codel drops at once when over a limit.
    pub fq_codel_drop_batch: u32,
    /// Drops over fq_codel's limits raise the flow's CoDel count.
    pub fq_codel_overlimit_raises_count: bool,
    /// Delay that a pie aims at.
    pub pie_target: Duration,
    /// How often a pie sets its probability anew.
    pub pie_tupdate: Duration,
    /// A pie takes the delay from its drain rate.
    pub pie_dq_rate_estimator: bool,
    /// Discipline of interfaces that name none (`net.core.default_qdisc`).
    pub default_qdisc: &'static str,
    /// Send buffer of a UDP socket, in bytes of truesize (`net.core.wmem_default`).
    pub wmem_default: u32,
    /// How what sockets send lies in memory.
    pub memory: SocketMemory,
    /// User priority by DSCP, on Wi-Fi.
    pub dscp_to_up: DscpToUp,
    /// Rules of Minstrel-HT.
    pub minstrel_ht: MinstrelVersion,
    /// TCP of sockets over a device with scatter-gather.
    pub tcp: TcpConfig,
    /// `sk_pacing_shift` of sockets over Wi-Fi (as mac80211 sets it).
    pub wifi_pacing_shift: u8,
    /// Congestion control of flows that name none (`net.ipv4.tcp_congestion_control`).
    pub congestion_control: CongestionControl,
    /// Rules and module parameters of the congestion controls.
    pub cc: CcParams,
}

impl Profile {
    /// Most spatial streams of Minstrel-HT's groups of VHT.
    // linux: net/mac80211/rc80211_minstrel_ht.h MINSTREL_MAX_STREAMS - 3 (4.4, 4.14), 4 (5.2).
    // deviation: groups of HT go to four streams with each kernel.
    pub fn most_vht_streams(&self) -> u8 {
        if self.wifi_version.is_some_and(|own| own < (5, 1)) { 3 } else { 4 }
    }

    /// Minstrel-HT has groups of VHT in a kernel that was built with them alone.
    // linux: net/mac80211/rc80211_minstrel_ht.c (4.4, 4.14) - under CONFIG_MAC80211_RC_MINSTREL_VHT, which distributions had in part; (5.2)
    // always (since 5.0, recalled).
    pub fn vht_groups_are_an_option(&self) -> bool {
        self.wifi_version.is_some_and(|own| own < (5, 0))
    }
}
