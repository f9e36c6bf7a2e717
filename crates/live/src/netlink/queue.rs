//! NFQUEUE messages: configuration, packets, and verdicts.

use super::message::{ACK, Messages, REQUEST, attributes, messages};

// linux: include/uapi/linux/netfilter/nfnetlink_queue.h, nfnetlink.h (6.12) - the numbers of all these.
const SUBSYSTEM: u16 = 3 << 8;
const PACKET: u16 = SUBSYSTEM;
const VERDICT: u16 = SUBSYSTEM | 1;
const CONFIG: u16 = SUBSYSTEM | 2;
const PACKET_HEADER: u16 = 1;
const VERDICT_HEADER: u16 = 2;
const PAYLOAD: u16 = 10;
const CAPTURED_LENGTH: u16 = 13;
/// Length of `nfgenmsg`.
const GENERAL: usize = 4;

/// What follows the header of each message: family, version, number of the queue.
fn general(queue: u16) -> [u8; GENERAL] {
    let [high, low] = queue.to_be_bytes();
    [0, 0, high, low]
}

/// Messages that bind a queue with room for `room` packets, of each of which `copied` bytes are copied.
pub fn configuration(queue: u16, room: u32, copied: u32) -> [Messages; 2] {
    const BIND: u8 = 1;
    const COPY_PACKET: u8 = 2;
    let mut bind = Messages::default();
    bind.begin(CONFIG, REQUEST | ACK, &general(queue)).with(1, &[BIND, 0, 0, 2]);
    let mut copy = Messages::default();
    let [a, b, c, d] = copied.to_be_bytes();
    copy.begin(CONFIG, REQUEST | ACK, &general(queue))
        .with(2, &[a, b, c, d, COPY_PACKET])
        .with(3, &room.to_be_bytes());
    [bind, copy]
}

/// A packet that waits for a verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueuedPacket<'a> {
    /// Number of the packet in the queue.
    pub id: u32,
    /// Bytes from the IP header on.
    pub bytes: &'a [u8],
    /// Whether the packet is longer than the copied bytes.
    pub cut: bool,
}

/// The packets in a message from a queue.
pub fn packets(bytes: &[u8]) -> impl Iterator<Item = QueuedPacket<'_>> {
    messages(bytes).filter(|(kind, _)| *kind == PACKET).filter_map(|(_, body)| {
        let (mut id, mut packet, mut cut) = (None, &[][..], false);
        for (kind, value) in attributes(body.get(GENERAL..)?) {
            match kind {
                PACKET_HEADER => id = Some(u32::from_be_bytes(*value.first_chunk()?)),
                PAYLOAD => packet = value,
                CAPTURED_LENGTH => cut = true,
                _ => {}
            }
        }
        Some(QueuedPacket { id: id?, bytes: packet, cut })
    })
}

/// Adds a drop verdict, which ends the packet's charge.
pub fn drop(out: &mut Messages, queue: u16, id: u32) {
    const NF_DROP: u32 = 0;
    verdict(out, queue, id, NF_DROP);
}

/// Adds an accept verdict, by which the kernel passes the packet to the device.
pub fn pass(out: &mut Messages, queue: u16, id: u32) {
    const NF_ACCEPT: u32 = 1;
    verdict(out, queue, id, NF_ACCEPT);
}

fn verdict(out: &mut Messages, queue: u16, id: u32, what: u32) {
    let [a, b, c, d] = id.to_be_bytes();
    let [e, f, g, h] = what.to_be_bytes();
    out.begin(VERDICT, REQUEST, &general(queue)).with(VERDICT_HEADER, &[e, f, g, h, a, b, c, d]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_found_and_what_is_no_packet_is_not() {
        let mut out = Messages::default();
        out.begin(PACKET, 0, &general(7))
            .with(PACKET_HEADER, &[0, 0, 1, 2, 8, 0, 3])
            .with(PAYLOAD, b"\x45rest");
        out.begin(VERDICT, 0, &general(7)).with(PACKET_HEADER, &[0, 0, 1, 3, 8, 0, 3]);
        let found: Vec<_> = packets(out.bytes()).collect();
        assert_eq!(found, [QueuedPacket { id: 0x102, bytes: b"\x45rest", cut: false }]);
        for cut in 0..out.bytes().len() {
            assert!(packets(&out.bytes()[..cut]).count() <= 1);
        }
    }

    #[test]
    fn a_verdict_has_32_bytes() {
        let mut out = Messages::default();
        drop(&mut out, 7, 0x0102_0304);
        assert_eq!(out.bytes().len(), 32);
        assert_eq!(out.bytes()[18..20], [0, 7]);
        assert_eq!(out.bytes()[24..], [0, 0, 0, 0, 1, 2, 3, 4]);
        out.clear();
        pass(&mut out, 7, 0x0102_0304);
        assert_eq!(out.bytes()[24..], [0, 0, 0, 1, 1, 2, 3, 4]);
    }

    #[test]
    fn of_a_packet_that_is_too_long_the_beginning_comes() {
        let mut out = Messages::default();
        out.begin(PACKET, 0, &general(7))
            .with(PACKET_HEADER, &[0, 0, 1, 2, 8, 0, 3])
            .with(CAPTURED_LENGTH, &3_028_u32.to_be_bytes())
            .with(PAYLOAD, b"\x45rest");
        let found: Vec<_> = packets(out.bytes()).collect();
        assert_eq!(found, [QueuedPacket { id: 0x102, bytes: b"\x45rest", cut: true }]);
    }
}
