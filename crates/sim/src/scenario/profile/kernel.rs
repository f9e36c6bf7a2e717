//! Default behaviour of a host: the values and rules of a kernel, read from its data file and overridden by a
//! node.

use stillair_model::node::classify::DscpToUp;
use stillair_model::transport::cc::CcParams;
use stillair_model::transport::tcp::config::TcpConfig;
use stillair_model::types::Duration;
use stillair_model::wifi::rate::minstrel_ht::MinstrelVersion;

use super::super::control::CongestionControl;
use super::memory::SocketMemory;

/// A kernel's defaults, with a node's overrides applied. The data files name the sources.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Profile {
    /// Name, such as `linux-4.4`.
    pub name: &'static str,
    /// Kernel version, major and minor; `None` for systems other than Linux.
    pub version: Option<(u16, u16)>,
    /// Kernel version of the wireless stack, which may be later than `version` (backports).
    pub wifi_version: Option<(u16, u16)>,
    /// Linux release, major and minor, whose defaults replace those that no source documents for this system;
    /// `None` for Linux and OpenWrt.
    pub assumed: Option<(u16, u16)>,
    /// Quantum of mac80211's airtime scheduler, added to a station's deficit per round. `None`: the station's
    /// weight.
    pub airtime_quantum: Option<Duration>,
    /// Queue length in packets of an Ethernet-like device (`txqueuelen`).
    pub txqueuelen: u32,
    /// True if pfifo_fast's limit applies to each band.
    pub pfifo_fast_limit_per_band: bool,
    /// Memory limit of fq_codel, in bytes of truesize.
    pub fq_codel_memory_limit: u32,
    /// Maximum number of packets that fq_codel drops at once when over a limit.
    pub fq_codel_drop_batch: u32,
    /// True if drops over fq_codel's limits raise the flow's CoDel count.
    pub fq_codel_overlimit_raises_count: bool,
    /// PIE's target delay.
    pub pie_target: Duration,
    /// Interval between updates of PIE's drop probability.
    pub pie_tupdate: Duration,
    /// True if PIE estimates the delay from the dequeue rate.
    pub pie_dq_rate_estimator: bool,
    /// Default queueing discipline (`net.core.default_qdisc`).
    pub default_qdisc: &'static str,
    /// Send buffer of a UDP socket, in bytes of truesize (`net.core.wmem_default`).
    pub wmem_default: u32,
    /// Memory layout of sent packets.
    pub memory: SocketMemory,
    /// Mapping from DSCP to user priority on Wi-Fi.
    pub dscp_to_up: DscpToUp,
    /// Version of Minstrel-HT.
    pub minstrel_ht: MinstrelVersion,
    /// TCP parameters of sockets over a device with scatter-gather.
    pub tcp: TcpConfig,
    /// `sk_pacing_shift` of sockets over Wi-Fi, as mac80211 sets it.
    pub wifi_pacing_shift: u8,
    /// Default congestion control (`net.ipv4.tcp_congestion_control`).
    pub congestion_control: CongestionControl,
    /// Rules and module parameters of the congestion controls.
    pub cc: CcParams,
}

impl Profile {
    /// Returns the maximum number of spatial streams in Minstrel-HT's VHT groups.
    // linux: net/mac80211/rc80211_minstrel_ht.h MINSTREL_MAX_STREAMS - 3 (4.4, 4.14), 4 (5.2).
    // deviation: HT groups have up to four streams in all kernels.
    pub fn most_vht_streams(&self) -> u8 {
        if self.wifi_version.is_some_and(|own| own < (5, 1)) { 3 } else { 4 }
    }

    /// Returns true if Minstrel-HT has VHT groups only in kernels built with that option.
    // linux: net/mac80211/rc80211_minstrel_ht.c (4.4, 4.14) - under CONFIG_MAC80211_RC_MINSTREL_VHT, which
    // some distributions enabled, still in 4.19; (4.20) always.
    pub fn vht_groups_are_an_option(&self) -> bool {
        self.wifi_version.is_some_and(|own| own < (4, 20))
    }
}
