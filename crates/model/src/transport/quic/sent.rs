//! Sent packets that are still tracked, and those whose content must be retransmitted.
// spec: quic_unacked_packet_map.cc, quic_sent_packet_manager.cc (Chromium 62).

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::types::{Instant, QuicFrame};

/// A sent packet.
#[derive(Clone, Debug)]
pub struct SentPacket {
    /// Time of transmission.
    pub time: Instant,
    /// Length of the datagram in bytes.
    pub bytes: u32,
    /// True if the packet counts as in flight.
    pub in_flight: bool,
    /// True once the packet was acknowledged.
    pub acked: bool,
    /// True if the packet carries handshake data (CRYPTO frames).
    pub crypto: bool,
    /// Largest number acknowledged by the packet's ACK frame; 0 without one.
    acks: u64,
    /// True while queued for retransmission.
    queued: bool,
    /// Frames to retransmit if the packet is lost. A retransmission takes them over.
    pub frames: Vec<QuicFrame>,
    /// Number of the packet that retransmitted the content.
    again: Option<u64>,
    /// Next packet number at the time the packet was declared lost.
    lost: Option<u64>,
}

/// Result of processing an ACK frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Acked {
    /// Newest packet acknowledged for the first time.
    pub largest: Option<u64>,
    /// Number of acknowledged packets that had been declared lost.
    pub spurious: u64,
    /// Maximum distance of such a packet from the highest number acknowledged before.
    pub reordered: u64,
    /// Largest number covered by an ACK frame in an acknowledged packet; 0 without one.
    pub acks: u64,
}

/// Packets of one sender, by packet number.
#[derive(Clone, Debug)]
pub struct SentPackets {
    ring: VecDeque<SentPacket>,
    /// Number of the first packet in the ring.
    first: u64,
    largest_observed: u64,
    /// Oldest packet in flight, or the next packet number.
    oldest: u64,
    in_flight: u64,
    in_flight_packets: u32,
    with_frames: u32,
    crypto: u32,
    last_in_flight: Instant,
    last_crypto: Instant,
    /// Packets whose content must be retransmitted.
    queue: VecDeque<u64>,
    /// Unused frame lists.
    pool: Vec<Vec<QuicFrame>>,
}

impl Default for SentPackets {
    fn default() -> Self {
        Self {
            ring: VecDeque::new(),
            first: 1,
            largest_observed: 0,
            oldest: 1,
            in_flight: 0,
            in_flight_packets: 0,
            with_frames: 0,
            crypto: 0,
            last_in_flight: Instant::ZERO,
            last_crypto: Instant::ZERO,
            queue: VecDeque::new(),
            pool: Vec::new(),
        }
    }
}

impl SentPackets {
    /// Returns the number of the next packet.
    pub fn next_number(&self) -> u64 {
        self.first + self.ring.len() as u64
    }

    /// Returns the number of the oldest tracked packet.
    pub fn least(&self) -> u64 {
        self.first
    }

    /// Returns the bytes in flight.
    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Returns the number of packets in flight.
    pub fn in_flight_packets(&self) -> u32 {
        self.in_flight_packets
    }

    /// Returns true if any frames sent are neither acknowledged nor retransmitted.
    pub fn has_frames(&self) -> bool {
        self.with_frames > 0
    }

    /// Returns true if any handshake data sent is neither acknowledged nor retransmitted.
    pub fn has_crypto(&self) -> bool {
        self.crypto > 0
    }

    /// Returns the transmission time of the newest packet that counted as in flight.
    pub fn last_in_flight(&self) -> Instant {
        self.last_in_flight
    }

    /// Returns the transmission time of the oldest packet in flight.
    pub fn oldest_in_flight(&self) -> Instant {
        self.get(self.oldest).map_or(self.last_in_flight, |sent| sent.time)
    }

    /// Returns the transmission time of the newest packet with handshake data.
    pub fn last_crypto(&self) -> Instant {
        self.last_crypto
    }

    /// Returns the packet with this number if it is still tracked.
    pub fn get(&self, number: u64) -> Option<&SentPacket> {
        self.ring.get(number.checked_sub(self.first)? as usize)
    }

