//! The accounts that must close: packets, charges and air.

use stillair_model::vocabulary::{IfId, Instant, PacketAccount, SockId};
use stillair_model::wifi::air::account::AirAccount;
use stillair_model::wifi::rx::RxTid;
use stillair_model::wifi::tx::transmitter::TIDS;

use super::World;
use super::apps::AppKind;
use super::sockets::{Protocol, Socket};
use crate::recorder::Losses;

impl<S> World<S> {
    /// Books the air up to `end` and checks all accounts; the message says which does not close.
    pub fn close(&mut self, end: Instant) -> Result<(), String> {
        for channel in &mut self.channels {
            channel.close(end, &self.radios);
            let booked = channel.account.total();
            if booked != end - Instant::ZERO {
                return Err(format!("air of channel {}: {booked:?} booked of {end:?}", channel.name));
            }
        }
        self.check_packets()?;
        self.check_charges()
    }

    /// Every packet that was made is delivered, consumed, merged, dropped, or found in some queue.
    fn check_packets(&self) -> Result<(), String> {
        let a = self.packets.account();
        let live = self.packets.live();
        if a.created != a.delivered + a.consumed + a.merged + a.dropped_total() + live {
            return Err(format!("packets: {a:?} with {live} alive"));
        }
        let queued: u64 = self.interfaces.iter().map(|i| i.tx.held()).sum();
        let wired: u64 = self.wires.iter().map(|w| w.held()).sum();
        let mac: u64 = self.wlans.iter().map(|s| s.dev.held()).sum();
        let in_hardware = self.radios.iter().flat_map(|r| r.ppdus()).flat_map(|p| &p.mpdus);
        let hardware = in_hardware.filter(|m| m.pkt.is_some()).count() as u64;
        let found = queued + wired + mac + hardware;
        if found != live {
            let places =
                format!("{queued} in qdiscs, {wired} on wires, {mac} in drivers, {hardware} in radios");
            return Err(format!("packets: {live} alive, but {found} found ({places})"));
        }
        Ok(())
    }

    /// Every socket is charged for exactly the packets that are still charged to it.
    fn check_charges(&self) -> Result<(), String> {
        let mut found = vec![0_u64; self.sockets.len()];
        let in_packets = self.packets.live_charges();
        let in_rings = self.wires.iter().flat_map(|w| w.charges());
        let in_hardware = self.radios.iter().flat_map(|r| r.ppdus()).flat_map(|p| &p.mpdus);
        let waiting = self.wlans.iter().flat_map(|s| s.dev.waiting());
        let in_entries =
            in_hardware.chain(waiting).filter(|m| m.pkt.is_none()).map(|m| (m.charge, m.truesize));
        let reports = self.wlans.iter().flat_map(|s| s.dev.unheard_charges());
        for (socket, truesize) in in_packets.chain(in_rings).chain(in_entries).chain(reports) {
            if let Some(sum) = found.get_mut(socket.index()) {
                *sum += u64::from(truesize);
            }
        }
        for (socket, &found) in found.iter().enumerate() {
            let charged = self.charge_of(socket);
            if charged != found {
                return Err(format!("socket {socket}: charged for {charged} bytes, {found} found"));
            }
        }
        Ok(())
    }

    /// What became of all packets, and how many are inside.
    pub fn packet_account(&self) -> (&PacketAccount, u64) {
        (self.packets.account(), self.packets.live())
    }

    /// Memory charged to all sockets now, in bytes.
    pub fn charged(&self) -> u64 {
        (0..self.sockets.len()).map(|socket| self.charge_of(socket)).sum()
    }

    /// Memory charged to a socket now, in bytes.
    fn charge_of(&self, socket: usize) -> u64 {
        let Socket { app, protocol, .. } = self.sockets[socket];
        match (protocol, &self.apps[app as usize].kind) {
            (Protocol::Over, _) => 0,
            (Protocol::Tcp, _) => self.tcps[socket].as_ref().map_or(0, |tcp| u64::from(tcp.sender.charged())),
            (Protocol::Udp, AppKind::Udp(source)) => source.charged(),
            (Protocol::Quic, AppKind::Quic(quic)) => quic.charged(SockId::from_index(socket)),
            (Protocol::Udp | Protocol::Quic, _) => 0,
        }
    }

