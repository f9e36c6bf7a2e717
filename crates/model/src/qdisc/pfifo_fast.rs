//! pfifo_fast: three strict-priority FIFO bands.

/// Parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PfifoFastParams {
    /// Most packets: the device's `txqueuelen`.
    pub limit: u32,
    /// The limit holds for each band (kernel 4.16 on), not for all together.
    pub limit_per_band: bool,
}

impl Default for PfifoFastParams {
    fn default() -> Self {
        Self { limit: 1000, limit_per_band: false }
    }
}
