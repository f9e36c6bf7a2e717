//! Tests of the network without applications: two hosts on a wire. The receiver records each packet.

use stillair_model::types::{Addr, Duration, Fate, IfId, Instant, NewPacket, NoSink, NodeId, Pkt, Seed};

use super::{FirstHop, LocalDelivery, Network};
use crate::scenario;
use crate::world::air::Air;
use crate::world::state::SimState;
use crate::world::{World, wire};

const TEXT: &str = r#"
name = "network"
duration = "1 s"
[link.lan]
rate = "10 Mbit/s"
delay = "2 ms"
[link.far]
rate = "100 Mbit/s"
delay = "1 ms"
[node.a]
profile = "linux-6.12"
interface.eth0 = { link = "lan", address = "10.0.0.1" }
[node.r]
profile = "linux-6.12"
forward = true
interface.eth0 = { link = "lan", address = "10.0.0.2" }
interface.eth1 = { link = "far", address = "10.0.1.1" }
[node.b]
profile = "linux-6.12"
interface.eth0 = { link = "far", address = "10.0.1.2" }
"#;

#[derive(Default)]
struct Reached(Vec<(Instant, NodeId)>);

impl LocalDelivery<NoSink> for Reached {
    fn deliver(&mut self, core: &mut SimState<NoSink>, _: &mut Network, _: &mut Air, node: NodeId, p: Pkt) {
        self.0.push((core.now, node));
        core.packets.free(p, Fate::Delivered);
    }

    fn leave(&mut self, _: &mut SimState<NoSink>, _: IfId, _: Pkt) {
        unreachable!("no host is outside")
    }
}

#[test]
fn a_packet_is_queued_forwarded_and_delivered() {
    let scenario = scenario::parse(TEXT, "network.toml", &[]).expect("a good scenario");
    let World { mut core, mut network, mut air, .. } =
        wire(&scenario, Seed { seed: 1, run: 0 }, |_| NoSink).world;
    let (a, b) = (NodeId(0), NodeId(2));
    let to = |dst: u16| NewPacket { len: 1500, src: Addr(0), dst: Addr(dst), ..NewPacket::PLAIN };
    for _ in 0..3 {
        let p = core.packets.create(to(3));
        assert!(matches!(network.send(&mut core, &mut air, a, p), FirstHop::On(_)));
    }
    // A packet for the sending node itself is returned.
    let own = core.packets.create(to(0));
    assert!(matches!(network.send(&mut core, &mut air, a, own), FirstHop::Local));
    core.packets.free(own, Fate::Consumed);
    let mut reached = Reached::default();
    let (end, slots) = (Instant::ZERO + Duration::from_secs(1), network.slots);
    while let Some((now, slot)) = core.timers.pop_before(end) {
        core.now = now;
        match slot.0.checked_sub(slots.completions) {
            None => {
                network.wire_arrival(&mut core, &mut air, &mut reached, (slot.0 - slots.arrivals) as usize)
            }
            Some(wire) => network.wire_completion(&mut core, &mut air, wire as usize),
        }
    }
    // spec: ieee8023 - 1500 bytes are 1538 with preamble, header, FCS and interpacket gap: 1230.4 us at 10
    // Mbit/s, 123.04 us at 100 Mbit/s.
    let us: Vec<u64> = reached.0.iter().map(|(at, _)| at.nanos() / 1_000).collect();
    assert_eq!(us, [4_353, 5_583, 6_814]);
    assert!(reached.0.iter().all(|&(_, node)| node == b));
    assert_eq!((network.held(), core.packets.live()), ((0, 0), 0));
    assert_eq!(core.packets.account().dropped_total(), 0);
}
