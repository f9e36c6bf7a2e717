//! quinn in virtual time, over a FIFO and without a world.

mod bench;
#[path = "../../examples/own_controller/by_delay.rs"]
mod by_delay;
mod cross_check;
mod delivery;
mod gate;
mod headers;
mod own;
mod table;
#[cfg(feature = "tls")]
mod tls;

use stillair_model::transport::quic::QuicRole;
use stillair_model::types::Seed;
use stillair_quinn::{QuinnStack, Settings};

use bench::{Fifo, Seen, download};

/// Both ends with the same settings.
fn ends(settings: Settings, seed: u64) -> [QuinnStack; 2] {
    [(QuicRole::Client, "client"), (QuicRole::Server, "server")]
        .map(|(role, name)| QuinnStack::new(role, settings.parts(), &mut Seed { seed, run: 0 }.stream(name)))
}

/// 10 MB over the plain path.
fn plain(settings: Settings) -> Seen {
    download(&mut ends(settings, 1), 10_000_000, 1, [Fifo::PLAIN; 2], 1)
}
