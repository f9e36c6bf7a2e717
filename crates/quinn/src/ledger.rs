//! Tracks which packets with data were acknowledged or lost. quinn does not report this, so the frames are
//! read from the packets, before encryption and after decryption.

use std::collections::VecDeque;

/// Ack-eliciting application-level packets, starting with the oldest outstanding one.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// The last packet written: number, length, and whether it is ack-eliciting. `None` once it is known to
    /// be sent.
    written: Option<(u64, u64, bool)>,
    sent: VecDeque<Sent>,
    /// Packets declared lost and not returned yet.
    lost: VecDeque<u64>,
    /// Largest packet number of the last acknowledgement, until returned.
    acked: Option<u64>,
}

#[derive(Debug)]
struct Sent {
    number: u64,
    bytes: u64,
    awaited: bool,
}

impl Ledger {
    /// Records a packet of `bytes` with this content that is about to be sent.
    pub(crate) fn on_written(&mut self, number: u64, bytes: u64, content: &[u8]) {
        self.written = Some((number, bytes, read(content, |_, _| ())));
    }

    /// Records that the written packet was sent, perhaps coalesced with handshake packets, and counts for
    /// congestion control, unlike an MTU probe. Returns true if it is ack-eliciting, or if nothing was
    /// written.
    pub(crate) fn on_sent(&mut self) -> bool {
        let Some((number, bytes, eliciting)) = self.written.take() else { return true };
        if eliciting {
            self.sent.push_back(Sent { number, bytes, awaited: true });
        }
        eliciting
    }

    /// Processes the content of a received packet.
    pub(crate) fn on_received(&mut self, content: &[u8]) {
        let Self { sent, acked, .. } = self;
        let mut newest = true;
        read(content, |first, last| {
            if core::mem::take(&mut newest) {
                *acked = Some(last);
            }
            let at = sent.partition_point(|packet| packet.number < first);
            sent.range_mut(at..)
                .take_while(|packet| packet.number <= last)
                .for_each(|packet| packet.awaited = false);
        });
        self.forget();
    }

    // spec: rfc9002 6.1 - by the packet or the time threshold, an unacknowledged packet older than a lost one
    // is lost too. So the lost packets are the oldest ones, up to the number of lost bytes.
    /// Records that packets with `bytes` in total were declared lost.
    pub(crate) fn on_lost(&mut self, bytes: u64) {
        let (mut left, mut n) = (bytes, 0);
        for packet in self.sent.iter().filter(|packet| packet.awaited) {
            if left == 0 || packet.bytes > left {
                break;
            }
            (left, n) = (left - packet.bytes, n + 1);
        }
        // A sum that does not match belongs to the handshake.
        if left > 0 {
            return;
        }
        for packet in self.sent.iter_mut().filter(|packet| packet.awaited).take(n) {
            packet.awaited = false;
            self.lost.push_back(packet.number);
        }
        self.forget();
    }

    /// Removes and returns the next packet declared lost.
    pub(crate) fn next_lost(&mut self) -> Option<u64> {
        self.lost.pop_front()
    }

    /// Returns the largest packet number of the last acknowledgement, once.
    pub(crate) fn take_acked(&mut self) -> Option<u64> {
        self.acked.take()
    }

    fn forget(&mut self) {
        while self.sent.front().is_some_and(|packet| !packet.awaited) {
            self.sent.pop_front();
        }
    }
}

/// Frames without fields, which may precede an ACK frame: PING, HANDSHAKE_DONE, and quinn's IMMEDIATE_ACK.
const BARE: [u8; 3] = [0x01, 0x1e, 0x1f];

/// Reads the content of a packet. Calls `each` with the acknowledged ranges (both ends inclusive), newest
/// first. Returns true if the packet is ack-eliciting.
// spec: rfc9000 19.3 - the largest packet number, the delay, the number of further ranges, and the length of
// the first range; then, for each further range, the preceding gap and its length, both encoded minus one.
// 19.1, 19.19 - PADDING and CONNECTION_CLOSE are not ack-eliciting.
fn read(mut content: &[u8], mut each: impl FnMut(u64, u64)) -> bool {
    let mut eliciting = false;
    while let Some((&kind, rest)) = content.split_first() {
        match kind {
            0x00 => content = rest,
            0x02 | 0x03 => {
                content = rest;
                if acks(&mut content, kind == 0x03, &mut each).is_none() {
                    return eliciting;
                }
            }
            0x1c | 0x1d => return eliciting,
            _ if BARE.contains(&kind) => {
                eliciting = true;
                content = rest;
            }
            // quinn writes no ACK frame after any other frame.
            _ => return true,
        }
    }
    eliciting
}

