//! Decides which packets stay charged to their sockets.
//!
//! A Wi-Fi driver allows more data below a socket than the kernel's default: mac80211 sets `sk_pacing_shift`
//! to 7, and without it TCP stops at its rate times 2^-10 s. A program cannot set the shift. If only one
//! packet in k stays charged, TCP stops at k times as much data, so k is the ratio of the wanted limit to the
//! kernel's.

use stillair_model::types::linear_truesize;

/// The shift that a kernel has by itself.
// linux: net/core/sock.c sock_init_data_uid (6.18) - sk_pacing_shift 10.
const KERNEL: u8 = 10;
/// Of a socket's packets of several segments, how many a kernel allows below it whatever its rate.
// linux: net/ipv4/tcp_output.c tcp_small_queue_check (6.18) - twice the truesize of a packet.
const LEAST: u64 = 2;
/// Segments of a packet, at least and at most.
// linux: net/ipv4/tcp_ipv4.c tcp_min_tso_segs 2; net/ipv4/tcp_output.c tcp_tso_autosize (6.18) - the data of
// 2^-shift s at the pacing rate, and no more than 64 KiB.
const SEGMENTS: (u64, u64) = (2, 44);
/// Memory of a packet of several segments beside its data.
// linux: net/ipv4/tcp.c tcp_stream_alloc_skb, include/linux/skbuff.h SKB_TRUESIZE (6.18) - a head of 384
// bytes, sk_buff, skb_shared_info.
const HEAD: u64 = 960;
/// The pacing rate over the rate of a flow that paces for its driver's sake alone, as a fraction.
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
    /// Whether its congestion control paces, as BBR does.
    pub paces: bool,
}

/// The value of `share` at which all packets stay charged.
pub const ALL: u64 = 1024;

/// Share of packets that stay charged, in parts of [`ALL`], at a rate in bytes/s and with packets of `len`
/// bytes.
///
/// The kernel sends a packet of several segments while no more than its limit is charged, so the limit plus
/// that packet may be below the socket. A flow limited by its window sends as much as has been acknowledged,
/// so its packets do not grow with another shift. A flow that paces by itself (BBR) has room in its window:
/// its packets have the data that the shift allows, and the limit is two of them.
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

/// Bytes of the longest packet that is taken for an acknowledgement alone.
const ACKNOWLEDGEMENT: usize = 200;

#[derive(Clone, Copy, Debug, Default)]
struct FlowRate {
    hash: u32,
    since: u64,
    bytes: u64,
    rate: u64,
    /// What its packets have of one that stays charged.
    due: u64,
    /// The window of its host in which it sent data last.
    window: u64,
}

/// What all flows of a host send.
#[derive(Clone, Copy, Debug, Default)]
struct HostRate {
    since: u64,
    bytes: u64,
    flows: u64,
    /// Number of the window.
    window: u64,
    /// Rate of a flow, if all had the same.
    share: u64,
}

/// TCP flows and their rates, by the hash of their addresses and ports. If two flows have the same place, the
/// sending flow takes the place over, and its rate is measured from the start. Before the first measurement
/// every packet stays charged.
///
/// The kernel uses a flow's pacing rate, which follows its window and not its goodput. So a flow's rate
/// counts as at least the mean of its host's flows: otherwise a flow that was slow once would stay charged
/// more, and stay slow.
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
    /// Whether a packet of this flow and host stays charged.
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

/// The rate in bytes/s of so many bytes in so many ns, if that is long enough.
fn rate(bytes: u64, past: u64) -> Option<u64> {
    (past >= WINDOW).then(|| (u128::from(bytes) * 1_000_000_000 / u128::from(past)) as u64)
}

/// Numbers for packets that the model holds: the host of each, and its number in the host's queue.
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
        // At 65 Mbit/s packets have six segments: 19,920 bytes of limit and 13,824 of a packet, where the
        // shift asks for 76,171 and that packet.
        assert_eq!([1, 5, 20, 40, 65, 600].map(|mbps| at(mbps, 7)), [ALL, ALL, 457, 339, 383, 299]);
        assert_eq!([1, 65, 600].map(|mbps| at(mbps, 10)), [ALL; 3]);
        assert_eq!([65, 600].map(|mbps| at(mbps, 8)), [665, 531]);
        assert_eq!(at(65, 12), ALL);
        // At 48 Mbit/s 3 segments of BBR are 30 with the other shift.
        let bbr = |mbps: u64, shift| share(shift, true, mbps * 125_000, 1_500);
        assert_eq!([1, 48, 600].map(|mbps| bbr(mbps, 7)), [ALL, 109, 350]);
        assert_eq!([1, 48, 600].map(|mbps| bbr(mbps, 10)), [ALL; 3]);
    }

    #[test]
    fn a_flow_at_20_mbps_holds_its_share() {
        let mut flows = FlowRates::default();
        let held = |flows: &mut FlowRates, from: u64| {
            (from..from + 400).filter(|n| flows.holds(0, 9, 1500, WIFI, n * 600_000)).count()
        };
        // Until it has been measured each stays charged.
        assert!(held(&mut flows, 0) > 150);
        let held = held(&mut flows, 400);
        assert!((held as f64 / 400.0 / (457.0 / 1024.0) - 1.0).abs() < 0.05, "{held}");
        // Another flow at the same place, of another host, begins anew.
        assert!(flows.holds(1, 9 + FLOWS as u32, 1500, WIFI, 800 * 600_000));
    }

    #[test]
    fn a_flow_that_gets_less_counts_as_fast_as_its_share() {
        let mut flows = FlowRates::default();
        // 48 Mbit/s and 3 Mbit/s: of 16 packets one is the other flow's, and its acknowledgements are no
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
        // Half of 51 Mbit/s is 25.5: of three packets of it one or two stay charged; by its own rate it would
        // be each.
        let of = |packets: u32, held: u32| f64::from(held) / f64::from(packets) * ALL as f64;
        let by_rate = |mbps: f64| share(7, false, (mbps * 125_000.0) as u64, 1_500) as f64;
        let [fast, slow] = [of(15_717, held[0]), of(983, held[1])];
        assert!((fast / by_rate(48.0) - 1.0).abs() < 0.05, "{fast}");
        assert!((slow / by_rate(25.5) - 1.0).abs() < 0.05 && by_rate(3.0) > 1023.0, "{slow}");
    }

    #[test]
    fn tokens_are_used_again() {
        let mut tokens = Tokens::default();
        assert_eq!([tokens.take(0, 70), tokens.take(1, 71)], [0, 1]);
        assert_eq!(tokens.give_back(0), (0, 70));
        assert_eq!([tokens.take(2, 72), tokens.take(2, 73)], [0, 2]);
        assert_eq!(tokens.give_back(0), (2, 72));
    }
}
