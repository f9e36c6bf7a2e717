//! Packet lists, linked through the slab.

use super::packet::{Packet, Packets, Pkt};

/// A FIFO list of packets. A packet is in at most one list, because the slab stores its link to the next
/// packet.
///
/// The list owns its packets. It counts packets, and bytes as qdiscs do ([`skb_len`]).
#[derive(Debug, Default)]
pub struct PktList {
    head: Option<Pkt>,
    tail: Option<Pkt>,
    packets: u32,
    bytes: u64,
}

/// Length of a packet in bytes as qdiscs count it: with its Ethernet header (`qdisc_pkt_len`).
#[inline]
pub fn skb_len(p: &Packet) -> u32 {
    p.len + ETHERNET_HEADER * u32::from(p.segs)
}

/// Length of an Ethernet header in bytes, without the FCS.
pub const ETHERNET_HEADER: u32 = 14;

impl PktList {
    /// Number of packets in the list.
    #[inline]
    pub fn packets(&self) -> u32 {
        self.packets
    }
    /// Bytes in the list, including Ethernet headers.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
    /// Returns true if the list is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.head.is_none()
    }
    /// The first packet, still in the list.
    #[inline]
    pub fn head(&self) -> Option<Pkt> {
        self.head
    }
    /// The last packet, still in the list.
    #[inline]
    pub fn tail(&self) -> Option<Pkt> {
        self.tail
    }
    /// The packet after `p` in the list.
    pub fn behind(&self, packets: &Packets, p: Pkt) -> Option<Pkt> {
        packets.linked(p)
    }
    /// Removes and returns the packet after `before`, or the first packet for `None`.
    ///
    /// Panics if no such packet exists.
    pub fn remove_behind(&mut self, packets: &mut Packets, before: Option<Pkt>) -> Pkt {
        let Some(before) = before else { return self.pop(packets).expect("a list with a first packet") };
        let p = packets.link(before).expect("a packet behind it");
        let behind = packets.link(p).take();
        *packets.link(before) = behind;
        if behind.is_none() {
            self.tail = Some(before);
        }
        self.bytes -= u64::from(skb_len(packets.get(p)));
        self.packets -= 1;
        p
    }
    /// Appends a packet.
    #[inline]
    pub fn push(&mut self, packets: &mut Packets, p: Pkt) {
        self.bytes += u64::from(skb_len(packets.get(p)));
        self.packets += 1;
        *packets.link(p) = None;
        match self.tail.replace(p) {
            Some(tail) => *packets.link(tail) = Some(p),
            None => self.head = Some(p),
        }
    }
    /// Prepends a packet.
    #[inline]
    pub fn push_front(&mut self, packets: &mut Packets, p: Pkt) {
        self.bytes += u64::from(skb_len(packets.get(p)));
        self.packets += 1;
        *packets.link(p) = self.head.replace(p);
        if self.tail.is_none() {
            self.tail = Some(p);
        }
    }
    /// Removes and returns the first packet.
    #[inline]
    pub fn pop(&mut self, packets: &mut Packets) -> Option<Pkt> {
        let p = self.head?;
        self.head = packets.link(p).take();
        self.bytes -= u64::from(skb_len(packets.get(p)));
        self.packets -= 1;
        if self.head.is_none() {
            self.tail = None;
        }
        Some(p)
    }
}

#[cfg(test)]
mod tests {
    use super::super::packet::NewPacket;
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn a_list_is_first_in_first_out() {
        let mut ps = Packets::new();
        let mut list = PktList::default();
        let handles: Vec<_> = (0..3).map(|_| ps.create(NewPacket::PLAIN)).collect();
        handles[1..].iter().for_each(|&p| list.push(&mut ps, p));
        list.push_front(&mut ps, handles[0]);
        assert_eq!((list.packets(), list.bytes()), (3, 3 * 1514));
        assert_eq!(core::iter::from_fn(|| list.pop(&mut ps)).collect::<Vec<_>>(), handles);
        assert_eq!((list.packets(), list.bytes(), list.is_empty()), (0, 0, true));
        // A packet prepended to an empty list is also the tail.
        list.push_front(&mut ps, handles[2]);
        list.push(&mut ps, handles[1]);
        assert_eq!(core::iter::from_fn(|| list.pop(&mut ps)).collect::<Vec<_>>(), [handles[2], handles[1]]);
    }
}
