//! Sending half of a socket: what Linux does between `sendmsg` and the interface's qdisc.
//!
//! One file per concept. `queue` holds sent and unsent packets, `sndbuf` is the application's side, and
//! `output` decides what may be sent, shaped by `tso`, `small_queues` and `pacing`. `window` tracks the use
//! of the congestion window. `ack` processes ACKs with `sack`, `rtt` and `rate`. `recovery`, `undo`, `loss`,
//! `prr`, `rack` and `tlp` detect and repair losses. `timer` is the kernel's single timer for these purposes,
//! and `path` keeps metrics across connections.
//!
//! deviation: data has no content, so packets are never copied, nor merged when retransmitted or SACKed; the
//! MSS does not shrink while the socket sends SACK blocks with data; a connection is never aborted after too
//! many timeouts. Not modelled: path MTU probing, which is off by default.

mod ack;
mod chrono;
mod early;
mod loss;
mod output;
mod pacing;
mod path;
mod prr;
mod queue;
mod rack;
mod rate;
mod recovery;
mod rtt;
mod sack;
mod small_queues;
mod sndbuf;
mod timer;
mod tlp;
mod tso;
mod undo;
mod window;

#[cfg(test)]
mod scenarios;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

use super::config::TcpConfig;
use super::info::{BbrInfo, TcpInfo};
use super::metrics::PathMetrics;
use super::ticks::Ticks;
use super::{Emit, PeerOptions};
use crate::transport::cc::{CaState, Cc, CcSock, Controller};
use crate::transport::seq::before;
use crate::types::{Duration, Instant, MAX_SACK_BLOCKS, RandomStream};
use chrono::{Chrono, Limit};
use queue::{RtxQueue, UnsentQueue};
use rack::Rack;
use rate::Delivery;
use recovery::{Recovery, Rexmit};
use rtt::TcpRtt;
use small_queues::HostQueue;
use sndbuf::SendBuffer;
use timer::RetransTimer;
use tlp::LossProbe;
use window::Usage;

/// Maximum retransmission timeout in seconds.
// linux: include/net/tcp.h TCP_RTO_MAX (6.1).
const RTO_MAX_S: u32 = 120;
/// Timeout before the first RTT sample, and the variation assumed if the SYN was not timed, in seconds.
// linux: include/net/tcp.h TCP_TIMEOUT_INIT, TCP_TIMEOUT_FALLBACK (6.1).
const TIMEOUT_INIT_S: u32 = 1;
const TIMEOUT_FALLBACK_S: u32 = 3;
/// Length of the timestamp option in bytes, with padding.
const TIMESTAMP_OPTION: u32 = 12;
/// MSS assumed before the peer's is known.
// linux: include/net/tcp.h TCP_MSS_DEFAULT (6.1).
const MSS_DEFAULT: u32 = 536;

/// Counters of a sender, for [`TcpInfo`].
#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    retrans: u32,
    bytes_sent: u64,
    bytes_retrans: u64,
    bytes_acked: u64,
    segs_out: u32,
    data_segs_out: u32,
    dsack_dups: u32,
    tlp_probes: u32,
    timeouts: u32,
    /// Reordering events (`reord_seen`).
    reord_seen: u32,
}

/// ECN state of the sender.
#[derive(Clone, Copy, Debug, Default)]
struct Ecn {
    /// ECN was negotiated.
    ok: bool,
    /// Set CWR on the next new segment.
    queue_cwr: bool,
}

