//! Congestion control: the interface between a TCP sender and the algorithm that sets its window.
//!
//! A controller is a struct that implements [`Controller`]. The enum [`Cc`] holds any of them, so that ACK
//! processing needs no dynamic dispatch except for user-defined controllers ([`CustomCc`]). [`CcSock`] is the
//! part of a connection that a controller may read and write; its fields have the names of `ss` and the
//! kernel. Arithmetic is in integers wherever Linux uses integers.

pub mod bbr;
pub mod compound;
pub mod cubic;
mod custom;
pub mod highspeed;
pub mod hybla;
pub mod hystart;
pub mod illinois;
pub mod nv;
pub mod reno;
#[cfg(test)]
mod response;
pub mod scalable;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
pub mod vegas;
pub mod westwood;
mod windowed_max;
pub mod yeah;

use crate::types::RandomStream;
pub use custom::{ControllerFactory, CustomCc, CustomController};
use reno::GrowthRules;

/// Congestion states of a sender.
// linux: include/uapi/linux/tcp.h enum tcp_ca_state (6.1).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
#[repr(u8)]
pub enum CaState {
    /// No duplicate ACKs, SACKs or losses.
    #[default]
    Open,
    /// Duplicate ACKs or SACKs were received.
    Disorder,
    /// The window is being reduced because of an ECN mark or local congestion, without a loss.
    Cwr,
    /// Lost segments are being retransmitted.
    Recovery,
    /// The retransmission timer has fired.
    Loss,
}

/// Events reported to a controller.
// linux: include/net/tcp.h enum tcp_ca_event (6.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CcEvent {
    /// First transmission with nothing in flight.
    TxStart,
    /// Window reset after an idle period.
    CwndRestart,
    /// End of Recovery or CWR.
    CompleteCwr,
    /// Entry into Loss.
    Loss,
    /// Reception of a segment with the CE mark.
    EcnIsCe,
}

/// Delivery rate sample of one ACK.
// linux: include/net/tcp.h struct rate_sample, net/ipv4/tcp_rate.c (6.1).
// spec: draft-cheng-iccrg-delivery-rate-estimation - delivery rate samples.
#[derive(Clone, Copy, Debug, Default)]
pub struct RateSample {
    /// `delivered` when the newest segment of the sample was sent; 0 without a sample.
    pub prior_delivered: u32,
    /// Segments delivered over the interval; negative if there is no valid sample.
    pub delivered: i32,
    /// Segments among `delivered` with a CE mark.
    pub delivered_ce: i32,
    /// Length of the interval in us; negative if there is no valid sample.
    pub interval_us: i64,
    /// Send phase of the interval in us.
    pub snd_interval_us: u32,
    /// ACK phase of the interval in us.
    pub rcv_interval_us: u32,
    /// RTT of the most recently sent segment acknowledged, in us; negative if none was timed.
    pub rtt_us: i64,
    /// Segments marked lost by this acknowledgement.
    pub losses: i32,
    /// Segments newly acknowledged or SACKed.
    pub acked_sacked: u32,
    /// Segments in flight before this acknowledgement.
    pub prior_in_flight: u32,
    /// True if the application limited the sender during the sample.
    pub is_app_limited: bool,
    /// True if the newest segment of the sample was a retransmission.
    pub is_retrans: bool,
    /// True if the ACK was probably delayed.
    pub is_ack_delayed: bool,
}

/// Data acknowledged by one ACK.
// linux: include/net/tcp.h struct ack_sample (6.1).
#[derive(Clone, Copy, Debug)]
pub struct AckSample {
    /// Segments newly acknowledged.
    pub pkts_acked: u32,
    /// RTT measured by this ACK in us; negative if none.
    pub rtt_us: i64,
    /// Bytes in flight when the newest acknowledged segment was sent, including that segment. The TCP sender
    /// estimates this from the segments delivered since.
    // linux: net/ipv4/tcp_output.c __tcp_transmit_skb (6.1) - tx.in_flight is in bytes, not segments.
    pub in_flight: u32,
}

/// Slow-start threshold in segments before the first reduction.
// linux: include/net/tcp.h TCP_INFINITE_SSTHRESH (6.1).
pub const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

