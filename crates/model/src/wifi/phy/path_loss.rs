//! Received signal strength by distance (path loss).

use super::errors::Snr;

/// Log-distance path loss. Losses in thousandths of a dB, levels in thousandths of a dBm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathLoss {
    /// Transmit power.
    pub tx_power: i32,
    /// Loss over the first metre.
    pub at_1m: i32,
    /// Loss per decade of distance.
    pub per_decade: i32,
    /// Noise level in 20 MHz.
    pub noise: i32,
}

impl PathLoss {
    /// Returns the signal-to-noise ratio at a distance in millimetres. Distances below one metre count as one
    /// metre.
    // paper: Rappaport, Wireless Communications (2nd ed. 2002) eq. 4.69 - log-distance path loss.
    pub fn snr(self, millimetres: u64) -> Snr {
        let decades = libm::log10(millimetres.max(1_000) as f64 / 1_000.0);
        let loss = f64::from(self.at_1m) + f64::from(self.per_decade) * decades;
        Snr(self.tx_power - self.noise - libm::round(loss) as i32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_by_distance() {
        // 16 + 94 - 46.7 dB at one metre, 30 dB less at ten; half a metre counts as one.
        let loss = PathLoss { tx_power: 16_000, at_1m: 46_700, per_decade: 30_000, noise: -94_000 };
        let snr = [500, 1_000, 2_000, 10_000, 100_000].map(|mm| loss.snr(mm).0);
        assert_eq!(snr, [63_300, 63_300, 54_269, 33_300, 3_300]);
    }
}