/// Sending half of a socket.
#[derive(Clone, Debug)]
pub struct Sender {
    /// Socket state visible to the congestion controller.
    pub sk: CcSock,
    cc: Cc,
    /// True if the congestion controller sets window and rate itself (`cong_control`).
    cc_controls: bool,
    cfg: TcpConfig,
    ticks: Ticks,
    /// Minimum retransmission timeout in us.
    rto_min_us: u32,
    rtx: RtxQueue,
    unsent: UnsentQueue,
    /// Window advertised by the peer, and its maximum so far, in bytes.
    snd_wnd: u32,
    max_window: u32,
    /// Sequence number of the segment that last updated the window.
    snd_wl1: u32,
    /// End of the last segment smaller than the MSS.
    snd_sml: u32,
    sack: bool,
    timestamps: bool,
    /// Last timestamp echo in ms.
    tsecr: u32,
    rtt: TcpRtt,
    rack: Rack,
    rec: Recovery,
    tlp: LossProbe,
    delivery: Delivery,
    usage: Usage,
    buf: SendBuffer,
    ecn: Ecn,
    host: HostQueue,
    timer: RetransTimer,
    pace_at: Option<Instant>,
    /// Expiry of the pacing timer in ns, for kernels that pace by timer.
    paced_until: u64,
    /// Departure time of the last packet sent, in us.
    sent_us: u64,
    rexmit: Rexmit,
    /// Reordering degree in segments.
    reordering: u32,
    reord_seen: bool,
    /// Disables FACK after reordering beyond the expected degree.
    fack_over: bool,
    /// End of the highest SACKed packet; valid while any packet is SACKed.
    highest_sack: u32,
    /// SACK blocks of the last ACK, in ascending order.
    sack_cache: [(u32, u32); MAX_SACK_BLOCKS],
    sack_cached: u8,
    /// Packets below this sequence number need no more checks for retransmission.
    rexmit_hint: Option<u32>,
    closing: bool,
    count: Counters,
    chrono: Chrono,
    /// Tick of the last ACK.
    last_ack: u32,
}

impl Sender {
    /// Creates a sender before the handshake. `random` is the controller's random stream.
    pub fn new(config: &TcpConfig, cc: Cc, random: RandomStream) -> Self {
        let ticks = Ticks::new(config.hz);
        Self {
            sk: CcSock {
                snd_cwnd: config.init_cwnd,
                init_cwnd: config.init_cwnd,
                growth: config.growth,
                hz: config.hz,
                // linux: net/sched/sch_fq.c fq_classify (6.1) - enables pacing with the first packet,
                // whatever the controller.
                needs_pacing: config.fq,
                pacing_shift: config.pacing_shift,
                // linux: net/core/sock.c sk_trim_gso_size (6.1) - subtracts the header room.
                gso_max_size: config.gso_max_size.saturating_sub(config.max_header + 1),
                ..CcSock::new(random)
            },
            cc,
            cc_controls: false,
            ticks,
            rto_min_us: (config.rto_min.nanos() / 1_000) as u32,
            rtx: RtxQueue::new(),
            unsent: UnsentQueue::default(),
            snd_wnd: 0,
            max_window: 0,
            snd_wl1: 0,
            snd_sml: 0,
            sack: config.sack,
            timestamps: config.timestamps,
            tsecr: 0,
            rtt: TcpRtt::new(TIMEOUT_INIT_S * config.hz, 0, 0),
            rack: Rack::default(),
            rec: Recovery::default(),
            tlp: LossProbe::default(),
            delivery: Delivery::default(),
            usage: Usage::default(),
            buf: SendBuffer::new(config.wmem[1]),
            ecn: Ecn::default(),
            host: HostQueue::default(),
            timer: RetransTimer::default(),
            pace_at: None,
            paced_until: 0,
            sent_us: 0,
            rexmit: Rexmit::None,
            reordering: config.reordering,
            reord_seen: false,
            fack_over: false,
            highest_sack: 0,
            sack_cache: [(0, 0); MAX_SACK_BLOCKS],
            sack_cached: 0,
            rexmit_hint: None,
            closing: false,
            count: Counters::default(),
            chrono: Chrono::default(),
            last_ack: 0,
            cfg: *config,
        }
    }

