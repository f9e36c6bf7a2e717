//! Tests of hosts without devices: handling of a packet that has reached its host.

use stillair_model::types::{Addr, Instant, NewPacket, NoSink, NodeId, PacketKind, Seed};

use super::LowerLayers;
use crate::scenario;
use crate::world::{World, wire};

const TEXT: &str = r#"
name = "hosts"
duration = "1 s"
[link.lan]
rate = "10 Mbit/s"
delay = "1 ms"
[node.a]
profile = "linux-6.12"
interface.eth0 = { link = "lan", address = "10.0.0.1" }
[node.b]
profile = "linux-6.12"
interface.eth0 = { link = "lan", address = "10.0.0.2" }
[[flow]]
kind = "udp"
from = "a"
to = "b"
rate = "1 Mbit/s"
start = "500 ms"
"#;

#[test]
fn a_host_answers_a_ping_and_takes_a_datagram() {
    let scenario = scenario::parse(TEXT, "hosts.toml", &[]).expect("a good scenario");
    let World { mut core, mut network, mut air, mut hosts, .. } =
        wire(&scenario, Seed { seed: 1, run: 0 }, |_| NoSink).world;
    let packet = |kind| NewPacket { src: Addr(0), dst: Addr(1), kind, ..NewPacket::PLAIN };
    let ping = core.packets.create(packet(PacketKind::EchoRequest));
    let datagram = core.packets.create(packet(PacketKind::Udp));
    let below = &mut LowerLayers { core: &mut core, network: &mut network, air: &mut air };
    hosts.receive(below, NodeId(1), ping);
    hosts.receive(below, NodeId(1), datagram);
    // The reply is on the wire, the datagram is delivered, and neither is charged to a socket.
    let (account, live) = (core.packets.account(), core.packets.live());
    assert_eq!((account.created, account.consumed, account.delivered, live), (3, 1, 1, 1));
    assert_eq!(network.held(), (0, 1));
    assert_eq!(hosts.charges().sum::<u64>(), 0);
    assert_eq!(hosts.unsent(Instant::ZERO).count(), 0);
}