/// The part of a connection visible to controllers. Field names are those of Linux's `tcp_sock`.
#[derive(Clone, Debug)]
pub struct CcSock {
    /// Congestion window in segments.
    pub snd_cwnd: u32,
    /// Acknowledged segments not yet added to the window.
    pub snd_cwnd_cnt: u32,
    /// Upper bound of the window in segments.
    pub snd_cwnd_clamp: u32,
    /// Slow-start threshold in segments.
    pub snd_ssthresh: u32,
    /// Window before the last reduction, for undo.
    pub prior_cwnd: u32,
    /// Segments sent but not cumulatively acknowledged.
    pub packets_out: u32,
    /// Segments among `packets_out` that are SACKed.
    pub sacked_out: u32,
    /// Segments among `packets_out` that are marked lost.
    pub lost_out: u32,
    /// Segments among `packets_out` that were retransmitted and are not yet acknowledged.
    pub retrans_out: u32,
    /// True if the window limited the sender in the last round trip.
    pub is_cwnd_limited: bool,
    /// Maximum segments in flight in the last window-limited round.
    pub max_packets_out: u32,
    /// Current congestion state.
    pub ca_state: CaState,
    /// Maximum segment size in bytes of data.
    pub mss_cache: u32,
    /// Smoothed RTT in us, times 8; 0 before the first measurement.
    pub srtt_us: u32,
    /// Minimum RTT over the kernel's window (300 s), in us; `u32::MAX` before the first measurement.
    pub min_rtt_us: u32,
    /// Segments delivered so far, including SACKed ones.
    pub delivered: u32,
    /// Segments among `delivered` with a CE mark.
    pub delivered_ce: u32,
    /// Segments marked lost so far.
    pub lost: u32,
    /// Value of `delivered` up to which samples are application-limited; 0 if the sender is not limited.
    pub app_limited: u32,
    /// Time of the last delivery in us.
    pub delivered_mstamp: u64,
    /// First unacknowledged sequence number.
    pub snd_una: u32,
    /// Next sequence number to be sent.
    pub snd_nxt: u32,
    /// Bytes written by the application but not sent (write_seq - snd_nxt).
    pub unsent: u32,
    /// Current time in us (`tcp_mstamp`).
    pub now_us: u64,
    /// Current time in kernel ticks since the start of the run (`tcp_jiffies32`).
    pub jiffies: u32,
    /// CONFIG_HZ: ticks per second.
    pub hz: u32,
    /// Time of the last data transmission in jiffies (`lsndtime`).
    pub lsndtime: u32,
    /// Pacing rate in bytes per second.
    pub pacing_rate: u64,
    /// Maximum pacing rate in bytes per second.
    pub max_pacing_rate: u64,
    /// True if the controller requests pacing (`sk_pacing_status` other than none).
    pub needs_pacing: bool,
    /// Right shift from the pacing rate to the bytes of one TCP small queues period (`sk_pacing_shift`).
    pub pacing_shift: u8,
    /// Maximum size of a TSO packet in bytes (`sk_gso_max_size`).
    pub gso_max_size: u32,
    /// Truesize bytes queued in lower layers and charged to the socket (`sk_wmem_alloc`).
    pub wmem_alloc: u32,
    /// How the window grows if one ACK covers several segments.
    pub growth: GrowthRules,
    /// Initial window in segments.
    pub init_cwnd: u32,
    /// Earliest departure time of the next segment in ns (`tcp_wstamp_ns`).
    pub wstamp_ns: u64,
    /// Current time in ns (`tcp_clock_cache`).
    pub clock_ns: u64,
    /// Random stream of the controller.
    pub random: RandomStream,
}

impl CcSock {
    /// Creates an unused connection: initial window of 10 segments, MSS of 536 bytes, 250 ticks per second,
    /// TSO packets of up to 64 KiB. `random` is the controller's random stream.
    // linux: net/ipv4/tcp.c tcp_init_sock (6.1) - sets an infinite threshold, marks samples
    // application-limited until the first transmission, and assumes the default MSS (TCP_MSS_DEFAULT).
    pub fn new(random: RandomStream) -> Self {
        Self {
            snd_cwnd: 10,
            snd_cwnd_cnt: 0,
            snd_cwnd_clamp: u32::MAX,
            snd_ssthresh: INFINITE_SSTHRESH,
            prior_cwnd: 0,
            packets_out: 0,
            sacked_out: 0,
            lost_out: 0,
            retrans_out: 0,
            is_cwnd_limited: false,
            max_packets_out: 0,
            ca_state: CaState::Open,
            mss_cache: 536,
            srtt_us: 0,
            min_rtt_us: u32::MAX,
            delivered: 0,
            delivered_ce: 0,
            lost: 0,
            app_limited: u32::MAX,
            delivered_mstamp: 0,
            snd_una: 0,
            snd_nxt: 0,
            unsent: 0,
            now_us: 0,
            jiffies: 0,
            hz: 250,
            lsndtime: 0,
            pacing_rate: u64::MAX,
            max_pacing_rate: u64::MAX,
            needs_pacing: false,
            pacing_shift: 10,
            gso_max_size: 65_536,
            wmem_alloc: 0,
            growth: GrowthRules::default(),
            init_cwnd: 10,
            wstamp_ns: 0,
            clock_ns: 0,
            random,
        }
    }
    /// Returns the number of segments in the network.
    // linux: include/net/tcp.h tcp_packets_in_flight (6.1).
    #[inline]
    pub fn in_flight(&self) -> u32 {
        self.packets_out - (self.sacked_out + self.lost_out) + self.retrans_out
    }
    /// Returns true if the window is below the slow-start threshold. Before 4.3 (76174004a0f1), a window at
    /// the threshold also counts.
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.snd_cwnd < self.snd_ssthresh
            || (self.snd_cwnd == self.snd_ssthresh && self.growth == GrowthRules::Linux3_13)
    }
}

