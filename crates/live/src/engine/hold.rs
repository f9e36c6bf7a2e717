//! Decides which packets stay charged to their sockets.
//!
//! A Wi-Fi driver allows more data below a socket than the kernel's default. mac80211 sets
//! `sk_pacing_shift` to 7; without that, TCP stops at 2^-10 s of its rate. A program cannot set the shift.
//! If only one packet in k stays charged, TCP stops at k times as much data, so k is the ratio of the
//! wanted limit to the kernel's.

use stillair_model::types::linear_truesize;

/// The kernel's default shift.
// linux: net/core/sock.c sock_init_data_uid (6.18) - sk_pacing_shift 10.
const KERNEL: u8 = 10;
/// Packets of several segments that the kernel always allows below a socket, whatever the rate.
// linux: net/ipv4/tcp_output.c tcp_small_queue_check (6.18) - twice the packet's truesize.
const LEAST: u64 = 2;
/// Minimum and maximum segments per packet.
// linux: net/ipv4/tcp_ipv4.c tcp_min_tso_segs 2; net/ipv4/tcp_output.c tcp_tso_autosize (6.18) - 2^-shift s
// of data at the pacing rate, at most 64 KiB.
const SEGMENTS: (u64, u64) = (2, 44);
/// Memory overhead of a packet of several segments.
// linux: net/ipv4/tcp.c tcp_stream_alloc_skb, include/linux/skbuff.h SKB_TRUESIZE (6.18) - 384 bytes of
// header room, sk_buff, skb_shared_info.
const HEAD: u64 = 960;
/// Ratio of pacing rate to flow rate, as a fraction, for flows paced only because of the driver.
// linux: net/ipv4/tcp_input.c tcp_update_pacing_rate (6.18) - tcp_pacing_ca_ratio 120.
const PACING: (u64, u64) = (6, 5);
/// Time over which a flow's rate is measured, in ns.
const WINDOW: u64 = 100_000_000;
const FLOWS: usize = 4096;
/// Pacing of a host: its driver's shift and its congestion control.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Asks {
    /// `sk_pacing_shift` of the driver.
    pub shift: u8,
    /// True if the congestion control paces, as BBR does.
    pub paces: bool,
}

/// The value of `share` at which all packets stay charged.
pub const ALL: u64 = 1024;

/// Share of packets that stay charged, in parts of [`ALL`], at a rate in bytes/s and with packets of `len`
/// bytes.
///
/// The kernel sends a packet of several segments while at most its limit is charged, so the limit plus that
/// packet may be below the socket. A window-limited flow sends as much as has been acknowledged, so its
/// packets do not grow with the shift. A flow whose congestion control paces (BBR) has room in its window:
/// the shift sets the size of its packets, and the limit is two of them.
pub fn share(shift: u8, paces: bool, rate: u64, len: u64) -> u64 {
    let paced = if paces { rate } else { rate * PACING.0 / PACING.1 };
    let segments = |shift: u8| ((paced >> shift) / len).clamp(SEGMENTS.0, SEGMENTS.1);
    let limit = |segments: u64, shift: u8| (LEAST * (segments * len + HEAD)).max(paced >> shift);
    let own = segments(KERNEL);
    let asked = if paces { segments(shift.min(KERNEL)) } else { own };
    let one = u64::from(linear_truesize(len as u32));
    let kernel = limit(own, KERNEL) + own * one;
    let driver = limit(asked, shift.min(KERNEL)) + asked * one;
    kernel * ALL / driver
}

/// Maximum length in bytes of a packet counted as a pure ACK.
const ACKNOWLEDGEMENT: usize = 200;

#[derive(Clone, Copy, Debug, Default)]
struct FlowRate {
    hash: u32,
    since: u64,
    bytes: u64,
    rate: u64,
    /// Accumulated share; a packet stays charged whenever it reaches one.
    due: u64,
    /// Window of its host in which the flow last sent data.
    window: u64,
}

/// Sending rates of a host's flows.
#[derive(Clone, Copy, Debug, Default)]
struct HostRate {
    since: u64,
    bytes: u64,
    flows: u64,
    /// Number of the window.
    window: u64,
    /// Mean rate per flow.
    share: u64,
}

/// TCP flows and their rates, by the hash of their addresses and ports. If two flows collide, the sending
/// flow takes over the entry, and its rate is measured from the start. Until the first measurement, every
/// packet stays charged.
///
/// The kernel uses a flow's pacing rate, which follows its window and not its goodput. A flow's rate
/// therefore counts as at least the mean of its host's flows. Without this floor, a flow that was slow once
/// would have more packets charged, and stay slow.
#[derive(Debug)]
pub struct FlowRates {
    flows: Vec<FlowRate>,
    hosts: Vec<HostRate>,
}

impl Default for FlowRates {
    fn default() -> Self {
        Self { flows: vec![FlowRate::default(); FLOWS], hosts: Vec::new() }
    }
}

