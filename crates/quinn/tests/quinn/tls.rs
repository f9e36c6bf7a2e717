//! With real cryptography.

use stillair_model::transport::quic::Role;
use stillair_model::vocabulary::Seed;
use stillair_quinn::{QuinnStack, Settings};

use super::bench::{Fifo, Seen, download};

fn run() -> Seen {
    let mut ends = [(Role::Client, "client"), (Role::Server, "server")].map(|(role, name)| {
        let parts = Settings::QUINN.parts().with_tls();
        QuinnStack::new(role, parts, &mut Seed { seed: 1, run: 0 }.stream(name))
    });
    download(&mut ends, 2_000_000, 1, [Fifo::PLAIN; 2], 1)
}

/// Keys are drawn from the system, so bytes differ from run to run; times and lengths do not.
#[test]
fn times_and_lengths_are_the_same_each_time() {
    let [a, b] = [run(), run()];
    assert_eq!(a.shape, b.shape);
    assert_ne!(a.hash, b.hash);
    assert_eq!(a.read.into_values().collect::<Vec<_>>(), [2_000_000]);
}
