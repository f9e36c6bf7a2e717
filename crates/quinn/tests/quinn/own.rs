//! The example's controller compared with quinn's on the same path.

use std::sync::Arc;

use stillair_model::transport::quic::QuicRole;
use stillair_model::types::Seed;
use stillair_quinn::{QuinnStack, Settings};

use super::bench::{Fifo, download};
use super::by_delay::ByDelayFactory;
use super::plain;

/// The controller determines when data leaves: the queue stays short, nothing is lost, and the link is still
/// full.
#[test]
fn a_custom_controller_keeps_its_queue_short() {
    let mut ends = [(QuicRole::Client, "client"), (QuicRole::Server, "server")].map(|(role, name)| {
        let mut parts = Settings::QUINN.parts();
        parts.controller = Arc::new(ByDelayFactory { first: 14_520 });
        QuinnStack::new(role, parts, &mut Seed { seed: 1, run: 0 }.stream(name))
    });
    let own = download(&mut ends, 10_000_000, 1, [Fifo::PLAIN; 2], 1);
    let cubic = plain(Settings::QUINN);
    let lost = [&own, &cubic].map(|seen| seen.snapshots[1].lost);
    assert!(lost[0] == 0 && lost[1] > 100, "{lost:?}");
    assert!(own.queued * 4 < cubic.queued, "{:?} and {:?}", own.queued, cubic.queued);
    assert!(own.kbps() * 100 > 97 * cubic.kbps(), "{} and {}", own.kbps(), cubic.kbps());
}
