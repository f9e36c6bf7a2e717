//! Events of random networks.

/// Events of the first wire, after which all sent packets still arrive before the end of a run.
const STEPS: [&str; 4] = [
    "",
    "",
    "[[step]]\nat = \"120 ms\"\nset = [\"link.lan0.delay=30 ms\"]\n[[step]]\nat = \"260 ms\"\nset = [\"link.lan0.delay=100 us\"]\n",
    "[[step]]\nat = \"90 ms\"\nset = [\"link.lan0.rate=3 Mbit/s\"]\n\
     [[step]]\nat = \"91 ms\"\nset = [\"link.lan0.rate=1 Gbit/s\", \"link.lan0.delay=9 ms\"]\n",
];

/// Returns the events of a network by number, if its wires can change; a veth pair cannot.
pub fn of(wire: &str, n: usize) -> &'static str {
    if wire.starts_with("rate") { STEPS[n % STEPS.len()] } else { "" }
}
