//! Output of `ss -tim` for each sending TCP socket, sampled at a fixed interval.

use serde::Serialize;
use stillair_model::transport::cc::CaState;
use stillair_model::transport::tcp::{info::TcpInfo, socket::TcpState};
use stillair_model::types::Instant;

/// Samples of one socket: columns of equal length, named as in `ss` with the unit appended.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SocketSeries {
    t_s: Vec<f64>,
    state: Vec<&'static str>,
    srtt_ms: Vec<f64>,
    rttvar_ms: Vec<f64>,
    minrtt_ms: Vec<Option<f64>>,
    rto_ms: Vec<f64>,
    cwnd: Vec<u32>,
    ssthresh: Vec<u32>,
    unacked: Vec<u32>,
    sacked: Vec<u32>,
    lost: Vec<u32>,
    retrans: Vec<u32>,
    retrans_total: Vec<u32>,
    ca_state: Vec<&'static str>,
    pacing_mbps: Vec<f64>,
    delivery_mbps: Vec<f64>,
    app_limited: Vec<bool>,
    bytes_acked: Vec<u64>,
    notsent: Vec<u32>,
    snd_wnd: Vec<u32>,
    /// `ss -m` t: truesize in lower layers, in bytes.
    wmem_alloc: Vec<u32>,
    /// `ss -m` tb: send buffer, in bytes.
    sndbuf: Vec<u32>,
    /// `ss -m` w: truesize in the write queue, in bytes.
    wmem_queued: Vec<u32>,
    /// Segments received: acknowledgements, if the peer sends no data.
    segs_in: Vec<u32>,
    /// Data segments sent, counting each transmission.
    data_segs_out: Vec<u32>,
    /// Segments delivered with a congestion mark (CE) reported by the receiver.
    delivered_ce: Vec<u32>,
}

impl SocketSeries {
    /// Returns true if there are no samples.
    pub fn is_empty(&self) -> bool {
        self.t_s.is_empty()
    }

    /// Records a sample of a socket at `now`.
    pub fn push(&mut self, now: Instant, state: TcpState, i: &TcpInfo) {
        let ms = |us: u32| f64::from(us) / 1e3;
        let mbps = |bytes: u64| bytes as f64 * 8.0 / 1e6;
        self.t_s.push(now.secs_f64());
        self.state.push(state.name());
        self.srtt_ms.push(ms(i.rtt_us));
        self.rttvar_ms.push(ms(i.rttvar_us));
        self.minrtt_ms.push((i.minrtt_us != u32::MAX).then(|| ms(i.minrtt_us)));
        self.rto_ms.push(ms(i.rto_us));
        self.cwnd.push(i.cwnd);
        self.ssthresh.push(i.ssthresh);
        self.unacked.push(i.unacked);
        self.sacked.push(i.sacked);
        self.lost.push(i.lost);
        self.retrans.push(i.retrans);
        self.retrans_total.push(i.retrans_total);
        self.ca_state.push(ca_state(i.ca_state));
        // All ones means that no pacing rate is set.
        self.pacing_mbps.push(mbps(if i.pacing_rate == u64::MAX { 0 } else { i.pacing_rate }));
        self.delivery_mbps.push(mbps(i.delivery_rate));
        self.app_limited.push(i.app_limited);
        self.bytes_acked.push(i.bytes_acked);
        self.notsent.push(i.notsent);
        self.snd_wnd.push(i.snd_wnd);
        self.wmem_alloc.push(i.wmem_alloc);
        self.sndbuf.push(i.sndbuf);
        self.wmem_queued.push(i.wmem_queued);
        self.segs_in.push(i.segs_in);
        self.data_segs_out.push(i.data_segs_out);
        self.delivered_ce.push(i.delivered_ce);
    }
}

/// Returns the name of a congestion state.
const fn ca_state(state: CaState) -> &'static str {
    match state {
        CaState::Open => "open",
        CaState::Disorder => "disorder",
        CaState::Cwr => "cwr",
        CaState::Recovery => "recovery",
        CaState::Loss => "loss",
    }
}
