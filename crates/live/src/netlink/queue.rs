//! NFQUEUE messages: configuration, packets, and verdicts.

use netlink_packet_core::{NLA_HEADER_SIZE, NLM_F_ACK, NLM_F_REQUEST, NlasIterator};

use super::messages;

// linux: include/uapi/linux/netfilter/nfnetlink_queue.h, nfnetlink.h (6.12) - values of these constants.
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

/// Appends a message for a queue with these attributes: `nlmsghdr`, `nfgenmsg`, and each attribute padded to
/// four bytes.
fn put(out: &mut Vec<u8>, kind: u16, flags: u16, queue: u16, attributes: &[(u16, &[u8])]) {
    let begin = out.len();
    out.extend([0; 4]);
    out.extend(kind.to_ne_bytes());
    out.extend(flags.to_ne_bytes());
    out.extend([0; 8 + 2]);
    out.extend(queue.to_be_bytes());
    for (kind, value) in attributes {
        out.extend((value.len() as u16 + 4).to_ne_bytes());
        out.extend(kind.to_ne_bytes());
        out.extend(*value);
        out.resize(out.len().next_multiple_of(4), 0);
    }
    let len = (out.len() - begin) as u32;
    out[begin..][..4].copy_from_slice(&len.to_ne_bytes());
}

/// Messages that bind a queue for up to `room` packets, with up to `copied` bytes of each copied.
pub fn configuration(queue: u16, room: u32, copied: u32) -> [Vec<u8>; 2] {
    const BIND: u8 = 1;
    const COPY_PACKET: u8 = 2;
    let [a, b, c, d] = copied.to_be_bytes();
    let (mut bind, mut copy) = (Vec::new(), Vec::new());
    put(&mut bind, CONFIG, NLM_F_REQUEST | NLM_F_ACK, queue, &[(1, &[BIND, 0, 0, 2])]);
    let parameters: [(u16, &[u8]); 2] = [(2, &[a, b, c, d, COPY_PACKET]), (3, &room.to_be_bytes())];
    put(&mut copy, CONFIG, NLM_F_REQUEST | NLM_F_ACK, queue, &parameters);
    [bind, copy]
}

/// A packet waiting for its verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueuedPacket<'a> {
    /// Number of the packet in the queue.
    pub id: u32,
    /// Bytes starting at the IP header.
    pub bytes: &'a [u8],
    /// True if the packet is longer than the copied bytes.
    pub cut: bool,
}

/// The packets in a message from a queue.
pub fn packets(bytes: &[u8]) -> impl Iterator<Item = QueuedPacket<'_>> {
    messages(bytes).filter(|message| message.message_type() == PACKET).filter_map(|message| {
        let (mut id, mut packet, mut cut) = (None, &[][..], false);
        for attribute in NlasIterator::new(message.payload().get(GENERAL..)?).map_while(Result::ok) {
            let value = attribute.into_inner().get(NLA_HEADER_SIZE..usize::from(attribute.length()))?;
            match attribute.kind() {
                PACKET_HEADER => id = Some(u32::from_be_bytes(*value.first_chunk()?)),
                PAYLOAD => packet = value,
                CAPTURED_LENGTH => cut = true,
                _ => {}
            }
        }
        Some(QueuedPacket { id: id?, bytes: packet, cut })
    })
}

/// Appends a drop verdict, which ends the packet's charge.
pub fn drop(out: &mut Vec<u8>, queue: u16, id: u32) {
    const NF_DROP: u32 = 0;
    verdict(out, queue, id, NF_DROP);
}

/// Appends an accept verdict: the kernel passes the packet on to the device.
pub fn pass(out: &mut Vec<u8>, queue: u16, id: u32) {
    const NF_ACCEPT: u32 = 1;
    verdict(out, queue, id, NF_ACCEPT);
}

fn verdict(out: &mut Vec<u8>, queue: u16, id: u32, what: u32) {
    let header = [what.to_be_bytes(), id.to_be_bytes()];
    put(out, VERDICT, NLM_F_REQUEST, queue, &[(VERDICT_HEADER, header.as_flattened())]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_packet_messages_yield_packets() {
        let mut out = Vec::new();
        put(&mut out, PACKET, 0, 7, &[(PACKET_HEADER, &[0, 0, 1, 2, 8, 0, 3]), (PAYLOAD, b"\x45rest")]);
        put(&mut out, VERDICT, 0, 7, &[(PACKET_HEADER, &[0, 0, 1, 3, 8, 0, 3])]);
        let found: Vec<_> = packets(&out).collect();
        assert_eq!(found, [QueuedPacket { id: 0x102, bytes: b"\x45rest", cut: false }]);
        for cut in 0..out.len() {
            assert!(packets(&out[..cut]).count() <= 1);
        }
    }

    #[test]
    fn a_verdict_has_32_bytes() {
        let mut out = Vec::new();
        drop(&mut out, 7, 0x0102_0304);
        assert_eq!(out.len(), 32);
        assert_eq!(out[18..20], [0, 7]);
        assert_eq!(out[24..], [0, 0, 0, 0, 1, 2, 3, 4]);
        out.clear();
        pass(&mut out, 7, 0x0102_0304);
        assert_eq!(out[24..], [0, 0, 0, 1, 1, 2, 3, 4]);
    }

    #[test]
    fn a_packet_that_is_too_long_is_truncated() {
        let mut out = Vec::new();
        let length = 3_028_u32.to_be_bytes();
        let attributes: [(u16, &[u8]); 3] =
            [(PACKET_HEADER, &[0, 0, 1, 2, 8, 0, 3]), (CAPTURED_LENGTH, &length), (PAYLOAD, b"\x45rest")];
        put(&mut out, PACKET, 0, 7, &attributes);
        let found: Vec<_> = packets(&out).collect();
        assert_eq!(found, [QueuedPacket { id: 0x102, bytes: b"\x45rest", cut: true }]);
    }
}
