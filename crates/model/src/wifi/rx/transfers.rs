//! Transfer of received frames to a host over USB: the device collects several frames for each transfer.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::types::{Duration, Instant, Pkt};
use crate::wifi::air::ppdu::Ppdu;
use crate::wifi::config::UsbParams;
use crate::wifi::marks::Marks;
use crate::wifi::phy::PhyRate;

/// Bytes before each frame: the headers of the stream, of HTC and of the reception.
// linux: drivers/net/wireless/ath/ath9k/hif_usb.c ath9k_hif_usb_rx_stream, htc_hst.h struct htc_frame_hdr,
// htc.h HTC_RX_FRAME_HEADER_SIZE (4.14) - 4, 8 and 40 bytes.
const HEADERS: u32 = 52;

/// Received frames that have not reached the host.
// deviation: packets wait behind the reorder buffer - on a real host they wait before it.
// deviation: the arrival of a frame in an aggregate is computed backwards from the end of the exchange by the
// bytes that follow it - late by the response of some 40 us.
#[derive(Debug)]
pub struct Transfers {
    params: UsbParams,
    /// The transfer being filled: its frames, their bytes, and the arrival of the first one.
    frames: u32,
    bytes: u32,
    begun: Instant,
    /// Packets delivered with that transfer.
    filling: Vec<Pkt>,
    /// Time until which the bus is busy.
    busy: Instant,
    /// Packets on the bus, with their arrival at the host.
    moving: VecDeque<(Instant, Pkt)>,
}

impl Transfers {
    /// Creates the state without frames.
    pub fn new(params: UsbParams) -> Self {
        let (frames, bytes) = (0, 0);
        Self {
            params,
            frames,
            bytes,
            begun: Instant::ZERO,
            filling: Vec::new(),
            busy: Instant::ZERO,
            moving: VecDeque::new(),
        }
    }

    /// Holds the packets in `up` of a PPDU received at `rate`. `whole` marks the frames received without
    /// error.
    pub fn received(&mut self, now: Instant, ppdu: &Ppdu, rate: PhyRate, whole: &Marks, up: &mut Vec<Pkt>) {
        let mut follow: u64 = ppdu.mpdus.iter().map(|mpdu| u64::from(mpdu.len)).sum();
        let came = (*whole & ppdu.all()).count() as usize;
        // Packets that waited in the reorder buffer join the first frame.
        let mut more = up.len().saturating_sub(came);
        let mut packets = up.drain(..);
        for (n, mpdu) in ppdu.mpdus.iter().enumerate() {
            follow -= u64::from(mpdu.len);
            if !whole.has(n) {
                continue;
            }
            let later = Duration::from_nanos(follow * 8 * 1_000_000_000 / rate.rate().bps().max(1));
            let at = Instant::ZERO + (now - Instant::ZERO).saturating_sub(later);
            if self.frames > 0 && self.begun + self.params.rx_wait <= at {
                self.send(self.begun + self.params.rx_wait, now);
            }
            if self.frames == 0 {
                self.begun = at;
            }
            self.filling.extend(packets.by_ref().take(core::mem::take(&mut more) + 1));
            self.frames += 1;
            self.bytes += (u32::from(mpdu.len) + HEADERS).next_multiple_of(4);
            if self.frames >= self.params.rx_frames {
                self.send(at, now);
            }
        }
        // Without an intact frame there is no new transfer: released packets arrive with the previous one, or
        // immediately.
        let last = self.moving.back().map_or(now, |&(at, _)| at.max(now));
        match self.frames {
            0 => self.moving.extend(packets.map(|p| (last, p))),
            _ => self.filling.extend(packets),
        }
        debug_assert!(self.frames > 0 || self.filling.is_empty(), "packets in no transfer");
    }

    /// Queues the packets in `up`, released by a reorder timeout, behind the frames in transfer.
    pub fn behind(&mut self, now: Instant, up: &mut Vec<Pkt>) {
        if self.frames > 0 {
            self.filling.append(up);
        } else if let Some(&(at, _)) = self.moving.back() {
            self.moving.extend(up.drain(..).map(|p| (at.max(now), p)));
        }
    }

    /// Puts the filled transfer on the bus.
    fn send(&mut self, at: Instant, now: Instant) {
        self.busy = self.busy.max(at) + self.params.start + self.params.takes(self.bytes);
        let arrives = (self.busy + self.params.interrupt).max(now);
        self.moving.extend(self.filling.drain(..).map(|p| (arrives, p)));
        (self.frames, self.bytes) = (0, 0);
    }

