//! The flow hash of a packet.

use core::net::IpAddr;

use crate::parse::PacketView;

/// A 64-bit finalizer: each output bit depends on each input bit.
// paper: Steele, Lea, Flood: Fast splittable pseudorandom number generators (OOPSLA 2014) - the last step of
// SplitMix64, with the constants of Stafford's variant 13.
const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl PacketView {
    /// Hash of addresses, protocol and ports. It is the same in every run and release, and differs for the
    /// reverse direction. The IPv6 flow label is ignored. For fragments it covers the addresses only, so all
    /// fragments of a packet belong to one flow.
    // linux: net/core/flow_dissector.c __skb_flow_dissect (6.12) - ignores the ports of fragments, even of
    // the first.
    // deviation: the flow label is ignored, while Linux stops at it - flows are the same whether or not hosts
    // set it. Fragments leave out the protocol too - the first IPv6 fragment has it, later ones only have the
    // first header of the fragmented part.
    #[must_use]
    pub fn flow_hash(&self) -> u32 {
        let addresses = match (self.source, self.destination) {
            (IpAddr::V4(a), IpAddr::V4(b)) => mix(u64::from(a.to_bits()) << 32 | u64::from(b.to_bits())),
            (a, b) => {
                let halves = |address| {
                    let bits = match address {
                        IpAddr::V4(a) => u128::from(a.to_bits()),
                        IpAddr::V6(a) => a.to_bits(),
                    };
                    [(bits >> 64) as u64, bits as u64]
                };
                // Mixing after each half makes the hash depend on their order.
                let all = [halves(a), halves(b)];
                all.as_flattened().iter().fold(0, |hash: u64, &half| mix(hash.wrapping_add(GOLDEN) ^ half))
            }
        };
        let rest = match (self.fragment, self.ports) {
            (Some(_), _) => 0,
            (None, ports) => {
                let [source, destination] = ports.map_or([0; 2], |p| [p.source, p.destination]);
                1 << 40 | u64::from(self.protocol) << 32 | u64::from(source) << 16 | u64::from(destination)
            }
        };
        (mix(addresses.wrapping_add(GOLDEN) ^ rest) >> 32) as u32
    }
}

/// The golden ratio in 64 bits, odd.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

#[cfg(test)]
mod tests {
    use crate::parse::{Fragment, PacketView, Ports, TCP, UDP};
    use std::collections::BTreeSet;

    fn view(source: &str, destination: &str, ports: [u16; 2]) -> PacketView {
        PacketView {
            source: source.parse().expect("an address"),
            destination: destination.parse().expect("an address"),
            tos: 0,
            ttl: 64,
            protocol: TCP,
            length: 40,
            header: 20,
            dont_fragment: true,
            fragment: None,
            ports: Some(Ports { source: ports[0], destination: ports[1] }),
        }
    }

    #[test]
    fn pinned() {
        let four = view("10.0.0.1", "10.0.0.2", [49_155, 80]);
        let six = view("2001:db8::1", "2001:db8::2", [49_155, 80]);
        assert_eq!([four, six].map(|v| v.flow_hash()), [1_657_742_449, 3_042_232_660]);
    }

    #[test]
    fn fields_that_distinguish_flows() {
        let one = view("10.0.0.1", "10.0.0.2", [49_155, 80]);
        let same = PacketView { tos: 3, ttl: 1, length: 1500, header: 24, dont_fragment: false, ..one };
        assert_eq!(same.flow_hash(), one.flow_hash());
        let others = [
            one,
            view("10.0.0.2", "10.0.0.1", [80, 49_155]),
            view("10.0.0.1", "10.0.0.2", [80, 49_155]),
            PacketView { protocol: UDP, ..one },
            PacketView { ports: None, ..one },
        ];
        let hashes: BTreeSet<u32> = others.iter().map(PacketView::flow_hash).collect();
        assert_eq!(hashes.len(), others.len());
        // All fragments of a packet belong to one flow, whatever headers they carry.
        let part = |offset| Some(Fragment { identification: 1, offset, more: offset == 0 });
        let first = PacketView { fragment: part(0), ..one };
        let later = PacketView { fragment: part(1480), ports: None, protocol: 60, ..one };
        assert_eq!(first.flow_hash(), later.flow_hash());
    }

    #[test]
    fn consecutive_ports_are_spread_over_queues() {
        // 4,096 ports of one host in 1,024 queues: random hashing would leave 19 of them empty (a share of
        // e^-4), with a standard deviation of 4.
        let mut queues = [0; 1024];
        for port in 0..4096 {
            let hash = view("10.0.0.1", "10.0.0.2", [port, 80]).flow_hash();
            queues[((u64::from(hash) * 1024) >> 32) as usize] += 1;
        }
        let empty = queues.iter().filter(|&&n| n == 0).count();
        assert!((5..=33).contains(&empty), "{empty}");
    }
}
