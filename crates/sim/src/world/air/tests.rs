//! Tests of the air without nodes and hosts: packets are pushed into a device, and packets passed up are
//! recorded.

use stillair_model::node::interface::Port;
use stillair_model::types::{Ac, DevId, Duration, IfId, Instant, NewPacket, NoSink, PeerId, Pkt, Seed};
use stillair_model::wifi::dev::Woken;

use super::{Air, UpperLayer};
use crate::scenario;
use crate::world::state::SimState;
use crate::world::{World, wire};

const TEXT: &str = r#"
name = "air"
duration = "1 s"
[channel.wifi]
band = "5 GHz"
width = "20 MHz"
beacon_interval = "off"
[node.ap]
profile = "linux-6.12"
interface.wlan0 = { channel = "wifi", role = "ap", address = "10.0.0.1" }
[node.sta]
profile = "linux-6.12"
interface.wlan0 = { channel = "wifi", role = "station", ap = "ap.wlan0", address = "10.0.0.2", rate = "ht20-mcs7-lgi" }
"#;

/// Records packets passed up: time, interface and number of packets.
struct Listener {
    core: SimState<NoSink>,
    heard: Vec<(Instant, IfId, usize)>,
    woken: usize,
}

impl UpperLayer for Listener {
    type Sink = NoSink;

    fn core(&mut self) -> &mut SimState<NoSink> {
        &mut self.core
    }

    fn up(&mut self, _: &mut Air, interface: IfId, batch: &mut Vec<Pkt>) {
        self.heard.push((self.core.now, interface, batch.len()));
        batch.drain(..).for_each(|p| self.core.packets.free(p, stillair_model::types::Fate::Delivered));
    }

    fn woken(&mut self, _: &mut Air, _: IfId, _: Woken) {
        self.woken += 1;
    }
}

#[test]
fn pushed_packets_arrive_at_the_other_device() {
    let scenario = scenario::parse(TEXT, "air.toml", &[]).expect("a good scenario");
    let World { core, mut air, .. } = wire(&scenario, Seed { seed: 1, run: 0 }, |_| NoSink).world;
    let mut listener = Listener { core, heard: Vec::new(), woken: 0 };
    for _ in 0..40 {
        let p = listener.core.packets.create(NewPacket::PLAIN);
        listener.core.packets.get_mut(p).peer = PeerId(0);
        let (now, port) = (listener.core.now, &mut air.port(DevId(0)));
        assert!(!Port::<NoSink>::is_stopped(port, Ac::Be));
        port.push(now, p, &mut listener.core.ctx());
    }
    air.settle(&mut listener.core);
    let end = Instant::ZERO + Duration::from_secs(1);
    let slots = air.slots;
    while let Some((now, slot)) = listener.core.timers.pop_before(end) {
        listener.core.now = now;
        match slot.0.checked_sub(slots.devs) {
            None => air.exchange_ended(&mut listener, (slot.0 - slots.channels) as usize),
            Some(dev) => air.dev_timer(&mut listener, dev as usize),
        }
        air.settle(&mut listener.core);
    }
    let station = IfId(1);
    listener.heard.retain(|&(.., packets)| packets > 0);
    assert!(listener.heard.iter().all(|&(_, at, _)| at == station), "{:?}", listener.heard);
    let all: usize = listener.heard.iter().map(|&(.., packets)| packets).sum();
    let (first, last) = (listener.heard[0].0, listener.heard.last().expect("something").0);
    // Single frames first, then aggregates: 40 frames take about 10 ms at 65 Mbit/s, and the session setup a
    // few ms.
    assert_eq!((all, listener.core.packets.live(), air.held(&listener.core.packets)), (40, 0, (0, 0)));
    assert!(last - first < Duration::from_millis(30), "{first:?} to {last:?}");
    assert_eq!(air.close(end), Ok(()));
}