    /// Iterates over all packets with their numbers, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &SentPacket)> {
        (self.first..).zip(&self.ring)
    }

    /// Iterates over the packets from the oldest in flight, with their numbers.
    pub fn iter_in_flight(&self) -> impl Iterator<Item = (u64, &SentPacket)> {
        (self.oldest..).zip(self.ring.range((self.oldest - self.first) as usize..))
    }

    /// Returns an empty list for the frames of the next packet.
    pub fn frames(&mut self) -> Vec<QuicFrame> {
        self.pool.pop().unwrap_or_default()
    }

    /// Returns an unused list to the pool.
    pub fn give_back(&mut self, mut frames: Vec<QuicFrame>) {
        frames.clear();
        if frames.capacity() > 0 {
            self.pool.push(frames);
        }
    }

    /// Records the next packet. It counts as in flight if it is `eliciting`. `acks` is the largest number
    /// acknowledged by its ACK frame, or 0.
    pub fn push(&mut self, now: Instant, bytes: u32, frames: Vec<QuicFrame>, eliciting: bool, acks: u64) {
        let crypto = frames.iter().any(|f| matches!(f, QuicFrame::Crypto { .. }));
        if eliciting {
            self.in_flight += u64::from(bytes);
            self.in_flight_packets += 1;
            self.last_in_flight = now;
        }
        if crypto {
            self.crypto += 1;
            self.last_crypto = now;
        }
        self.with_frames += u32::from(!frames.is_empty());
        self.ring.push_back(SentPacket {
            time: now,
            bytes,
            in_flight: eliciting,
            acked: false,
            crypto,
            acks,
            queued: false,
            frames,
            again: None,
            lost: None,
        });
        self.pass_landed();
    }

    /// Skips the next packet number.
    pub fn skip(&mut self, now: Instant) {
        self.push(now, 0, Vec::new(), false, 0);
    }

    /// Advances `oldest`. Packets never return to flight, so the search resumes where it stopped.
    fn pass_landed(&mut self) {
        while self.get(self.oldest).is_some_and(|sent| !sent.in_flight) {
            self.oldest += 1;
        }
    }

    /// Takes the next content to retransmit, with the number of the original packet. The caller must send it
    /// now. Skips packets acknowledged in the meantime.
    pub fn take_again(&mut self) -> Option<(u64, Vec<QuicFrame>)> {
        while let Some(number) = self.queue.pop_front() {
            let next = self.next_number();
            let Some(sent) = self.at(number) else { continue };
            sent.queued = false;
            if sent.frames.is_empty() {
                continue;
            }
            sent.again = Some(next);
            let frames = core::mem::take(&mut sent.frames);
            let crypto = core::mem::replace(&mut sent.crypto, false);
            self.with_frames -= 1;
            self.crypto -= u32::from(crypto);
            return Some((number, frames));
        }
        None
    }

    /// Returns true if content must be retransmitted.
    pub fn has_again(&self) -> bool {
        self.queue.iter().any(|&n| self.get(n).is_some_and(|sent| !sent.frames.is_empty()))
    }

    fn at(&mut self, number: u64) -> Option<&mut SentPacket> {
        self.ring.get_mut(number.checked_sub(self.first)? as usize)
    }

    /// Queues the content of a packet for retransmission. The packet stays in flight.
    pub fn send_again(&mut self, number: u64) {
        if let Some(sent) = self.at(number)
            && !sent.queued
            && !sent.frames.is_empty()
        {
            sent.queued = true;
            self.queue.push_back(number);
        }
    }

    /// Declares a packet lost, but tracks it until a packet sent from now on is acknowledged: it may be late.
    // quiche: quic_unacked_packet_map.cc IsPacketUsefulForRetransmittableData (f44fa9f) - keeps it for
    // another RTT.
    pub fn remember_lost(&mut self, number: u64) {
        let next = self.next_number();
        if let Some(sent) = self.at(number) {
            sent.lost = Some(next);
        }
    }

    /// Takes a packet out of flight. Returns its length if it was in flight.
    pub fn land(&mut self, number: u64) -> Option<u32> {
        let sent = self.at(number)?;
        if !core::mem::replace(&mut sent.in_flight, false) {
            return None;
        }
        let bytes = sent.bytes;
        self.in_flight -= u64::from(bytes);
        self.in_flight_packets -= 1;
        self.pass_landed();
        Some(bytes)
    }

    /// Processes the ranges of an ACK frame, newest first. Calls `landed` with the number and length of each
    /// in-flight packet acknowledged for the first time, in ascending order.
    pub fn acknowledge(&mut self, ranges: &[(u64, u64)], mut landed: impl FnMut(u64, u32)) -> Acked {
        let mut done = Acked::default();
        for &(from, end) in ranges.iter().rev() {
            for number in from.max(self.first)..end.min(self.next_number()) {
                let sent = &mut self.ring[(number - self.first) as usize];
                if core::mem::replace(&mut sent.acked, true) {
                    continue;
                }
                done.largest = Some(number);
                done.acks = done.acks.max(sent.acks);
                let (counted, again) = (sent.in_flight, sent.again);
                if sent.lost.take().is_some() {
                    // Compare with earlier ACKs only: higher numbers in this one do not count.
                    done.reordered = done.reordered.max(self.largest_observed.saturating_sub(number));
                }
                match self.land(number) {
                    Some(bytes) => landed(number, bytes),
                    None => done.spurious += u64::from(counted || again.is_some()),
                }
                self.forget_frames(number);
                // Retransmissions of the content need not be repeated.
                let mut newer = again;
                while let Some(number) = newer {
                    newer = self.get(number).and_then(|sent| sent.again);
                    self.forget_frames(number);
                }
            }
        }
        if let Some(&(_, end)) = ranges.first() {
            self.largest_observed = self.largest_observed.max(end - 1);
        }
        done
    }

    fn forget_frames(&mut self, number: u64) {
        let Some(sent) = self.at(number) else { return };
        if sent.frames.is_empty() {
            return;
        }
        let frames = core::mem::take(&mut sent.frames);
        let crypto = core::mem::replace(&mut sent.crypto, false);
        self.with_frames -= 1;
        self.crypto -= u32::from(crypto);
        self.give_back(frames);
    }

    /// Drops the oldest packets if they need no more tracking.
    // spec: quic_unacked_packet_map.cc IsPacketUseless (Chromium 62) - no use for RTT samples, not in flight,
    // nothing to retransmit.
    pub fn forget_done(&mut self) {
        while let Some(sent) = self.ring.front() {
            let late = sent.lost.is_some_and(|next| next > self.largest_observed);
            if self.first > self.largest_observed || sent.in_flight || !sent.frames.is_empty() || late {
                break;
            }
            self.ring.pop_front();
            self.first += 1;
        }
    }

    /// Returns the largest packet number acknowledged.
    pub fn largest_observed(&self) -> u64 {
        self.largest_observed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn data(offset: u64) -> Vec<QuicFrame> {
        vec![QuicFrame::Stream { id: 5, offset, len: 100, fin: false }]
    }

    /// Ten packets of 100 bytes, numbered 1 to 10.
    fn ten() -> SentPackets {
        let mut sent = SentPackets::default();
        (0..10).for_each(|n| sent.push(Instant::from_nanos(n), 100, data(n * 100), true, 0));
        sent
    }

    fn ack(sent: &mut SentPackets, ranges: &[(u64, u64)]) -> (Vec<u64>, Acked) {
        let mut landed = Vec::new();
        let done = sent.acknowledge(ranges, |n, _| landed.push(n));
        sent.forget_done();
        (landed, done)
    }

    #[test]
    fn each_packet_lands_once() {
        let mut sent = ten();
        assert_eq!((sent.in_flight(), sent.in_flight_packets(), sent.next_number()), (1_000, 10, 11));
        let (landed, done) = ack(&mut sent, &[(5, 7), (1, 3)]);
        assert_eq!((landed, done), (vec![1, 2, 5, 6], Acked { largest: Some(6), ..Acked::default() }));
        assert_eq!((sent.least(), sent.in_flight()), (3, 600));
        let (landed, done) = ack(&mut sent, &[(5, 8), (1, 3)]);
        assert_eq!((landed, done.largest), (vec![7], Some(7)));
        assert_eq!(ack(&mut sent, &[(1, 11)]).0, [3, 4, 8, 9, 10]);
        assert_eq!((sent.least(), sent.in_flight(), sent.has_frames()), (11, 0, false));
    }

    #[test]
    fn lost_content_moves_to_another_packet() {
        let mut sent = ten();
        ack(&mut sent, &[(2, 5)]);
        assert_eq!(sent.land(1), Some(100));
        assert_eq!(sent.land(1), None);
        sent.send_again(1);
        sent.send_again(1);
        assert!(sent.has_again());
        let (number, frames) = sent.take_again().expect("one");
        assert_eq!((number, frames.clone(), sent.take_again().is_none()), (1, data(0), true));
        sent.push(Instant::from_nanos(20), 100, frames, true, 0);
        // The original was only late: its retransmission has no content left, but is in flight.
        let (landed, done) = ack(&mut sent, &[(1, 5)]);
        assert_eq!((landed, done.spurious, sent.least()), (vec![], 1, 5));
        sent.send_again(11);
        assert!(!sent.has_again());
        assert_eq!(sent.in_flight(), 700);
    }

    /// A late packet is tracked until a packet sent after the loss was declared is acknowledged.
    #[test]
    fn a_lost_packet_may_be_late() {
        let lost = || {
            let mut sent = ten();
            ack(&mut sent, &[(2, 5)]);
            sent.remember_lost(1);
            sent.land(1);
            sent.send_again(1);
            let (_, frames) = sent.take_again().expect("one");
            sent.push(Instant::from_nanos(20), 100, frames, true, 0);
            ack(&mut sent, &[(2, 8)]);
            sent
        };
        let mut sent = lost();
        assert_eq!(sent.least(), 1);
        // Packets up to 7 were acknowledged before.
        let (landed, done) = ack(&mut sent, &[(1, 9)]);
        assert_eq!((landed, done.reordered, done.spurious, sent.least()), (vec![8], 6, 1, 9));
        let mut sent = lost();
        ack(&mut sent, &[(2, 12)]);
        assert_eq!((ack(&mut sent, &[(1, 12)]).1.reordered, sent.least()), (0, 12));
    }

    #[test]
    fn content_acknowledged_in_time_is_not_retransmitted() {
        let mut sent = ten();
        ack(&mut sent, &[(2, 5)]);
        sent.land(1);
        sent.send_again(1);
        ack(&mut sent, &[(1, 5)]);
        assert_eq!((sent.has_again(), sent.take_again()), (false, None));
    }

    #[test]
    fn the_oldest_in_flight() {
        let mut sent = ten();
        let oldest = |sent: &SentPackets| (sent.oldest_in_flight().nanos(), sent.oldest);
        assert_eq!(oldest(&sent), (0, 1));
        ack(&mut sent, &[(2, 5)]);
        assert_eq!(oldest(&sent), (0, 1));
        sent.land(1);
        assert_eq!(oldest(&sent), (4, 5));
        ack(&mut sent, &[(1, 11)]);
        assert_eq!(sent.oldest, 11);
        sent.skip(Instant::from_nanos(20));
        sent.push(Instant::from_nanos(30), 100, data(0), true, 0);
        assert_eq!((oldest(&sent), sent.next_number()), ((30, 12), 13));
    }

    #[test]
    fn pure_acks_are_not_in_flight() {
        let mut sent = SentPackets::default();
        sent.push(Instant::ZERO, 30, Vec::new(), false, 0);
        sent.push(Instant::ZERO, 30, vec![QuicFrame::Ping], true, 0);
        assert_eq!((sent.in_flight(), sent.has_frames()), (30, true));
        // Tracked until a newer packet is acknowledged, for RTT samples.
        sent.forget_done();
        assert_eq!(sent.least(), 1);
        assert_eq!(ack(&mut sent, &[(2, 3)]).0, [2]);
        assert_eq!(sent.least(), 3);
    }
}
