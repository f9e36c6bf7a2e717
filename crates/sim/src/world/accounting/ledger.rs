//! Accounts that must balance: packets, socket charges and airtime.

use stillair_model::types::{IfId, PacketAccount, SockId};
use stillair_model::wifi::air::account::AirAccount;
use stillair_model::wifi::rate::StatsRow;

use super::Accounts;
use crate::recorder::Losses;

impl<'a, S> Accounts<'a, S> {
    /// Checks that all accounts balance.
    pub(in crate::world) fn check(self) -> Result<(), String> {
        self.check_packets()?;
        self.check_charges()?;
        self.check_tokens()
    }

    /// Checks that every packet created was delivered, consumed, merged or dropped, or is in a queue.
    fn check_packets(self) -> Result<(), String> {
        let (a, live) = self.packet_account();
        if a.created != a.delivered + a.consumed + a.merged + a.dropped_total() + live {
            return Err(format!("packets: {a:?} with {live} alive"));
        }
        let (queued, wired) = self.network.held();
        let (mac, hardware) = self.air.held(&self.core.packets);
        let found = queued + wired + mac + hardware;
        if found != live {
            let places =
                format!("{queued} in qdiscs, {wired} on wires, {mac} in drivers, {hardware} in radios");
            return Err(format!("packets: {live} alive, but {found} found ({places})"));
        }
        Ok(())
    }

    /// Checks that each socket is charged for exactly the packets that hold its charge.
    fn check_charges(self) -> Result<(), String> {
        let charged = self.hosts.charges();
        let mut found = vec![0_u64; charged.len()];
        let in_packets = self.core.packets.live_charges();
        for (socket, truesize) in in_packets.chain(self.network.charges()).chain(self.air.charges()) {
            if let Some(sum) = found.get_mut(socket.index()) {
                *sum += u64::from(truesize);
            }
        }
        for (socket, (charged, found)) in charged.zip(found).enumerate() {
            if charged != found {
                return Err(format!("socket {socket}: charged for {charged} bytes, {found} found"));
            }
        }
        Ok(())
    }

    /// Checks the tokens and bytes of external packets. Each pending token belongs to exactly one packet,
    /// ring entry or frame, or has just ended. Each byte buffer is held by packets in the world or by packets
    /// waiting for the driver.
    fn check_tokens(self) -> Result<(), String> {
        let external = self.hosts.external();
        let held = external.tokens();
        let mut found = vec![0_u32; held.len()];
        let charged =
            self.core.packets.live_charges().chain(self.network.charges()).chain(self.air.charges());
        let all = charged.map(|(charge, _)| charge).chain(self.core.packets.ended());
        for token in all.filter_map(SockId::token) {
            match found.get_mut(token as usize) {
                Some(times) => *times += 1,
                None => return Err(format!("token {token}: found, but it never came in")),
            }
        }
        let wrong = (0..held.len()).find(|&token| found[token] != u32::from(held[token]));
        if let Some(token) = wrong {
            let (held, found) = (u32::from(held[token]), found[token]);
            return Err(format!("token {token}: {held} held, found {found} times"));
        }
        let (holders, inside) = self.core.packets.held_bytes();
        let waiting = external.waiting() as u64;
        if holders != inside + waiting {
            return Err(format!(
                "bytes: held {holders} times, by {inside} packets and {waiting} that have left"
            ));
        }
        Ok(())
    }

    /// Returns the packet account and the number of packets in the world.
    pub fn packet_account(self) -> (&'a PacketAccount, u64) {
        (self.core.packets.account(), self.core.packets.live())
    }

    /// Returns the memory currently charged to all sockets, in bytes.
    pub fn charged(self) -> u64 {
        self.hosts.charges().sum()
    }

    /// Returns the number of frames received more than once because an acknowledgement was lost.
    pub fn duplicates(self) -> u64 {
        self.air.duplicates()
    }

    /// Returns the losses and duplicates of each link, with the sending and the receiving interface.
    pub fn losses(self) -> impl Iterator<Item = (IfId, IfId, Losses)> + 'a {
        self.air.losses()
    }

    /// Returns the rate control statistics of each link without a fixed rate: sending interface, receiving
    /// interface, and one row per rate.
    pub fn rate_stats(self) -> impl Iterator<Item = (IfId, IfId, Vec<StatsRow>)> + 'a {
        self.air.rate_stats()
    }

    /// Returns the airtime account of each channel, by channel name.
    pub fn air_accounts(self) -> Vec<(String, &'a AirAccount)> {
        self.air.accounts()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario;
    use crate::world::{World, wire};
    use stillair_model::types::{Duration, Fate, Instant, NewPacket, PlaceId, Reason, Seed};

    const END: Instant = Instant::from_nanos(200_000_000);
    const TEXT: &str = include_str!("../../../tests/scenario/good.toml");

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
        assert!(w.books().packet_account().1 > 0, "the world is busy");
        let later = END + Duration::from_nanos(1_234_567);
        w.run_until(later);
        assert_eq!(w.close(later), Ok(()));
    }

    #[test]
    fn lost_packet_is_detected() {
        let mut w = world();
        w.core.packets.create(packet(SockId::NONE));
        let says = w.close(END).unwrap_err();
        let live = w.core.packets.live();
        assert!(says.starts_with(&format!("packets: {live} alive, but {} found", live - 1)), "{says}");
    }

    #[test]
    fn charge_without_packet_is_detected() {
        let mut w = world();
        let p = w.core.packets.create(packet(SockId(1)));
        w.core.packets.free(p, Fate::Dropped(Reason::Codel, PlaceId(0)));
        while w.core.packets.pop_uncharged().is_some() {}
        assert_eq!(w.close(END), Ok(()));
        // A charge that has ended, but that the socket has not released yet.
        let before = w.hosts.charge_without_packet(1, END);
        let says = w.close(END).unwrap_err();
        assert_eq!(says, format!("socket 1: charged for {} bytes, {before} found", before + 2304));
    }

    #[test]
    fn airtime_booked_beyond_the_end_is_detected() {
        let mut w = world();
        w.air.book_ahead(END + Duration::from_nanos(1));
        assert!(w.close(END).unwrap_err().starts_with("air of channel wifi: "));
    }
}