fn acks(content: &mut &[u8], ecn: bool, each: &mut impl FnMut(u64, u64)) -> Option<()> {
    let (mut last, _delay) = (varint(content)?, varint(content)?);
    let (more, length) = (varint(content)?, varint(content)?);
    let mut first = last.checked_sub(length)?;
    each(first, last);
    for _ in 0..more {
        let (gap, length) = (varint(content)?, varint(content)?);
        last = first.checked_sub(gap + 2)?;
        first = last.checked_sub(length)?;
        each(first, last);
    }
    for _ in 0..if ecn { 3 } else { 0 } {
        varint(content)?;
    }
    Some(())
}

// spec: rfc9000 16 - the two upper bits of the first byte encode a length of 1, 2, 4 or 8.
fn varint(content: &mut &[u8]) -> Option<u64> {
    let len = 1 << (content.first()? >> 6);
    let (own, rest) = content.split_at_checked(len)?;
    *content = rest;
    let all = own.iter().fold(0, |n, byte| n << 8 | u64::from(*byte));
    Some(all & (u64::MAX >> 2 >> (64 - 8 * len)))
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: rfc9000 A.1 - the examples.
    #[test]
    fn numbers_of_the_standard() {
        for (bytes, value) in [
            (&[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c][..], 151_288_809_941_952_652),
            (&[0x9d, 0x7f, 0x3e, 0x7d], 494_878_333),
            (&[0x7b, 0xbd], 15_293),
            (&[0x25], 37),
            (&[0x40, 0x25], 37),
        ] {
            assert_eq!(varint(&mut &bytes[..]), Some(value));
        }
        assert_eq!(varint(&mut &[0x7b][..]), None);
    }

    fn ranges(content: &[u8]) -> (Vec<(u64, u64)>, bool) {
        let mut all = Vec::new();
        let eliciting = read(content, |first, last| all.push((first, last)));
        (all, eliciting)
    }

    #[test]
    fn acknowledged_ranges_and_ack_eliciting_packets() {
        // Largest 20, delay 5, one more range: 18 to 20; a gap of 1, which is 17; length 7, 10 to 16.
        let ack = [0x02, 20, 5, 1, 2, 0, 6];
        assert_eq!(ranges(&ack), (vec![(18, 20), (10, 16)], false));
        let ecn = [0x03, 7, 0, 0, 7, 1, 2, 3, 0, 0];
        assert_eq!(ranges(&ecn), (vec![(0, 7)], false));
        for (content, eliciting) in [
            (&[0x00, 0x00][..], false),
            (&[0x01], true),
            (&[0x0a, 4, 1, 0], true),
            (&[0x1c, 0, 0, 0], false),
            // A truncated ACK frame.
            (&[0x02, 20], false),
        ] {
            assert_eq!(ranges(content), (vec![], eliciting), "{content:?}");
        }
        let [data, done] = [[0x02, 3, 0, 0, 0, 0x0a], [0x1e, 0x02, 3, 0, 0, 0]];
        assert_eq!([ranges(&data), ranges(&done)], [(vec![(3, 3)], true), (vec![(3, 3)], true)]);
    }

    #[test]
    fn the_oldest_unacknowledged_packets_are_lost() {
        let mut ledger = Ledger::default();
        let send = |ledger: &mut Ledger, number, content: &[u8], bytes| {
            ledger.on_written(number, bytes, content);
            ledger.on_sent()
        };
        for number in 0..4 {
            assert!(send(&mut ledger, number, &[0x0a], 1_200));
        }
        assert!(!send(&mut ledger, 4, &[0x02, 1, 0, 0, 0], 40));
        // An MTU probe is written but not reported as sent.
        ledger.on_written(5, 1_452, &[0x01, 0x00]);
        for number in 6..9 {
            assert!(send(&mut ledger, number, &[0x0a], 1_400));
        }
        // 0, 3 and 6.
        ledger.on_received(&[0x02, 6, 0, 2, 0, 1, 0, 1, 0]);
        assert_eq!((ledger.take_acked(), ledger.take_acked()), (Some(6), None));
        ledger.on_lost(2_400);
        assert_eq!([ledger.next_lost(), ledger.next_lost(), ledger.next_lost()], [Some(1), Some(2), None]);
        // A packet coalesced with a handshake packet is lost with its own length, not with that of the
        // datagram.
        assert!(send(&mut ledger, 9, &[0x0a], 300));
        // Bytes of another level.
        ledger.on_lost(1_300);
        assert_eq!(ledger.next_lost(), None);
        ledger.on_lost(1_400);
        assert_eq!(ledger.next_lost(), Some(7));
        ledger.on_lost(1_700);
        assert_eq!([ledger.next_lost(), ledger.next_lost()], [Some(8), Some(9)]);
        assert_eq!(ledger.sent.len(), 0);
    }
}
