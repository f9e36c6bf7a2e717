//! How much waits where, at one instant.

use stillair_model::vocabulary::{ETHERNET_HEADER, Packets, Pkt, skb_len};
use stillair_model::wifi::air::ppdu::Mpdu;
use stillair_model::wifi::phy::frame::{Cipher, data_mpdu};

use super::{Device, World};
use crate::recorder::{Backlog, Waiting};

/// One frame; whoever has got its packet may wait for the acknowledgement, so its own length counts.
fn frame(mpdu: &Mpdu, cipher: Cipher) -> Waiting {
    let packet = u32::from(mpdu.len).saturating_sub(data_mpdu(0) + cipher.bytes());
    Waiting { packets: 1, bytes: u64::from(packet + ETHERNET_HEADER) }
}

fn packet(packets: &Packets, p: Pkt) -> Waiting {
    Waiting { packets: 1, bytes: u64::from(skb_len(packets.get(p))) }
}

fn counted((packets, bytes): (u64, u64)) -> Waiting {
    Waiting { packets: packets as u32, bytes }
}

fn sum(all: impl Iterator<Item = Waiting>) -> Waiting {
    all.fold(Waiting::default(), |mut sum, one| {
        sum += one;
        sum
    })
}

impl<S> World<S> {
    /// What waits in the layers of each interface, in the order of the scenario.
    pub fn backlogs(&self) -> impl Iterator<Item = Backlog> {
        let unsent = self.unsent();
        self.interfaces.iter().zip(unsent).map(|(interface, socket)| {
            let qdisc = sum(interface.tx.iter().map(|queue| counted(queue.backlog())));
            match interface.device {
                Device::Wire(wire) => {
                    let mut below = [Waiting::default(); 2];
                    for (has_left, p) in self.wires[wire.index()].flight(self.now) {
                        below[usize::from(has_left)] += packet(&self.packets, p);
                    }
                    let [ring, flight] = below;
                    [socket, qdisc, Waiting::default(), ring, flight, Waiting::default()]
                }
                Device::Wifi(id) => {
                    let dev = &self.wlans[id.index()].dev;
                    let cipher = self.channels[self.radios[dev.radio.index()].channel.index()].cipher;
                    let frame = |mpdu: &Mpdu| frame(mpdu, cipher);
                    let mut driver = counted(dev.queued());
                    driver += sum(dev.waiting().filter(|m| m.pkt.is_some()).map(frame));
                    let sent_by_it = self.radios[dev.radio.index()].ppdus().filter(|p| p.header.dev == id);
                    let hardware = sum(sent_by_it.flat_map(|p| &p.mpdus).map(frame));
                    let reorder = sum(dev.received().map(|p| packet(&self.packets, p)));
                    [socket, qdisc, driver, hardware, Waiting::default(), reorder]
                }
            }
        })
    }

    /// What applications have written and TCP has not sent, by the interface whose address the socket bears.
    fn unsent(&self) -> Vec<Waiting> {
        let mut all = vec![Waiting::default(); self.interfaces.len()];
        for tcp in self.tcps.iter().flatten() {
            let info = tcp.info(self.now);
            let packets = info.notsent.div_ceil(info.mss);
            // An address is known by its interface's number.
            all[tcp.source().index()] += Waiting { packets, bytes: u64::from(info.notsent) };
        }
        all
    }

    /// Interfaces of all nodes.
    pub fn interfaces(&self) -> usize {
        self.interfaces.len()
    }
}