    /// Returns when [`Transfers::on_timer`] is due, if needed.
    #[inline]
    pub fn next_timer(&self) -> Option<Instant> {
        let fills = (self.frames > 0).then(|| self.begun + self.params.rx_wait);
        let moves = self.moving.front().map(|&(at, _)| at);
        match (fills, moves) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// Delivers packets that have reached the host by `now`. Starts a transfer of frames that have waited
    /// long enough.
    pub fn on_timer(&mut self, now: Instant, up: &mut Vec<Pkt>) {
        if self.frames > 0 && self.begun + self.params.rx_wait <= now {
            self.send(self.begun + self.params.rx_wait, now);
        }
        while let Some(&(at, p)) = self.moving.front()
            && at <= now
        {
            self.moving.pop_front();
            up.push(p);
        }
    }

    /// Returns the packets in transfer.
    pub fn packets(&self) -> impl Iterator<Item = Pkt> {
        self.moving.iter().map(|&(_, p)| p).chain(self.filling.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Packets;
    use crate::wifi::testing::{packet, ppdu};

    const ALL: UsbParams = UsbParams {
        packet: Duration::from_micros(10),
        start: Duration::from_micros(50),
        interrupt: Duration::from_micros(60),
        tx_frames: 20,
        rx_frames: 10,
        rx_wait: Duration::from_micros(170),
    };

    fn us(n: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(n)
    }

    /// Runs all timers. Returns arrival times and numbers of packets.
    fn run(transfers: &mut Transfers) -> Vec<(u64, usize)> {
        let mut came = Vec::new();
        while let Some(at) = transfers.next_timer() {
            let mut up = Vec::new();
            transfers.on_timer(at, &mut up);
            if !up.is_empty() {
                came.push(((at - Instant::ZERO).nanos() / 1_000, up.len()));
            }
        }
        came
    }

    #[test]
    fn a_frame_waits_and_a_full_transfer_does_not() {
        let mut packets = Packets::new();
        // At 135 Mbit/s, 1,538 bytes last 91.1 us.
        let rate = PhyRate::parse("ht40-mcs7-lgi").unwrap();
        let mut given = |frames: u16, whole: u64, up: u32| {
            let mut transfers = Transfers::new(ALL);
            let mut up = (0..up).map(|n| packet(&mut packets, n, 1500)).collect();
            let ppdu = ppdu(&mut packets, 0..frames);
            transfers.received(us(5_000), &ppdu, rate, &Marks::of(whole), &mut up);
            assert!(up.is_empty());
            run(&mut transfers)
        };
        // One frame: wait 170 us, start 50, four bus packets, interrupt 60.
        assert_eq!(given(1, 1, 1), [(5_320, 1)]);
        // 91.1 us per frame: a transfer closes 170 us after its first frame, with two frames. The first
        // transfers reach the host before the end of the exchange.
        assert_eq!(given(6, 0b11_1111, 6), [(5_000, 2), (5_076, 2), (5_258, 2)]);
        // Frames with errors are not transferred; the packets that they hold back arrive with a later frame.
        assert_eq!(given(2, 0b10, 0), []);
        assert_eq!(given(1, 1, 12), [(5_320, 12)]);
        let mut whole = Transfers::new(UsbParams { rx_wait: Duration::from_millis(9), ..ALL });
        let mut up = (0..12).map(|n| packet(&mut packets, n, 1500)).collect();
        whole.received(us(5_000), &ppdu(&mut packets, 0..12), rate, &Marks::first(12), &mut up);
        // Ten frames are sent when the tenth arrives, 182 us before the end, as 32 bus packets; the others
        // wait.
        assert_eq!(run(&mut whole), [(5_247, 10), (14_088, 2)]);
    }

    #[test]
    fn packets_released_by_a_frame_join_it_in_a_full_transfer() {
        let mut packets = Packets::new();
        let rate = PhyRate::parse("ht40-mcs7-lgi").unwrap();
        let mut transfers = Transfers::new(UsbParams { rx_wait: Duration::from_millis(9), ..ALL });
        let mut up: Vec<_> = (0..9).map(|n| packet(&mut packets, n, 1500)).collect();
        let nine = ppdu(&mut packets, 0..9);
        transfers.received(us(5_000), &nine, rate, &Marks::first(9), &mut up);
        // The tenth frame fills a hole: three packets that waited are delivered with its own.
        up.extend((9..13).map(|n| packet(&mut packets, n, 1500)));
        let tenth = ppdu(&mut packets, 9..10);
        transfers.received(us(5_200), &tenth, rate, &Marks::first(1), &mut up);
        assert_eq!(run(&mut transfers).iter().map(|&(_, packets)| packets).sum::<usize>(), 13);
        // A frame with errors that counts as lost also releases packets.
        up.extend((13..15).map(|n| packet(&mut packets, n, 1500)));
        let broken = ppdu(&mut packets, 10..11);
        transfers.received(us(9_000), &broken, rate, &Marks::NONE, &mut up);
        assert_eq!(run(&mut transfers), [(9_000, 2)]);
    }
}
