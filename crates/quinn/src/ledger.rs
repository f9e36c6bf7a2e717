//! Which packets with data were acknowledged or lost. quinn does not report it, so it is read from the
//! packets themselves, before encryption and after decryption.

use std::collections::VecDeque;

/// Packets of the application's level that the peer has to acknowledge, since the oldest one that is awaited.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// The packet that was written last, its own bytes and whether it has to be acknowledged; none once it is
    /// known to be sent.
    written: Option<(u64, u64, bool)>,
    sent: VecDeque<Sent>,
    /// Packets declared lost and not yet fetched.
    lost: VecDeque<u64>,
    /// The newest packet of the last acknowledgement, if not yet fetched.
    acked: Option<u64>,
}

#[derive(Debug)]
struct Sent {
    number: u64,
    bytes: u64,
    awaited: bool,
}

impl Ledger {
    /// A packet of so many bytes with this content is about to be sent.
    pub(crate) fn on_written(&mut self, number: u64, bytes: u64, content: &[u8]) {
        self.written = Some((number, bytes, read(content, |_, _| ())));
    }

    /// What was written has been sent, perhaps in a datagram with packets of the handshake, and counts for
    /// congestion control: probes for a greater size do not. Whether it has to be acknowledged, as far as is
    /// known here.
    pub(crate) fn on_sent(&mut self) -> bool {
        let Some((number, bytes, eliciting)) = self.written.take() else { return true };
        if eliciting {
            self.sent.push_back(Sent { number, bytes, awaited: true });
        }
        eliciting
    }

    /// A packet has come in with this content.
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

    // spec: rfc9002 6.1 - by packets or by time, what is older than a lost packet and not acknowledged is
    // lost too. So these are the oldest ones, as many as have the lost bytes.
    /// Packets with so many bytes in all were declared lost.
    pub(crate) fn on_lost(&mut self, bytes: u64) {
        let (mut left, mut n) = (bytes, 0);
        for packet in self.sent.iter().filter(|packet| packet.awaited) {
            if left == 0 || packet.bytes > left {
                break;
            }
            (left, n) = (left - packet.bytes, n + 1);
        }
        // What does not add up is of the handshake.
        if left > 0 {
            return;
        }
        for packet in self.sent.iter_mut().filter(|packet| packet.awaited).take(n) {
            packet.awaited = false;
            self.lost.push_back(packet.number);
        }
        self.forget();
    }

    /// The next packet that was declared lost.
    pub(crate) fn next_lost(&mut self) -> Option<u64> {
        self.lost.pop_front()
    }

    /// The newest packet that the last acknowledgement is for, once.
    pub(crate) fn take_acked(&mut self) -> Option<u64> {
        self.acked.take()
    }

    fn forget(&mut self) {
        while self.sent.front().is_some_and(|packet| !packet.awaited) {
            self.sent.pop_front();
        }
    }
}

/// Frames without content, which may stand before an acknowledgement: PING, HANDSHAKE_DONE, and IMMEDIATE_ACK
/// as quinn has it.
const BARE: [u8; 3] = [0x01, 0x1e, 0x1f];

/// Reads a packet's content: calls `each` for all that it acknowledges, as ranges with both ends, the newest
/// first; whether its receiver has to acknowledge it.
// spec: rfc9000 19.3 - the newest packet, delay, how many more ranges, length of the first one; then of each
// the gap before it and its length, both less by one than they are. 19.1, 19.19 - padding and the end of a
// connection need no answer.
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
            // No acknowledgement comes after any other.
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

// spec: rfc9000 16 - the two upper bits of the first byte say whether there are 1, 2, 4 or 8.
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

    // spec: rfc9000 A.1 - its examples.
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
    fn what_packets_acknowledge_and_whether_they_want_an_answer() {
        // Newest 20, delay 5, one more range: 18 to 20; a gap of 1, which is 17; 7 long, 10 to 16.
        let ack = [0x02, 20, 5, 1, 2, 0, 6];
        assert_eq!(ranges(&ack), (vec![(18, 20), (10, 16)], false));
        let ecn = [0x03, 7, 0, 0, 7, 1, 2, 3, 0, 0];
        assert_eq!(ranges(&ecn), (vec![(0, 7)], false));
        for (content, eliciting) in [
            (&[0x00, 0x00][..], false),
            (&[0x01], true),
            (&[0x0a, 4, 1, 0], true),
            (&[0x1c, 0, 0, 0], false),
            // An acknowledgement that ends too soon.
            (&[0x02, 20], false),
        ] {
            assert_eq!(ranges(content), (vec![], eliciting), "{content:?}");
        }
        let [data, done] = [[0x02, 3, 0, 0, 0, 0x0a], [0x1e, 0x02, 3, 0, 0, 0]];
        assert_eq!([ranges(&data), ranges(&done)], [(vec![(3, 3)], true), (vec![(3, 3)], true)]);
    }

    #[test]
    fn the_oldest_ones_are_lost_and_acknowledged_ones_are_not() {
        let mut ledger = Ledger::default();
        let send = |ledger: &mut Ledger, number, content: &[u8], bytes| {
            ledger.on_written(number, bytes, content);
            ledger.on_sent()
        };
        for number in 0..4 {
            assert!(send(&mut ledger, number, &[0x0a], 1_200));
        }
        assert!(!send(&mut ledger, 4, &[0x02, 1, 0, 0, 0], 40));
        // A probe for a greater size is written, not sent.
        ledger.on_written(5, 1_452, &[0x01, 0x00]);
        for number in 6..9 {
            assert!(send(&mut ledger, number, &[0x0a], 1_400));
        }
        // 0, 3 and 6.
        ledger.on_received(&[0x02, 6, 0, 2, 0, 1, 0, 1, 0]);
        assert_eq!((ledger.take_acked(), ledger.take_acked()), (Some(6), None));
        ledger.on_lost(2_400);
        assert_eq!([ledger.next_lost(), ledger.next_lost(), ledger.next_lost()], [Some(1), Some(2), None]);
        // One that went with a packet of the handshake is lost with its own bytes, not with those of the
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
