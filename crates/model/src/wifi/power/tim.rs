//! Traffic indication map (TIM) of a beacon: the stations for which frames are buffered.

use crate::types::PeerId;
use alloc::vec::Vec;

/// Contents of the TIM element.
#[derive(Clone, Debug, Default)]
pub struct Tim {
    /// DTIM count: beacons until the next DTIM. 0 in a DTIM beacon.
    pub count: u32,
    /// DTIM period, in beacons.
    pub period: u32,
    /// Group-addressed frames follow this beacon.
    pub group: bool,
    /// Number of the beacon.
    pub number: u64,
    /// One bit per association identifier (AID), from 0. AID 0 belongs to no station.
    bits: Vec<u8>,
}

/// Returns the association identifier (AID) of a peer.
// spec: ieee80211-2016 9.4.1.8 - 1 to 2007.
pub const fn aid(peer: PeerId) -> u16 {
    peer.0 + 1
}

impl Tim {
    /// Creates the TIM of an access point with `peers` peers and a DTIM period of `period` beacons.
    pub fn new(period: u32, peers: usize) -> Self {
        Self { period, bits: alloc::vec![0; (peers + 1).div_ceil(8)], ..Self::default() }
    }

    /// Starts the next beacon, announcing no frames.
    pub fn next(&mut self, number: u64) {
        self.number = number;
        let place = (number % u64::from(self.period)) as u32;
        self.count = if place == 0 { 0 } else { self.period - place };
        self.group = false;
        self.bits.fill(0);
    }

    /// Announces buffered frames for a peer.
    pub fn set(&mut self, peer: PeerId) {
        let aid = aid(peer);
        self.bits[usize::from(aid / 8)] |= 1 << (aid % 8);
    }

    /// Returns true if buffered frames are announced for a peer.
    #[inline]
    pub fn has(&self, peer: PeerId) -> bool {
        let aid = aid(peer);
        self.bits[usize::from(aid / 8)] >> (aid % 8) & 1 == 1
    }

    /// Returns the number of the first byte of the partial virtual bitmap, which is even, and the bytes up to
    /// the last nonzero one.
    // spec: ieee80211-2016 9.4.2.6 - N1 is the largest even number with only zeros before it, N2 the smallest
    // with only zeros after it; a single zero byte if nothing is buffered.
    pub fn partial(&self) -> (usize, &[u8]) {
        let Some(first) = self.bits.iter().position(|&b| b != 0) else { return (0, &self.bits[..1]) };
        let last = self.bits.iter().rposition(|&b| b != 0).unwrap_or(first);
        let first = first & !1;
        (first, &self.bits[first..=last])
    }

    /// Returns the number of bytes that sleeping stations add to the element.
    pub fn extra_bytes(&self) -> u32 {
        self.partial().1.len() as u32 - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dtim_count() {
        let mut tim = Tim::new(3, 1);
        let counts: Vec<u32> = (0..7)
            .map(|n| {
                tim.next(n);
                tim.count
            })
            .collect();
        assert_eq!(counts, [0, 2, 1, 0, 2, 1, 0]);
    }

    #[test]
    fn partial_virtual_bitmap() {
        let mut tim = Tim::new(1, 60);
        let sent = |peers: &[u16], tim: &mut Tim| {
            tim.next(0);
            peers.iter().for_each(|&p| tim.set(PeerId(p)));
            assert!(peers.iter().all(|&p| tim.has(PeerId(p))));
            let (first, bytes) = tim.partial();
            (first, bytes.to_vec())
        };
        assert_eq!(sent(&[], &mut tim), (0, alloc::vec![0]));
        // AIDs 1 and 7 are in the first byte; AID 8 is in the second.
        assert_eq!(sent(&[0, 6], &mut tim), (0, alloc::vec![0x82]));
        assert_eq!(sent(&[7], &mut tim), (0, alloc::vec![0, 1]));
        // AID 24 is in byte 3; the bitmap starts at the even number 2.
        assert_eq!(sent(&[23, 59], &mut tim), (2, alloc::vec![0, 1, 0, 0, 0, 0x10]));
    }
}
