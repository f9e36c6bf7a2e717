//! The accounts that must close: packets, charges and air.

use stillair_model::vocabulary::{Instant, PacketAccount};
use stillair_model::wifi::account::AirAccount;

use super::World;
use super::apps::AppKind;

impl<S> World<S> {
    /// Books the air up to `end` and checks all accounts; the message says which does not close.
    pub fn close(&mut self, end: Instant) -> Result<(), String> {
        for channel in &mut self.channels {
            channel.close(end);
            let booked = channel.account.total();
            if booked != end - Instant::ZERO {
                return Err(format!("air of channel {}: {booked:?} booked of {end:?}", channel.name));
            }
        }
        self.check_packets()?;
        self.check_charges()
    }

    /// Every packet that was made is delivered, consumed, dropped, or found in some queue.
    fn check_packets(&self) -> Result<(), String> {
        let a = self.packets.account();
        let live = self.packets.live();
        if a.created != a.delivered + a.consumed + a.dropped_total() + live {
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
        for (socket, truesize) in in_packets.chain(in_rings).chain(in_entries) {
            if let Some(sum) = found.get_mut(socket.index()) {
                *sum += u64::from(truesize);
            }
        }
        for (socket, &found) in found.iter().enumerate() {
            let AppKind::Udp(source) = &self.apps[self.sockets[socket]].kind else { continue };
            if source.charged() != found {
                return Err(format!(
                    "socket {socket}: charged for {} bytes, {found} found",
                    source.charged()
                ));
            }
        }
        Ok(())
    }

    /// What became of all packets, and how many are inside.
    pub fn packet_account(&self) -> (&PacketAccount, u64) {
        (self.packets.account(), self.packets.live())
    }

    /// The account of each channel's air, by name.
    pub fn air_accounts(&self) -> Vec<(String, &AirAccount)> {
        self.channels.iter().map(|c| (c.name.clone(), &c.account)).collect()
    }
}