impl FlowRates {
    /// Returns true if a packet of this flow and host stays charged.
    pub fn holds(&mut self, host: usize, hash: u32, len: usize, by: Asks, now: u64) -> bool {
        if self.hosts.len() <= host {
            self.hosts.resize(host + 1, HostRate { since: now, window: 1, ..HostRate::default() });
        }
        let (all, flow) = (&mut self.hosts[host], &mut self.flows[hash as usize % FLOWS]);
        if flow.hash != hash {
            *flow = FlowRate { hash, since: now, ..FlowRate::default() };
        }
        flow.bytes += len as u64;
        all.bytes += len as u64;
        if len > ACKNOWLEDGEMENT && flow.window != all.window {
            flow.window = all.window;
            all.flows += 1;
        }
        if let Some(rate) = rate(flow.bytes, now - flow.since) {
            flow.rate = rate;
            (flow.since, flow.bytes) = (now, 0);
        }
        if let Some(rate) = rate(all.bytes, now - all.since) {
            *all = HostRate {
                since: now,
                window: all.window + 1,
                share: rate / all.flows.max(1),
                ..HostRate::default()
            };
        }
        flow.due += share(by.shift, by.paces, flow.rate.max(all.share), len.max(1) as u64);
        let holds = flow.due >= ALL;
        if holds {
            flow.due -= ALL;
        }
        holds
    }
}

/// Rate in bytes/s of `bytes` in `past` ns, or `None` if the interval is too short.
fn rate(bytes: u64, past: u64) -> Option<u64> {
    (past >= WINDOW).then(|| (u128::from(bytes) * 1_000_000_000 / u128::from(past)) as u64)
}

/// Tokens for packets in the model: each maps to the packet's host and its number in the host's queue.
#[derive(Debug, Default)]
pub struct Tokens {
    all: Vec<(usize, u32)>,
    free: Vec<u32>,
}

impl Tokens {
    /// Allocates a token for a packet.
    pub fn take(&mut self, host: usize, id: u32) -> u32 {
        match self.free.pop() {
            Some(token) => {
                self.all[token as usize] = (host, id);
                token
            }
            None => {
                self.all.push((host, id));
                self.all.len() as u32 - 1
            }
        }
    }

    /// Frees a token. Returns the host and the number of its packet.
    pub fn give_back(&mut self, token: u32) -> (usize, u32) {
        self.free.push(token);
        self.all[token as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIFI: Asks = Asks { shift: 7, paces: false };

    #[test]
    fn the_share_follows_the_rate_and_the_shift() {
        let at = |mbps: u64, shift| share(shift, false, mbps * 125_000, 1_500);
        // At 65 Mbit/s packets have six segments: a limit of 19,920 bytes and a packet of 13,824, where the
        // shift allows 76,171 and that packet.
        assert_eq!([1, 5, 20, 40, 65, 600].map(|mbps| at(mbps, 7)), [ALL, ALL, 457, 339, 383, 299]);
        assert_eq!([1, 65, 600].map(|mbps| at(mbps, 10)), [ALL; 3]);
        assert_eq!([65, 600].map(|mbps| at(mbps, 8)), [665, 531]);
        assert_eq!(at(65, 12), ALL);
        // At 48 Mbit/s, BBR sends 30 segments with the driver's shift instead of 3.
        let bbr = |mbps: u64, shift| share(shift, true, mbps * 125_000, 1_500);
        assert_eq!([1, 48, 600].map(|mbps| bbr(mbps, 7)), [ALL, 109, 350]);
        assert_eq!([1, 48, 600].map(|mbps| bbr(mbps, 10)), [ALL; 3]);
    }

    #[test]
    fn a_flow_at_20_mbps_keeps_its_share_charged() {
        let mut flows = FlowRates::default();
        let held = |flows: &mut FlowRates, from: u64| {
            (from..from + 400).filter(|n| flows.holds(0, 9, 1500, WIFI, n * 600_000)).count()
        };
        // Until the first measurement, every packet stays charged.
        assert!(held(&mut flows, 0) > 150);
        let held = held(&mut flows, 400);
        assert!((held as f64 / 400.0 / (457.0 / 1024.0) - 1.0).abs() < 0.05, "{held}");
        // Another host's flow that takes over the entry is measured from the start.
        assert!(flows.holds(1, 9 + FLOWS as u32, 1500, WIFI, 800 * 600_000));
    }

    #[test]
    fn a_slow_flow_counts_with_the_mean_rate() {
        let mut flows = FlowRates::default();
        // 48 Mbit/s and 3 Mbit/s: one packet in 16 belongs to the slow flow. Its ACKs do not count as a
        // third flow.
        let mut held = [0; 2];
        for n in 0..32_000_u64 {
            let (now, slow) = (n * 235_000, n % 17 == 0);
            flows.holds(0, 3, 52, WIFI, now);
            let holds = flows.holds(0, 1 + u32::from(slow), 1500, WIFI, now);
            if n >= 15_300 {
                held[usize::from(slow)] += u32::from(holds);
            }
        }
        // Mean of 48 and 3 Mbit/s: 25.5. At that rate one or two of three packets stay charged; at the
        // flow's own rate, every packet would.
        let of = |packets: u32, held: u32| f64::from(held) / f64::from(packets) * ALL as f64;
        let by_rate = |mbps: f64| share(7, false, (mbps * 125_000.0) as u64, 1_500) as f64;
        let [fast, slow] = [of(15_717, held[0]), of(983, held[1])];
        assert!((fast / by_rate(48.0) - 1.0).abs() < 0.05, "{fast}");
        assert!((slow / by_rate(25.5) - 1.0).abs() < 0.05 && by_rate(3.0) > 1023.0, "{slow}");
    }

    #[test]
    fn tokens_are_reused() {
        let mut tokens = Tokens::default();
        assert_eq!([tokens.take(0, 70), tokens.take(1, 71)], [0, 1]);
        assert_eq!(tokens.give_back(0), (0, 70));
        assert_eq!([tokens.take(2, 72), tokens.take(2, 73)], [0, 2]);
        assert_eq!(tokens.give_back(0), (2, 72));
    }
}
