//! Compares s2n-quic's congestion controllers over presets.

use std::error::Error;

use stillair_adapter::compare;
use stillair_with_s2n_quic::{CONTROLLERS, row};

fn main() -> Result<(), Box<dyn Error>> {
    compare(&CONTROLLERS, |controller, path| row(controller, path, 1))
}
