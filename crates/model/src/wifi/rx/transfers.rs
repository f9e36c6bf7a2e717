//! Received frames on their way to a host over USB: the device waits for several frames and moves them in one
//! transfer.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::types::{Duration, Instant, Pkt};
use crate::wifi::air::ppdu::Ppdu;
use crate::wifi::config::UsbParams;
use crate::wifi::marks::Marks;
use crate::wifi::phy::PhyRate;

/// What goes ahead of a frame: the stream's header, HTC's and that of its reception.
// linux: drivers/net/wireless/ath/ath9k/hif_usb.c ath9k_hif_usb_rx_stream, htc_hst.h struct htc_frame_hdr,
// htc.h HTC_RX_FRAME_HEADER_SIZE (4.14) - 4, 8 and 40 bytes.
const HEADERS: u32 = 52;

/// Frames that were received and are not at the host yet.
// deviation: packets wait behind the reorder buffer, on a host before it.
// deviation: a frame of an aggregate counts as received by how many bytes follow it, from the end of the
// exchange back: an answer of some 40 us later than it is.
#[derive(Debug)]
pub struct Transfers {
    params: UsbParams,
    /// The transfer that is filled: its frames, their bytes, and when the first came.
    frames: u32,
    bytes: u32,
    begun: Instant,
    /// Packets that go up with it.
    filling: Vec<Pkt>,
    /// The bus is busy until then.
    busy: Instant,
    /// Packets on the bus, with the time when the host has them.
    moving: VecDeque<(Instant, Pkt)>,
}

impl Transfers {
    /// Nothing has been received.
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

    /// A PPDU has been received at `rate`. `whole` marks the frames received without error. The packets in
    /// `up` are held here.
    pub fn received(&mut self, now: Instant, ppdu: &Ppdu, rate: PhyRate, whole: &Marks, up: &mut Vec<Pkt>) {
        let mut follow: u64 = ppdu.mpdus.iter().map(|mpdu| u64::from(mpdu.len)).sum();
        let came = (*whole & ppdu.all()).count() as usize;
        // Packets that have waited for order go with the first frame.
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
        // Without a whole frame there is no transfer for what is no longer waited for.
        let last = self.moving.back().map_or(now, |&(at, _)| at.max(now));
        match self.frames {
            0 => self.moving.extend(packets.map(|p| (last, p))),
            _ => self.filling.extend(packets),
        }
        debug_assert!(self.frames > 0 || self.filling.is_empty(), "packets in no transfer");
    }

    /// Packets in `up`, for which the wait for earlier frames was given up, go up behind the frames that are
    /// under way.
    pub fn behind(&mut self, now: Instant, up: &mut Vec<Pkt>) {
        if self.frames > 0 {
            self.filling.append(up);
        } else if let Some(&(at, _)) = self.moving.back() {
            self.moving.extend(up.drain(..).map(|p| (at.max(now), p)));
        }
    }

    /// The transfer that is filled goes on the bus.
    fn send(&mut self, at: Instant, now: Instant) {
        self.busy = self.busy.max(at) + self.params.start + self.params.takes(self.bytes);
        let arrives = (self.busy + self.params.interrupt).max(now);
        self.moving.extend(self.filling.drain(..).map(|p| (arrives, p)));
        (self.frames, self.bytes) = (0, 0);
    }

    /// When [`Transfers::on_timer`] is due, if at all.
    #[inline]
    pub fn next_timer(&self) -> Option<Instant> {
        let fills = (self.frames > 0).then(|| self.begun + self.params.rx_wait);
        let moves = self.moving.front().map(|&(at, _)| at);
        match (fills, moves) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// Hands up what has reached the host by `now`. Starts a transfer of frames that have waited long enough.
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

    /// Packets on the way to the host.
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

    /// Microseconds after the start.
    fn us(n: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(n)
    }

    /// Runs what is due until nothing is: when packets came, and how many.
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
        // At 123 Mbit/s a frame of 1,538 bytes lasts 100 us.
        let rate = PhyRate::parse("ht40-mcs7-lgi").unwrap();
        let mut given = |frames: u16, whole: u64, up: u32| {
            let mut transfers = Transfers::new(ALL);
            let mut up = (0..up).map(|n| packet(&mut packets, n, 1500)).collect();
            let ppdu = ppdu(&mut packets, 0..frames);
            transfers.received(us(5_000), &ppdu, rate, &Marks::of(whole), &mut up);
            assert!(up.is_empty());
            run(&mut transfers)
        };
        // One: 170 us of waiting, 50, four packets of the bus, 60.
        assert_eq!(given(1, 1, 1), [(5_320, 1)]);
        // Frames of 91.1 us: the transfer is closed 170 us after its first, so that two go together. All but
        // the last two transfers are with the host by the end of the exchange.
        assert_eq!(given(6, 0b11_1111, 6), [(5_000, 2), (5_076, 2), (5_258, 2)]);
        // What came broken is not moved; what it holds back comes with a later frame.
        assert_eq!(given(2, 0b10, 0), []);
        assert_eq!(given(1, 1, 12), [(5_320, 12)]);
        let mut whole = Transfers::new(UsbParams { rx_wait: Duration::from_millis(9), ..ALL });
        let mut up = (0..12).map(|n| packet(&mut packets, n, 1500)).collect();
        whole.received(us(5_000), &ppdu(&mut packets, 0..12), rate, &Marks::first(12), &mut up);
        // Ten go when the tenth has come, 182 us before the end, 32 packets of the bus; the others wait.
        assert_eq!(run(&mut whole), [(5_247, 10), (14_088, 2)]);
    }

    #[test]
    fn what_a_frame_sets_free_goes_with_it_though_it_fills_a_transfer() {
        let mut packets = Packets::new();
        let rate = PhyRate::parse("ht40-mcs7-lgi").unwrap();
        let mut transfers = Transfers::new(UsbParams { rx_wait: Duration::from_millis(9), ..ALL });
        let mut up: Vec<_> = (0..9).map(|n| packet(&mut packets, n, 1500)).collect();
        let nine = ppdu(&mut packets, 0..9);
        transfers.received(us(5_000), &nine, rate, &Marks::first(9), &mut up);
        // The tenth frame closes a hole: three packets that have waited go up with its own.
        up.extend((9..13).map(|n| packet(&mut packets, n, 1500)));
        let tenth = ppdu(&mut packets, 9..10);
        transfers.received(us(5_200), &tenth, rate, &Marks::first(1), &mut up);
        assert_eq!(run(&mut transfers).iter().map(|&(_, packets)| packets).sum::<usize>(), 13);
        // A broken frame that was given up sets packets free as well.
        up.extend((13..15).map(|n| packet(&mut packets, n, 1500)));
        let broken = ppdu(&mut packets, 10..11);
        transfers.received(us(9_000), &broken, rate, &Marks::NONE, &mut up);
        assert_eq!(run(&mut transfers), [(9_000, 2)]);
    }
}
