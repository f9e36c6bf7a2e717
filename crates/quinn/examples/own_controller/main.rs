//! Compares a user-defined congestion controller (`by_delay.rs`) with quinn's own on the same links:
//!
//! ```text
//! cargo run --release -p stillair-quinn --example own_controller
//! ```

#[path = "../../tests/quinn/bench.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod bench;
mod by_delay;

use std::sync::Arc;

use bench::{Fifo, Seen};
use by_delay::ByDelayFactory;
use stillair_model::transport::quic::QuicRole;
use stillair_model::types::Seed;
use stillair_quinn::{Congestion, Factory, QuinnStack, Settings};

/// Downloads 10 MB from a server with this controller.
fn download(factory: &dyn Fn() -> Factory, path: Fifo) -> Seen {
    let mut ends = [(QuicRole::Client, "client"), (QuicRole::Server, "server")].map(|(role, name)| {
        let mut parts = Settings::QUINN.parts();
        parts.controller = factory();
        QuinnStack::new(role, parts, &mut Seed { seed: 1, run: 0 }.stream(name))
    });
    bench::download(&mut ends, 10_000_000, 1, [path; 2], 1)
}

fn main() {
    let quinns = |congestion| move || Settings { congestion, ..Settings::QUINN }.parts().controller;
    let (cubic, newreno, bbr) =
        (quinns(Congestion::Cubic), quinns(Congestion::NewReno), quinns(Congestion::Bbr));
    let own = || Arc::new(ByDelayFactory { first: 14_520 }) as Factory;
    let controllers: [(&str, &dyn Fn() -> Factory); 4] =
        [("cubic", &cubic), ("newreno", &newreno), ("bbr", &bbr), ("by delay", &own)];
    let plain = Fifo::PLAIN;
    println!("10 MB at 50 Mbit/s, 8 ms   controller   Mbit/s   lost   ms in queues");
    for (link, path) in [
        ("a queue of 300 kB", plain),
        ("a queue of 30 kB", Fifo { limit: 30_000, ..plain }),
        ("1 % lost by chance", Fifo { loss: 0.01, ..plain }),
    ] {
        for (name, factory) in controllers {
            let seen = download(factory, path);
            let (mbps, queued) = (seen.kbps() as f64 / 1e3, seen.queued.nanos() as f64 / 1e6);
            println!("{link:25}  {name:10} {mbps:8.1} {:6} {queued:14.1}", seen.snapshots[1].lost);
        }
    }
}
