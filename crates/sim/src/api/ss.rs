//! Sockets of a run at one instant, as printed by `ss -tinm`.

use core::fmt::Write;
use std::net::{Ipv4Addr, Ipv6Addr};

use serde_json::{Value, json};
use stillair_model::transport::tcp::{info::BbrInfo, info::TcpInfo, socket::TcpState};
use stillair_model::types::{Addr, Instant, Ip, Seed};

use super::{ApiError, read_to_run_by};
use crate::capture::ports;
use crate::recorder::Recorder;
use crate::run::{Records, Session, guarded};
use crate::scenario::parts::Parts;
use crate::scenario::{self, Folder, Reader, Scenario};
use crate::world::TcpSocket;

/// A request for the sockets of one run of a scenario.
#[derive(Clone, Debug)]
pub struct SsRequest {
    /// The scenario, as TOML.
    pub text: String,
    /// Name of the scenario in messages.
    pub file: String,
    /// Overrides as pairs of dotted key and value.
    pub overrides: Vec<(String, String)>,
    /// Seed, instead of the scenario's.
    pub seed: Option<u64>,
    /// Number of the repetition.
    pub run: u64,
    /// Time in the run, such as `5 s`; `None` is the end of the run.
    pub at: Option<String>,
}

/// Runs one repetition up to the requested time. Returns the output of `ss` for both ends of each connection.
pub fn ss(request: &SsRequest) -> Result<String, ApiError> {
    let files = Folder::of(&request.file);
    ss_by(&Reader { parts: Parts::none(), files: &files }, request)
}

/// Like `ss`, for a scenario read by `reader`.
pub fn ss_by(reader: &Reader<'_>, request: &SsRequest) -> Result<String, ApiError> {
    looked_at(reader, request, table)
}

/// Like [`ss`], as JSON: a list of objects with times in ms, rates in Mbit/s, and all other names as in `ss`.
pub fn ss_json(request: &SsRequest) -> Result<String, ApiError> {
    let files = Folder::of(&request.file);
    looked_at(&Reader { parts: Parts::none(), files: &files }, request, list)
}

