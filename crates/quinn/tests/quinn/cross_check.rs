//! Cross-check of the model with quinn using the model's congestion window on the same path: two
//! implementations of everything else.

use stillair_model::transport::quic::{Preset, Quic, QuicRole};
use stillair_model::types::Duration;
use stillair_quinn::{Congestion, Settings};

use super::bench::{Fifo, Seen, download};
use super::ends;

const BYTES: u64 = 10_000_000;

fn model(preset: Preset, path: Fifo) -> Seen {
    let mut ends = [QuicRole::Client, QuicRole::Server].map(|role| Quic::new(preset.config(), role, false));
    download(&mut ends, BYTES, 1, [path; 2], 1)
}

fn quinn(preset: Preset, path: Fifo) -> Seen {
    let config = preset.config();
    let settings = Settings {
        congestion: Congestion::Model(config.window),
        pacing: config.pacing.is_some(),
        first_mtu: config.packet as u16,
        mtu: config.packet as u16,
        stream_window: Some(config.client_flow.stream as u32),
        ..Settings::QUINN
    };
    download(&mut ends(settings, 1), BYTES, 1, [path; 2], 1)
}

/// Goodput agrees within 3 %, with short and long queues relative to the path.
#[test]
fn the_model_and_quinn_with_its_window_agree() {
    for (rate, delay, limit) in
        [(50, 4, 300_000), (50, 4, 100_000), (20, 4, 300_000), (20, 10, 100_000), (100, 10, 600_000)]
    {
        let delay = Duration::from_millis(delay);
        let path = Fifo { rate: rate * 1_000_000, delay, limit, ..Fifo::PLAIN };
        for preset in [Preset::Chromium39, Preset::Bquic39Nopace] {
            let [ours, theirs] = [model(preset, path), quinn(preset, path)];
            let (a, b) = (ours.kbps(), theirs.kbps());
            assert!(a.abs_diff(b) * 100 <= 3 * a, "{rate} Mbit/s, {limit} B, {}: {a} and {b}", preset.name());
            // In both, slow start ends by its delay criterion, or in both it ends too late.
            let lost = [ours, theirs].map(|seen| seen.snapshots[1].lost > 0);
            assert_eq!(lost[0], lost[1], "{rate} Mbit/s, {limit} B, {}", preset.name());
        }
    }
}
