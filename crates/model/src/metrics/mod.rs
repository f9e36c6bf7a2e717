//! Metrics over the recordings of a run.

pub mod emodel;
pub mod flent_mos;
pub mod responsiveness;

/// Jain's fairness index: 1 if all shares are equal, 1/n if one of n stations has everything. `None` without
/// shares.
// spec: Jain, Chiu, Hawe 1984 - (sum x)^2 / (n sum x^2).
pub fn jain(shares: &[f64]) -> Option<f64> {
    let (sum, squares) = shares.iter().fold((0.0, 0.0), |(s, q), x| (s + x, q + x * x));
    (squares > 0.0).then(|| sum * sum / (shares.len() as f64 * squares))
}

/// The `p`-quantile (0 to 1) of sorted samples, with linear interpolation. `None` without samples.
pub fn quantile(sorted: &[u64], p: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let at = p * last as f64;
    let below = at as usize;
    let (low, high) = (sorted[below] as f64, sorted[(below + 1).min(last)] as f64);
    Some(low + (high - low) * (at - below as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jains_index() {
        assert_eq!(jain(&[2.0, 2.0, 2.0]), Some(1.0));
        assert_eq!(jain(&[1.0, 0.0, 0.0, 0.0]), Some(0.25));
        assert_eq!(jain(&[0.0, 0.0]), None);
    }

    #[test]
    fn quantiles() {
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantile(&[7], 0.95), Some(7.0));
        assert_eq!(quantile(&[1, 2, 3, 4], 0.5), Some(2.5));
        assert_eq!(quantile(&[10, 20, 30, 40, 50], 0.75), Some(40.0));
    }
}
