//! Flow control: the credit that a receiver grants its peer, and window auto-tuning.
// spec: quic_flow_controller.cc (Chromium 62).

use crate::types::{Duration, Instant};

/// Flow-control windows of a receiver in bytes, per stream and for the connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowParams {
    /// Initial window of a stream.
    pub stream: u64,
    /// Initial window of the connection.
    pub connection: u64,
    /// Maximum window of a stream.
    pub stream_most: u64,
    /// Maximum window of the connection.
    pub connection_most: u64,
}

/// Flow-control credit of a receiver for one stream or for the connection.
#[derive(Clone, Copy, Debug)]
pub struct Credit {
    size: u64,
    most: u64,
    limit: u64,
    consumed: u64,
    last: Option<Instant>,
}

impl Credit {
    /// Creates a window of `size` bytes that may grow to `most` bytes.
    pub fn new(size: u64, most: u64) -> Self {
        Self { size, most, limit: size, consumed: 0, last: None }
    }

    /// Returns the limit on the total bytes that the peer may send.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Returns the window size in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Accounts for `bytes` read by the application. Returns the new limit if an update should be sent.
    /// Doubles the window if this is the second update within two RTTs.
    pub fn consume(&mut self, bytes: u64, now: Instant, srtt: Duration) -> Option<u64> {
        self.consumed += bytes;
        let left = self.limit - self.consumed;
        if left >= self.size / 2 {
            return None;
        }
        if let Some(last) = self.last.replace(now)
            && srtt != Duration::ZERO
            && now - last < srtt * 2
        {
            self.size = (self.size * 2).min(self.most);
        }
        self.limit = self.consumed + self.size;
        Some(self.limit)
    }

    /// Raises the window to at least `size` bytes. Returns the new limit if it grew.
    pub fn ensure(&mut self, size: u64) -> Option<u64> {
        let size = size.min(self.most);
        if size <= self.size {
            return None;
        }
        self.size = size;
        self.limit = self.limit.max(self.consumed + size);
        Some(self.limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn updates_at_half_the_window_and_doubles_if_frequent() {
        let ms = |n| Instant::ZERO + Duration::from_millis(n);
        let mut credit = Credit::new(1_000, 3_000);
        let mut read = |bytes, at| credit.consume(bytes, ms(at), Duration::from_millis(8));
        assert_eq!((read(500, 0), read(1, 1)), (None, Some(1_501)));
        // An update 15 ms after the previous one doubles the window; one after 16 ms does not.
        assert_eq!(read(501, 16), Some(3_002));
        assert_eq!(read(1_001, 32), Some(4_003));
        // The window does not exceed its maximum.
        assert_eq!(read(1_001, 33), Some(6_004));
        assert_eq!((credit.size(), credit.ensure(5_000), credit.ensure(2_000)), (3_000, None, None));
    }

    #[test]
    fn a_connection_follows_its_streams() {
        let mut credit = Credit::new(1_000, 3_000);
        assert_eq!((credit.ensure(1_500), credit.limit()), (Some(1_500), 1_500));
    }
}