    /// Called when the handshake completes. `snd_nxt` is the first sequence number to send, `peer` the
    /// options offered by the peer, `window` the peer's receive window in bytes, and `syn_rtt` the RTT of the
    /// SYN if it was measured.
    // linux: net/ipv4/tcp_input.c tcp_init_transfer, tcp_rcv_synsent_state_process (6.1),
    // net/ipv4/tcp_metrics.c tcp_init_metrics - counts the SYN as the first delivered segment.
    pub fn established(
        &mut self,
        now: Instant,
        snd_nxt: u32,
        peer: &PeerOptions,
        window: u32,
        syn_rtt: Option<Duration>,
        path: &PathMetrics,
    ) {
        self.touch(now);
        self.sack = self.cfg.sack && peer.sack;
        self.timestamps = self.cfg.timestamps && peer.timestamps;
        self.ecn.ok = peer.ecn;
        (self.snd_wnd, self.max_window) = (window, window);
        self.buf.pushed_seq = snd_nxt;
        self.rtt = self.untimed(TIMEOUT_INIT_S);
        let option = if self.timestamps { TIMESTAMP_OPTION } else { 0 };
        // linux: net/ipv4/tcp_input.c tcp_ack_update_window (6.1) - applies the peer's MSS before the first
        // pacing rate.
        self.sk.mss_cache = u32::from(self.cfg.advmss.min(peer.mss)) - option;
        match syn_rtt {
            Some(rtt) => {
                let us = (rtt.nanos() / 1_000) as u32;
                self.rtt_sample(us);
                self.min_rtt_sample(us);
                self.update_pacing_rate();
            }
            None => self.rtt = self.untimed(TIMEOUT_FALLBACK_S),
        }
        self.recall(path);
        let sk = &mut self.sk;
        (sk.snd_una, sk.snd_nxt) = (snd_nxt, snd_nxt);
        self.snd_sml = snd_nxt;
        self.highest_sack = snd_nxt;
        sk.delivered = 1;
        sk.delivered_mstamp = sk.now_us;
        sk.app_limited = u32::MAX;
        sk.lsndtime = sk.jiffies;
        self.last_ack = sk.jiffies;
        self.usage = Usage::starting(sk.snd_una, sk.jiffies);
        self.delivery.first_tx_mstamp = sk.now_us;
        self.cc.init(&mut self.sk);
        self.expand_sndbuf();
    }

    /// Counts the SYN as an acknowledged byte, at the active end.
    // linux: net/ipv4/tcp_input.c tcp_snd_una_update (6.1) - the passive end counts from after its SYN;
    // measured.
    pub fn count_syn(&mut self) {
        self.count.bytes_acked += 1;
    }

    /// Returns the RTT state before the first sample, with a timeout and a variation of `seconds`.
    fn untimed(&self, seconds: u32) -> TcpRtt {
        TcpRtt::new(seconds * self.cfg.hz, self.sk.jiffies, seconds * 1_000_000 / self.rtt_unit_us())
    }

    #[inline]
    fn touch(&mut self, now: Instant) {
        self.sk.clock_ns = now.nanos();
        self.sk.now_us = now.nanos() / 1_000;
        self.sk.jiffies = self.ticks.at(now);
    }
    /// Microseconds since `then`.
    #[inline]
    fn since_us(&self, then: u64) -> u32 {
        self.sk.now_us.saturating_sub(then) as u32
    }
    /// End of the peer's receive window.
    #[inline]
    fn wnd_end(&self) -> u32 {
        self.sk.snd_una.wrapping_add(self.snd_wnd)
    }
    /// Returns the end of the highest SACKed packet.
    // linux: include/net/tcp.h tcp_highest_sack_seq (6.1).
    #[inline]
    fn highest_sack_seq(&self) -> u32 {
        if self.sk.sacked_out == 0 { self.sk.snd_una } else { self.highest_sack }
    }
    /// Returns true while PRR reduces the window.
    #[inline]
    fn in_cwnd_reduction(&self) -> bool {
        matches!(self.sk.ca_state, CaState::Cwr | CaState::Recovery)
    }
    /// Returns true if the last timestamp echo is older than `ms`.
    // linux: net/ipv4/tcp_input.c tcp_tsopt_ecr_before (6.1).
    #[inline]
    fn echo_before(&self, ms: u32) -> bool {
        self.timestamps && self.tsecr != 0 && before(self.tsecr, ms)
    }
    fn set_ca_state(&mut self, state: CaState) {
        self.cc.set_state(&mut self.sk, state);
        self.sk.ca_state = state;
    }

    /// Closes the sending side: a FIN follows the written data.
    // linux: net/ipv4/tcp_output.c tcp_send_fin (6.1) - sets FIN on the last unsent packet, if any.
    pub fn close(&mut self) {
        if self.closing {
            return;
        }
        self.closing = true;
        if self.unsent.is_empty() {
            self.chrono.start(Limit::Busy, self.sk.jiffies);
            self.unsent.append(0);
            self.buf.wmem_queued += self.truesize(0);
        }
        self.unsent.fin = true;
    }

    /// Returns true if all data and the FIN are acknowledged.
    pub fn finished(&self) -> bool {
        self.closing && self.unsent.is_empty() && self.rtx.is_empty()
    }

