//! Which packets stay charged to their sockets, and whose they are.
//!
//! A Wi-Fi driver asks for more data below a socket than a kernel allows by itself: mac80211 sets `sk_pacing_shift` to 7, and without it TCP
//! stops at its rate times 2^-10 s. No program can set it. But if one packet in k stays charged and the others do not, TCP stops at k times
//! as much, so k is what the shift asks for over what the kernel allows.

use stillair_model::vocabulary::linear_truesize;

/// The shift that a kernel has by itself.
// linux: net/core/sock.c sock_init_data_uid (6.18) - sk_pacing_shift 10.
const KERNEL: u8 = 10;
/// Packets that a kernel allows below a socket whatever its rate.
// linux: net/ipv4/tcp_output.c tcp_small_queue_check (6.18) - twice the truesize of a packet.
const LEAST: u64 = 2;
/// Time over which a flow's rate is measured, in ns.
const WINDOW: u64 = 100_000_000;
const FLOWS: usize = 4096;

/// Packets of which one stays charged, at a rate in bytes/s.
pub fn one_in(shift: u8, rate: u64, truesize: u64) -> u64 {
    let most = 1 << KERNEL.saturating_sub(shift);
    ((rate >> shift) / (LEAST * truesize)).clamp(1, most)
}

/// Bytes of the longest packet that is taken for an acknowledgement alone.
const ACKNOWLEDGEMENT: usize = 200;

#[derive(Clone, Copy, Debug, Default)]
struct FlowRate {
    hash: u32,
    since: u64,
    bytes: u64,
    rate: u64,
    packets: u64,
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

/// Flows of TCP and their rates, by the hash of their addresses and ports. Of two that share a place the one that sends takes it from the other and
/// is measured anew. Until anything has been measured each packet stays charged.
///
/// The kernel goes by a flow's pacing rate, which follows its window and not what it gets. So a flow counts as no slower than its host's others are
/// on average: else one that got less once would stay charged more, and so get less for ever.
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
    /// A packet of a flow of a host; whether it stays charged.
    pub fn holds(&mut self, host: usize, hash: u32, len: usize, shift: u8, now: u64) -> bool {
        if self.hosts.len() <= host {
            self.hosts.resize(host + 1, HostRate { since: now, window: 1, ..HostRate::default() });
        }
        let (all, flow) = (&mut self.hosts[host], &mut self.flows[hash as usize % FLOWS]);
        if flow.hash != hash {
            *flow = FlowRate { hash, since: now, ..FlowRate::default() };
        }
        flow.bytes += len as u64;
        flow.packets += 1;
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
        let k = one_in(shift, flow.rate.max(all.share), u64::from(linear_truesize(len as u32)));
        flow.packets.is_multiple_of(k)
    }
}

/// The rate in bytes/s of so many bytes in so many ns, if that is long enough.
fn rate(bytes: u64, past: u64) -> Option<u64> {
    (past >= WINDOW).then(|| (u128::from(bytes) * 1_000_000_000 / u128::from(past)) as u64)
}

/// Packets whose verdict is out: of which host, and the number of each in its queue.
#[derive(Debug, Default)]
pub struct Tokens {
    all: Vec<(usize, u32)>,
    free: Vec<u32>,
}

impl Tokens {
    /// One for a packet.
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

    /// It has ended: the packet that it stood for.
    pub fn give_back(&mut self, token: u32) -> (usize, u32) {
        self.free.push(token);
        self.all[token as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fraction_follows_the_rate_up_to_what_the_shift_allows() {
        let at = |mbps: u64, shift| one_in(shift, mbps * 125_000, 2304);
        assert_eq!([1, 5, 20, 40, 65, 600].map(|mbps| at(mbps, 7)), [1, 1, 4, 8, 8, 8]);
        assert_eq!([1, 65, 600].map(|mbps| at(mbps, 10)), [1, 1, 1]);
        assert_eq!([65, 600].map(|mbps| at(mbps, 8)), [4, 4]);
        assert_eq!(at(65, 12), 1);
    }

    #[test]
    fn a_flow_at_20_mbps_holds_one_packet_in_four() {
        let mut flows = FlowRates::default();
        let held = |flows: &mut FlowRates, from: u64| {
            (from..from + 400).filter(|n| flows.holds(0, 9, 1500, 7, n * 600_000)).count()
        };
        // Until it has been measured each stays charged.
        assert!(held(&mut flows, 0) > 150);
        assert_eq!(held(&mut flows, 400), 100);
        // Another flow at the same place, of another host, begins anew.
        assert!(flows.holds(1, 9 + FLOWS as u32, 1500, 7, 800 * 600_000));
    }

    #[test]
    fn a_flow_that_gets_less_counts_as_fast_as_its_share() {
        let mut flows = FlowRates::default();
        // 48 Mbit/s and 3 Mbit/s: of 16 packets one is the other flow's, and its acknowledgements are no third flow.
        let mut held = [0; 2];
        for n in 0..32_000_u64 {
            let (now, slow) = (n * 235_000, n % 17 == 0);
            flows.holds(0, 3, 52, 7, now);
            let holds = flows.holds(0, 1 + u32::from(slow), 1500, 7, now);
            if n >= 15_300 {
                held[usize::from(slow)] += u32::from(holds);
            }
        }
        // Half of 51 Mbit/s is 25.5: one in five; by its own rate it would be each. The fast one has one in eight.
        assert_eq!(held.map(|n| n / 10), [15_717 / 8 / 10, 983 / 5 / 10]);
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