/// A congestion controller. The default methods behave as Linux does for a module without that function.
///
/// # Call order
///
/// [`init`](Self::init) is called first. For each ACK the sender calls [`in_ack_event`](Self::in_ack_event),
/// [`pkts_acked`](Self::pkts_acked) if the ACK acknowledges data, [`set_state`](Self::set_state) if the state
/// changes, [`cong_control`](Self::cong_control), and [`cong_avoid`](Self::cong_avoid) if `cong_control`
/// returned false. [`ssthresh`](Self::ssthresh) is called on congestion, before the state changes, and
/// [`undo_cwnd`](Self::undo_cwnd) if the reduction turns out to be spurious.
///
/// # Requirements
///
/// - The window ([`CcSock::snd_cwnd`]) is at least one segment, and no ACK raises it above
///   [`CcSock::snd_cwnd_clamp`].
/// - A threshold is at least one segment.
/// - A paced connection ([`CcSock::needs_pacing`]) has a rate. The sender derives it from window and RTT,
///   unless the controller's `cong_control` returns true.
/// - A copy behaves like the original and shares no state with it. Controllers read no clock; random numbers
///   come from [`CcSock::random`].
///
/// [`crate::conformance::controller()`] checks these requirements.
// linux: include/net/tcp.h struct tcp_congestion_ops (6.1).
pub trait Controller {
    /// Called when the connection is established.
    fn init(&mut self, _sk: &mut CcSock) {}
    /// Returns the slow-start threshold after congestion, in segments.
    fn ssthresh(&mut self, sk: &mut CcSock) -> u32;
    /// Grows the window after `acked` segments were acknowledged with acknowledgement number `ack`. Not
    /// called if [`Controller::cong_control`] returns true.
    fn cong_avoid(&mut self, sk: &mut CcSock, ack: u32, acked: u32);
    /// Called after each ACK. Returns true if the controller sets window and pacing rate itself; the sender
    /// then skips `cong_avoid` and proportional rate reduction.
    fn cong_control(&mut self, _sk: &mut CcSock, _rs: &RateSample) -> bool {
        false
    }
    /// Called when the state changes to `new`. `sk.ca_state` still holds the old state.
    fn set_state(&mut self, _sk: &mut CcSock, _new: CaState) {}
    /// Called for each connection event.
    fn cwnd_event(&mut self, _sk: &mut CcSock, _event: CcEvent) {}
    /// Called when an ACK arrives, before it is processed. `ece` is true if the ACK has the ECE flag.
    fn in_ack_event(&mut self, _sk: &mut CcSock, _ece: bool) {}
    /// Called when segments are acknowledged.
    fn pkts_acked(&mut self, _sk: &mut CcSock, _sample: &AckSample) {}
    /// Returns the window to restore after a spurious reduction.
    // linux: net/ipv4/tcp_cong.c tcp_reno_undo_cwnd (6.1).
    fn undo_cwnd(&mut self, sk: &mut CcSock) -> u32 {
        sk.snd_cwnd.max(sk.prior_cwnd)
    }
    /// Returns the send buffer size in multiples of the window.
    // linux: net/ipv4/tcp_input.c tcp_sndbuf_expand (6.1).
    fn sndbuf_expand(&self) -> u32 {
        2
    }
    /// Returns the minimum number of segments per TSO packet. `default` is `net.ipv4.tcp_min_tso_segs`.
    fn min_tso_segs(&self, _sk: &CcSock, default: u32) -> u32 {
        default
    }
    /// Returns true if packets are ECN-capable regardless of `net.ipv4.tcp_ecn`.
    fn needs_ecn(&self) -> bool {
        false
    }
}

/// Controller parameters: those of the kernel modules, and rules that differ between kernels.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CcParams {
    /// BBR parameters.
    pub bbr: bbr::BbrParams,
    /// CUBIC parameters.
    pub cubic: cubic::CubicParams,
    /// Hybla parameters.
    pub hybla: hybla::HyblaParams,
    /// Illinois parameters.
    pub illinois: illinois::IllinoisParams,
    /// New Vegas parameters.
    pub nv: nv::NvParams,
    /// Vegas parameters.
    pub vegas: vegas::VegasParams,
}