    /// Frames that receivers got again because the acknowledgement had been lost.
    pub fn duplicates(&self) -> u64 {
        self.wlans.iter().map(|w| w.dev.duplicates()).sum()
    }

    /// What was lost on each link, and came twice: from which interface, to which.
    pub fn losses(&self) -> impl Iterator<Item = (IfId, IfId, Losses)> {
        let links = self.wlans.iter().flat_map(|w| w.dev.tx.peers.iter().map(move |p| (w.interface, p)));
        links.map(|(from, peer)| {
            let (dev, back) = peer.remote;
            let receiver = &self.wlans[dev.index()];
            let of =
                |count: fn(&RxTid) -> u64| (0..TIDS as u8).map(|tid| count(receiver.dev.rx(back, tid))).sum();
            let losses = Losses {
                mpdus_broken: of(|rx| rx.broken),
                ppdus_unheard: peer.unheard,
                answers_lost: peer.answers_lost,
                mpdus_twice: of(|rx| rx.duplicates),
            };
            (from, receiver.interface, losses)
        })
    }

    /// The account of each channel's air, by name.
    pub fn air_accounts(&self) -> Vec<(String, &AirAccount)> {
        self.channels.iter().map(|c| (c.name.clone(), &c.account)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario;
    use crate::world::{World, wire};
    use stillair_model::vocabulary::{Duration, Fate, NewPacket, PlaceId, Reason, Seed};
    use stillair_model::wifi::air::account::AirUse;

    const END: Instant = Instant::from_nanos(200_000_000);
    const TEXT: &str = include_str!("../../tests/scenario/good.toml");

    /// A world after 200 ms of load.
    fn world() -> World<crate::recorder::Recorder> {
        let scenario = scenario::parse(TEXT, "good.toml", &[]).expect("a good scenario");
        let mut world = wire(&scenario, Seed { seed: 1, run: 0 }, |recorder| recorder).world;
        world.run_until(END);
        world
    }

    fn packet(charge: SockId) -> NewPacket {
        NewPacket { now: END, charge, ..NewPacket::PLAIN }
    }

    #[test]
    fn untouched_accounts_close_at_any_instant() {
        let mut w = world();
        assert_eq!(w.close(END), Ok(()));
        assert!(w.packet_account().1 > 0, "the world is busy");
        let later = END + Duration::from_nanos(1_234_567);
        w.run_until(later);
        assert_eq!(w.close(later), Ok(()));
    }

    #[test]
    fn a_packet_that_nobody_holds_is_missed() {
        let mut w = world();
        w.packets.create(packet(SockId::NONE));
        let says = w.close(END).unwrap_err();
        let live = w.packets.live();
        assert!(says.starts_with(&format!("packets: {live} alive, but {} found", live - 1)), "{says}");
    }

    #[test]
    fn a_charge_without_its_socket_is_missed() {
        let mut w = world();
        let p = w.packets.create(packet(SockId(1)));
        w.packets.free(p, Fate::Dropped(Reason::Codel, PlaceId(0)));
        while w.packets.pop_uncharged().is_some() {}
        assert_eq!(w.close(END), Ok(()));
        // A charge that has ended, but whose socket has not heard of it.
        let AppKind::Udp(source) = &mut w.apps[w.sockets[1].app as usize].kind else {
            panic!("a UDP source")
        };
        let before = source.charged();
        source.on_timer();
        assert!(source.emit(END).is_some());
        let says = w.close(END).unwrap_err();
        assert_eq!(says, format!("socket 1: charged for {} bytes, {before} found", before + 2304));
    }

    #[test]
    fn air_that_is_booked_beyond_the_end_is_missed() {
        let mut w = world();
        w.channels[0].account.book(AirUse::Ack, END + Duration::from_nanos(1));
        assert!(w.close(END).unwrap_err().starts_with("air of channel wifi: "));
    }
}