    /// Returns the retransmission timeout in ticks.
    #[inline]
    pub fn rto(&self) -> u32 {
        self.rtt.rto
    }

    /// Returns the next call time of [`Sender::on_timer`].
    #[inline]
    pub fn next_timer(&self) -> Option<Instant> {
        match (self.timer.fires(), self.pace_at) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// Handles expired timers: retransmission timeout, early retransmit, tail loss probe, RACK reordering
    /// timeout, pacing, and zero-window probe.
    pub fn on_timer(&mut self, now: Instant, out: &mut impl Emit) {
        self.touch(now);
        if self.pace_at.is_some_and(|at| at <= now) {
            self.pace_at = None;
            self.write_after_wait(out);
        }
        if let Some(due) = self.timer.due(now) {
            match due {
                timer::Due::Reordering => self.reordering_timeout(out),
                timer::Due::LossProbe => self.send_loss_probe(out),
                timer::Due::EarlyRetransmit => self.early_retransmit(out),
                timer::Due::Retransmit => {
                    self.timer.clear();
                    self.retransmission_timeout(out);
                }
                timer::Due::WindowProbe => {
                    self.timer.clear();
                    self.window_probe(out);
                }
            }
        }
    }

    /// Returns the name of the congestion controller.
    pub fn congestion_control(&self) -> &str {
        self.cc.name()
    }

    /// Fills in the sender's `ss` fields.
    // linux: net/ipv4/tcp.c tcp_get_info (6.1).
    pub fn info(&self, now: Instant, into: &mut TcpInfo) {
        let sk = &self.sk;
        let tick = self.ticks.at(now);
        let ms_since = |then: u32| (self.ticks_to_us(tick.wrapping_sub(then)) / 1_000) as u32;
        into.ca_state = sk.ca_state;
        into.cwnd = sk.snd_cwnd;
        into.ssthresh = sk.snd_ssthresh;
        into.rtt_us = sk.srtt_us >> 3;
        into.rttvar_us = (self.rtt.mdev * self.rtt_unit_us()) >> 2;
        into.minrtt_us = sk.min_rtt_us;
        into.rto_us = self.ticks_to_us(self.rtt.rto) as u32;
        into.backoff = self.rtt.backoff;
        into.unacked = sk.packets_out;
        into.sacked = sk.sacked_out;
        into.lost = sk.lost_out;
        into.retrans = sk.retrans_out;
        into.retrans_total = self.count.retrans;
        into.reordering = self.reordering;
        into.mss = sk.mss_cache;
        into.pacing_rate = sk.pacing_rate;
        into.delivery_rate = self.delivery.rate(sk.mss_cache);
        into.app_limited = self.delivery.rate_app_limited;
        into.delivered = sk.delivered;
        into.bytes_acked = self.count.bytes_acked;
        into.bytes_sent = self.count.bytes_sent;
        into.bytes_retrans = self.count.bytes_retrans;
        into.segs_out = self.count.segs_out;
        into.data_segs_out = self.count.data_segs_out;
        into.notsent = sk.unsent;
        into.snd_wnd = self.snd_wnd;
        into.wmem_alloc = sk.wmem_alloc;
        into.sndbuf = self.buf.sndbuf;
        into.wmem_queued = self.buf.wmem_queued;
        into.dsack_dups = self.count.dsack_dups;
        into.tlp_probes = self.count.tlp_probes;
        into.timeouts = self.count.timeouts;
        into.sack = self.sack;
        into.timestamps = self.timestamps;
        into.ecn = self.ecn.ok;
        into.delivered_ce = sk.delivered_ce;
        into.reord_seen = self.count.reord_seen;
        into.lastsnd_ms = ms_since(sk.lsndtime);
        into.lastack_ms = ms_since(self.last_ack);
        let [busy, rwnd, sndbuf] = self.chrono.totals(tick).map(|ticks| self.ticks_to_us(ticks));
        (into.busy_us, into.rwnd_limited_us, into.sndbuf_limited_us) = (busy, rwnd, sndbuf);
        if let Cc::Bbr(bbr) = &self.cc {
            let (pacing_gain, cwnd_gain) = bbr.gains();
            into.bbr =
                Some(BbrInfo { bw: bbr.bandwidth(sk), mrtt_us: bbr.min_rtt_us(), pacing_gain, cwnd_gain });
        }
    }
}
