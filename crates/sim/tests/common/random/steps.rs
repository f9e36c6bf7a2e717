//! What changes while a network at random runs.

/// Steps of the first wire, of which all that is sent arrives before a run is over.
const STEPS: [&str; 4] = [
    "",
    "",
    "[[step]]\nat = \"120 ms\"\nset = [\"link.lan0.delay=30 ms\"]\n[[step]]\nat = \"260 ms\"\nset = [\"link.lan0.delay=100 us\"]\n",
    "[[step]]\nat = \"90 ms\"\nset = [\"link.lan0.rate=3 Mbit/s\"]\n\
     [[step]]\nat = \"91 ms\"\nset = [\"link.lan0.rate=1 Gbit/s\", \"link.lan0.delay=9 ms\"]\n",
];

/// Those of a network by a number, where its wires have something to change: a pair of virtual devices has
/// not.
pub fn of(wire: &str, n: usize) -> &'static str {
    if wire.starts_with("rate") { STEPS[n % STEPS.len()] } else { "" }
}
