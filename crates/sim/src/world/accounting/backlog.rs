//! Backlogs of all layers at one instant.

use stillair_model::types::{ETHERNET_HEADER, Packets, Pkt, skb_len};
use stillair_model::wifi::air::ppdu::Mpdu;
use stillair_model::wifi::phy::frame::{AMSDU_HEADER, Cipher, LLC_SNAP, data_mpdu};

use super::super::network::NetDevice;
use super::Accounts;
use crate::recorder::{Backlog, LayerBacklog};

/// Backlog of one frame. The receiver may already have some of its packets, so the frame counts with its own
/// length, including A-MSDU padding.
fn frame(mpdu: &Mpdu, cipher: Cipher) -> LayerBacklog {
    let packets = u32::from(mpdu.msdus);
    let headers = match packets {
        1 => data_mpdu(0),
        _ => data_mpdu(0) - LLC_SNAP + packets * (AMSDU_HEADER + LLC_SNAP),
    };
    let bytes = u32::from(mpdu.len).saturating_sub(headers + cipher.bytes());
    LayerBacklog { packets, bytes: u64::from(bytes + packets * ETHERNET_HEADER) }
}

fn packet(packets: &Packets, p: Pkt) -> LayerBacklog {
    LayerBacklog { packets: 1, bytes: u64::from(skb_len(packets.get(p))) }
}

fn counted((packets, bytes): (u64, u64)) -> LayerBacklog {
    LayerBacklog { packets: packets as u32, bytes }
}

fn sum(all: impl Iterator<Item = LayerBacklog>) -> LayerBacklog {
    all.fold(LayerBacklog::default(), |mut sum, one| {
        sum += one;
        sum
    })
}

impl<'a, S> Accounts<'a, S> {
    /// Returns the backlog in each layer of each interface, in scenario order.
    pub fn backlogs(self) -> impl Iterator<Item = Backlog> + 'a {
        let packets = &self.core.packets;
        let unsent = self.unsent();
        self.network.interfaces().zip(unsent).map(move |((tx, device), socket)| {
            let qdisc = sum(tx.iter().map(|queue| counted(queue.backlog())));
            match device {
                NetDevice::Wire(wire) => {
                    let mut below = [LayerBacklog::default(); 2];
                    for (has_left, p) in self.network.wires()[wire.index()].flight(self.core.now) {
                        below[usize::from(has_left)] += packet(packets, p);
                    }
                    let [ring, flight] = below;
                    [socket, qdisc, LayerBacklog::default(), ring, flight, LayerBacklog::default()]
                }
                NetDevice::Wifi(id) => {
                    let within = self.air.within(id);
                    let frame = |mpdu: &Mpdu| frame(mpdu, within.cipher());
                    let mut driver = counted(within.queued());
                    driver += sum(within.waiting().filter(|m| m.pkt.is_some()).map(frame));
                    let hardware = sum(within.hardware().map(frame));
                    let reorder =
                        sum(within.received().flat_map(|p| packets.amsdu(p)).map(|p| packet(packets, p)));
                    [socket, qdisc, driver, hardware, LayerBacklog::default(), reorder]
                }
            }
        })
    }

    /// Data written by applications but not yet sent by TCP, per interface of the socket's local address.
    fn unsent(self) -> Vec<LayerBacklog> {
        let mut all = vec![LayerBacklog::default(); self.interfaces()];
        for unsent in self.hosts.unsent(self.core.now) {
            all[unsent.address.index()] += LayerBacklog { packets: unsent.segments, bytes: unsent.bytes };
        }
        all
    }

    /// Returns the number of interfaces of all nodes.
    pub fn interfaces(self) -> usize {
        self.network.interfaces().len()
    }
}