/// Returns the output of `show` for a run at the requested time.
fn looked_at(
    reader: &Reader<'_>,
    request: &SsRequest,
    show: impl Fn(&Session<'_, Recorder>, &Scenario, Instant) -> String,
) -> Result<String, ApiError> {
    let scenario = read_to_run_by(reader, &request.text, &request.file, &request.overrides)?;
    let at = instant(&scenario, request.at.as_deref())?;
    let seed = Seed { seed: request.seed.unwrap_or(scenario.seed), run: request.run };
    let run = || {
        let mut session = Session::new(&scenario, seed, |recorder| recorder)?;
        session.advance(at);
        Ok(show(&session, &scenario, at))
    };
    guarded(seed, run).map_err(ApiError::Run)
}

/// Parses a time in a run, such as `5 s`. Returns the end of the run for `None`.
pub(super) fn instant(scenario: &Scenario, at: Option<&str>) -> Result<Instant, ApiError> {
    let end = Instant::ZERO + scenario.duration;
    let Some(text) = at else { return Ok(end) };
    match scenario::parse_duration(text) {
        Ok(since) if Instant::ZERO + since <= end => Ok(Instant::ZERO + since),
        Ok(_) => Err(ApiError::Input(format!("at: found \"{text}\", but the run is shorter"))),
        Err(expected) => Err(ApiError::Input(format!("at: found \"{text}\", expected {expected}"))),
    }
}

/// Returns the connections of a run at its current time `at`, as JSON.
fn list<S: Records>(session: &Session<'_, S>, scenario: &Scenario, at: Instant) -> String {
    let addresses = Addresses::of(scenario);
    let names = scenario.flow_names();
    let shown = session.tcp_sockets().filter(|s| is_shown(s.tcp.state()));
    let all = shown.map(|s| {
        let ((received, sent), info) = (s.tcp.queued(), s.tcp.info(at));
        let [local, peer] = ends(&s, &addresses);
        let mut socket = json!({
            "flow": names[s.flow.index()],
            "state": s.tcp.state().name(),
            "recv_q": received,
            "send_q": sent,
            "local": local,
            "peer": peer,
            "congestion_control": s.tcp.congestion_control(),
        });
        if let (Value::Object(socket), Value::Object(info)) = (&mut socket, counted(&info)) {
            socket.extend(info);
        }
        socket
    });
    Value::Array(all.collect()).to_string()
}

/// Returns the `tcp_info` counters of a socket. Unknown values are null.
fn counted(i: &TcpInfo) -> Value {
    let ms = |us: u32| f64::from(us) / 1e3;
    let known = |us: u32| (us > 0 && us < u32::MAX).then(|| ms(us));
    let mbps = |bytes: u64| (bytes > 0 && bytes < u64::MAX).then(|| bytes as f64 * 8.0 / 1e6);
    json!({
        "rtt_ms": known(i.rtt_us),
        "rttvar_ms": known(i.rttvar_us),
        "minrtt_ms": known(i.minrtt_us),
        "rcv_rtt_ms": known(i.rcv_rtt_us),
        "rto_ms": ms(i.rto_us),
        "backoff": i.backoff,
        "mss": i.mss,
        "cwnd": i.cwnd,
        "ssthresh": (i.ssthresh < INFINITE).then_some(i.ssthresh),
        "pacing_rate_mbps": mbps(i.pacing_rate),
        "delivery_rate_mbps": mbps(i.delivery_rate),
        "app_limited": i.app_limited,
        "bytes_sent": i.bytes_sent,
        "bytes_retrans": i.bytes_retrans,
        "bytes_acked": i.bytes_acked,
        "bytes_received": i.bytes_received,
        "segs_out": i.segs_out,
        "segs_in": i.segs_in,
        "data_segs_out": i.data_segs_out,
        "data_segs_in": i.data_segs_in,
        "delivered": i.delivered,
        "delivered_ce": i.delivered_ce,
        "unacked": i.unacked,
        "sacked": i.sacked,
        "lost": i.lost,
        "retrans": i.retrans,
        "retrans_total": i.retrans_total,
        "dsack_dups": i.dsack_dups,
        "reordering": i.reordering,
        "notsent": i.notsent,
        "snd_wnd": i.snd_wnd,
        "rcv_space": i.rcv_space,
        "busy_ms": i.busy_us as f64 / 1e3,
        "rwnd_limited_ms": i.rwnd_limited_us as f64 / 1e3,
        "sndbuf_limited_ms": i.sndbuf_limited_us as f64 / 1e3,
        "skmem": { "r": i.rmem_alloc, "rb": i.rcvbuf, "t": i.wmem_alloc, "tb": i.sndbuf, "w": i.wmem_queued },
    })
}

struct Addresses(Vec<(Ipv4Addr, Ipv6Addr)>);

impl Addresses {
    fn of(scenario: &Scenario) -> Self {
        Self(crate::world::layout(scenario).interfaces.iter().map(|i| (i.address, i.address6)).collect())
    }

    /// Returns address and port as written by `ss`.
    fn with_port(&self, addr: Addr, port: u16) -> String {
        let (v4, v6) = self.0[addr.index()];
        match addr.ip() {
            Ip::V4 => format!("{v4}:{port}"),
            Ip::V6 => format!("[{v6}]:{port}"),
        }
    }
}

/// Returns address and port of a socket and of its peer.
fn ends(s: &TcpSocket<'_>, addresses: &Addresses) -> [String; 2] {
    let [own, other] = if s.opens { [0, 1] } else { [1, 0] };
    let ports = ports(s.flow);
    [addresses.with_port(s.tcp.source(), ports[own]), addresses.with_port(s.tcp.destination(), ports[other])]
}

/// Returns the table of a run's connections at its current time `at`.
fn table<S: Records>(session: &Session<'_, S>, scenario: &Scenario, at: Instant) -> String {
    let addresses = Addresses::of(scenario);
    let mut out = format!(
        "{:<11} {:<7} {:<8} {:>21} {:>21}\n",
        "State", "Recv-Q", "Send-Q", "Local Address:Port", "Peer Address:Port"
    );
    session.tcp_sockets().filter(|s| is_shown(s.tcp.state())).for_each(|s| row(&mut out, &s, at, &addresses));
    out
}

/// Returns true if `ss` shows a socket without `-a`.
// linux: misc/ss.c SS_CONN (iproute2 6.1) - omits listening, closed and not yet accepted sockets.
const fn is_shown(state: TcpState) -> bool {
    !matches!(state, TcpState::Closed | TcpState::Listen | TcpState::SynReceived | TcpState::TimeWait)
}

fn row(out: &mut String, s: &TcpSocket<'_>, now: Instant, addresses: &Addresses) {
    let [local, peer] = ends(s, addresses);
    let ((received, sent), info) = (s.tcp.queued(), s.tcp.info(now));
    let state = s.tcp.state().name();
    // Writing to a string does not fail.
    let _ = writeln!(out, "{state:<11} {received:<7} {sent:<8} {local:>21} {peer:>21}");
    let _ = writeln!(out, "\t {}{}", skmem(&info), details(&info, s.tcp.congestion_control()));
}

/// Returns the output of `ss -m`.
// deviation: not modelled, always zero: forward-allocated memory (f), options (o), backlog (bl), drops (d).
fn skmem(i: &TcpInfo) -> String {
    let TcpInfo { rmem_alloc, rcvbuf, wmem_alloc, sndbuf, wmem_queued, .. } = i;
    format!("skmem:(r{rmem_alloc},rb{rcvbuf},t{wmem_alloc},tb{sndbuf},f0,w{wmem_queued},o0,bl0,d0)")
}

/// Slow-start threshold that is not set.
const INFINITE: u32 = i32::MAX as u32;

/// Returns the output of `ss -ti`. Zero and unknown values are omitted as in `ss`.
// linux: misc/ss.c tcp_stats_print (iproute2 6.1) - names, order, and conditions for showing values; rates in
// bits without unit prefixes, as with `-n`.
fn details(i: &TcpInfo, congestion_control: &str) -> String {
    let mut out = String::new();
    let mut add = |shown: bool, text: String| {
        if shown {
            out.push(' ');
            out.push_str(&text);
        }
    };
    add(i.timestamps, "ts".to_owned());
    add(i.sack, "sack".to_owned());
    add(i.ecn, "ecn".to_owned());
    add(i.ecnseen, "ecnseen".to_owned());
    add(true, congestion_control.to_owned());
    add(i.wscale.is_some(), i.wscale.map_or(String::new(), |(peer, own)| format!("wscale:{peer},{own}")));
    add(true, format!("rto:{}", ms(i.rto_us)));
    add(i.backoff > 0, format!("backoff:{}", i.backoff));
    add(i.rtt_us > 0, format!("rtt:{}/{}", ms(i.rtt_us), ms(i.rttvar_us)));
    add(i.ato_us > 0, format!("ato:{}", ms(i.ato_us)));
    add(i.mss > 0, format!("mss:{}", i.mss));
    add(i.pmtu > 0, format!("pmtu:{}", i.pmtu));
    add(i.rcvmss > 0, format!("rcvmss:{}", i.rcvmss));
    add(i.advmss > 0, format!("advmss:{}", i.advmss));
    add(true, format!("cwnd:{}", i.cwnd));
    add(i.ssthresh < INFINITE, format!("ssthresh:{}", i.ssthresh));
    add(i.bytes_sent > 0, format!("bytes_sent:{}", i.bytes_sent));
    add(i.bytes_retrans > 0, format!("bytes_retrans:{}", i.bytes_retrans));
    add(i.bytes_acked > 0, format!("bytes_acked:{}", i.bytes_acked));
    add(i.bytes_received > 0, format!("bytes_received:{}", i.bytes_received));
    add(i.segs_out > 0, format!("segs_out:{}", i.segs_out));
    add(i.segs_in > 0, format!("segs_in:{}", i.segs_in));
    add(i.data_segs_out > 0, format!("data_segs_out:{}", i.data_segs_out));
    add(i.data_segs_in > 0, format!("data_segs_in:{}", i.data_segs_in));
    add(i.bbr.is_some(), i.bbr.as_ref().map_or(String::new(), bbr));
    let rtt = u64::from(i.rtt_us).max(1);
    let bits = u64::from(i.cwnd) * u64::from(i.mss) * 8;
    add(i.rtt_us > 0 && bits > 0, format!("send {}bps", bits * 1_000_000 / rtt));
    add(i.lastsnd_ms > 0, format!("lastsnd:{}", i.lastsnd_ms));
    add(i.lastrcv_ms > 0, format!("lastrcv:{}", i.lastrcv_ms));
    add(i.lastack_ms > 0, format!("lastack:{}", i.lastack_ms));
    // iproute2: misc/ss.c tcp_show_info - does not show an unset rate, which is all ones.
    let paced = i.pacing_rate > 0 && i.pacing_rate < u64::MAX;
    add(paced, format!("pacing_rate {}bps", i.pacing_rate.saturating_mul(8)));
    add(i.delivery_rate > 0, format!("delivery_rate {}bps", i.delivery_rate * 8));
    add(i.delivered > 0, format!("delivered:{}", i.delivered));
    add(i.delivered_ce > 0, format!("delivered_ce:{}", i.delivered_ce));
    add(i.app_limited, "app_limited".to_owned());
    add(i.busy_us > 0, format!("busy:{}ms", i.busy_us / 1_000));
    add(i.rwnd_limited_us > 0, share("rwnd_limited", i.rwnd_limited_us, i.busy_us));
    add(i.sndbuf_limited_us > 0, share("sndbuf_limited", i.sndbuf_limited_us, i.busy_us));
    add(i.unacked > 0, format!("unacked:{}", i.unacked));
    add(i.retrans > 0 || i.retrans_total > 0, format!("retrans:{}/{}", i.retrans, i.retrans_total));
    add(i.lost > 0, format!("lost:{}", i.lost));
    add(i.sacked > 0, format!("sacked:{}", i.sacked));
    add(i.dsack_dups > 0, format!("dsack_dups:{}", i.dsack_dups));
    add(i.reordering != 3, format!("reordering:{}", i.reordering));
    add(i.reord_seen > 0, format!("reord_seen:{}", i.reord_seen));
    add(i.rcv_rtt_us > 0, format!("rcv_rtt:{}", ms(i.rcv_rtt_us)));
    add(i.rcv_space > 0, format!("rcv_space:{}", i.rcv_space));
    add(i.rcv_ssthresh > 0, format!("rcv_ssthresh:{}", i.rcv_ssthresh));
    add(i.notsent > 0, format!("notsent:{}", i.notsent));
    add(i.minrtt_us != u32::MAX, format!("minrtt:{}", ms(i.minrtt_us)));
    add(i.rcv_ooopack > 0, format!("rcv_ooopack:{}", i.rcv_ooopack));
    add(i.snd_wnd > 0, format!("snd_wnd:{}", i.snd_wnd));
    out
}

/// Returns the state that `bbr` shows.
fn bbr(b: &BbrInfo) -> String {
    let gain = |g: u32| six_digits(f64::from(g) / 256.0);
    let mrtt = if b.mrtt_us == u32::MAX { 0 } else { b.mrtt_us };
    format!(
        "bbr:(bw:{}bps,mrtt:{},pacing_gain:{},cwnd_gain:{})",
        b.bw * 8,
        ms(mrtt),
        gain(b.pacing_gain),
        gain(b.cwnd_gain)
    )
}

/// Returns a time in ms, with its share of the busy time.
fn share(name: &str, us: u64, busy_us: u64) -> String {
    format!("{name}:{}ms({:.1}%)", us / 1_000, 100.0 * us as f64 / busy_us as f64)
}

fn ms(us: u32) -> f64 {
    six_digits(f64::from(us) / 1e3)
}

/// Rounds to six significant digits, as printed by `%g`.
fn six_digits(x: f64) -> f64 {
    // A formatted number always parses.
    format!("{x:.5e}").parse().unwrap_or(x)
}