/// Declares the built-in controllers, one line each. Brackets name the controller's [`CcParams`] field.
macro_rules! family {
    ($($(#[$doc:meta])* $name:literal => $variant:ident($controller:ty)$([$params:ident])?,)*) => {
        /// Any built-in or user-defined controller.
        #[derive(Clone, Debug)]
        pub enum Cc {
            $($(#[$doc])* $variant($controller),)*
            /// A user-defined controller.
            Custom(CustomCc),
        }

        /// Names of the built-in controllers, as in `net.ipv4.tcp_congestion_control`.
        pub const NAMES: &[&str] = &[$($name),*];

        impl Cc {
            /// Creates the controller with this name and these parameters, or `None` if the name is unknown.
            pub fn new(name: &str, params: &CcParams) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant(family!(@make params, $controller $(, $params)?))),)*
                    _ => None,
                }
            }
            /// Creates the controller with this name and Linux 6.1 parameters, or `None` if unknown.
            pub fn by_name(name: &str) -> Option<Self> {
                Self::new(name, &CcParams::default())
            }
            /// Returns the controller's name.
            pub fn name(&self) -> &str {
                match self {
                    $(Self::$variant(_) => $name,)*
                    Self::Custom(own) => own.name(),
                }
            }
        }

        macro_rules! each {
            ($self:expr, $c:ident => $do:expr) => {
                match $self {
                    $(Self::$variant($c) => $do,)*
                    Self::Custom($c) => $do,
                }
            };
        }
    };
    (@make $from:ident, $controller:ty) => { <$controller>::default() };
    (@make $from:ident, $controller:ty, $params:ident) => { <$controller>::new($from.$params) };
}

family! {
    /// BBR version 1.
    "bbr" => Bbr(bbr::Bbr)[bbr],
    /// Compound TCP, loss- and delay-based, as in Windows.
    "compound" => Compound(compound::Compound),
    /// CUBIC (RFC 9438), the Linux default.
    "cubic" => Cubic(cubic::Cubic)[cubic],
    /// HighSpeed TCP (RFC 3649).
    "highspeed" => HighSpeed(highspeed::HighSpeed),
    /// Hybla, for long RTTs.
    "hybla" => Hybla(hybla::Hybla)[hybla],
    /// Illinois, loss- and delay-based.
    "illinois" => Illinois(illinois::Illinois)[illinois],
    /// New Vegas.
    "nv" => Nv(nv::Nv)[nv],
    /// Reno (RFC 5681).
    "reno" => Reno(reno::Reno),
    /// Scalable TCP.
    "scalable" => Scalable(scalable::Scalable),
    /// Vegas, delay-based.
    "vegas" => Vegas(vegas::Vegas)[vegas],
    /// Westwood+.
    "westwood" => Westwood(westwood::Westwood),
    /// YeAH, loss- and delay-based.
    "yeah" => Yeah(yeah::Yeah),
}

impl Controller for Cc {
    fn init(&mut self, sk: &mut CcSock) {
        each!(self, c => c.init(sk));
    }
    #[inline]
    fn ssthresh(&mut self, sk: &mut CcSock) -> u32 {
        each!(self, c => c.ssthresh(sk))
    }
    #[inline]
    fn cong_avoid(&mut self, sk: &mut CcSock, ack: u32, acked: u32) {
        each!(self, c => c.cong_avoid(sk, ack, acked));
    }
    #[inline]
    fn cong_control(&mut self, sk: &mut CcSock, rs: &RateSample) -> bool {
        each!(self, c => c.cong_control(sk, rs))
    }
    fn set_state(&mut self, sk: &mut CcSock, new: CaState) {
        each!(self, c => c.set_state(sk, new));
    }
    #[inline]
    fn cwnd_event(&mut self, sk: &mut CcSock, event: CcEvent) {
        each!(self, c => c.cwnd_event(sk, event));
    }
    #[inline]
    fn in_ack_event(&mut self, sk: &mut CcSock, ece: bool) {
        each!(self, c => c.in_ack_event(sk, ece));
    }
    #[inline]
    fn pkts_acked(&mut self, sk: &mut CcSock, sample: &AckSample) {
        each!(self, c => c.pkts_acked(sk, sample));
    }
    fn undo_cwnd(&mut self, sk: &mut CcSock) -> u32 {
        each!(self, c => c.undo_cwnd(sk))
    }
    #[inline]
    fn sndbuf_expand(&self) -> u32 {
        each!(self, c => c.sndbuf_expand())
    }
    #[inline]
    fn min_tso_segs(&self, sk: &CcSock, default: u32) -> u32 {
        each!(self, c => c.min_tso_segs(sk, default))
    }
    fn needs_ecn(&self) -> bool {
        each!(self, c => c.needs_ecn())
    }
}
