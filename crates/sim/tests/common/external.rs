//! Helpers for tests of external hosts: a small network, packets with bytes, and reading of packets that
//! leave.

use stillair_model::types::{Addr, Duration, IfId, Instant, Seed, Sink, linear_truesize, write_back};
use stillair_sim::recorder::Recorder;
use stillair_sim::world::{Entering, Left, World, wire};

use super::parse;

pub const SEED: Seed = Seed { seed: 3, run: 0 };
pub const SERVER: IfId = IfId(0);
pub const AP_WLAN: IfId = IfId(2);
pub const STATION: IfId = IfId(3);

pub fn at_ms(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// A server behind a wire and a station behind an access point. `host` is the host key of both; `server` adds
/// keys to the server's interface.
pub fn text(host: &str, scheme: &str, server: &str) -> String {
    format!(
        r#"
name = "doors"
duration = "1 s"
[channel.wifi]
band = "5 GHz"
width = "20 MHz"
[link.lan]
rate = "1 Gbit/s"
delay = "1 ms"
[node.server]
profile = "linux-6.12"
host = "{host}"
interface.eth0 = {{ link = "lan", address = "10.0.0.2"{server} }}
[node.ap]
profile = "linux-4.6"
forward = true
interface.eth0 = {{ link = "lan", address = "10.0.0.1" }}
interface.wlan0 = {{ channel = "wifi", role = "ap", scheme = "{scheme}", address = "10.0.1.1" }}
[node.sta]
profile = "linux-6.12"
host = "{host}"
interface.wlan0 = {{ channel = "wifi", role = "station", ap = "ap.wlan0", address = "10.0.1.2", rate = "ht20-mcs3-lgi", retry_chain = ["mcs3", "mcs1"], error_rate = 0.2, ack_error_rate = 0.1 }}
"#
    )
}

/// An IPv4 packet with a valid header, and bytes that identify it.
pub fn ip(len: u32, number: u32, tos: u8, [src, dst]: [[u8; 4]; 2]) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..len).map(|n| (n ^ number) as u8).collect();
    bytes[..12].copy_from_slice(&[0x45, 0, (len >> 8) as u8, len as u8, 0, 0, 0, 0, 0, 17, 0xff, 0xff]);
    bytes[12..16].copy_from_slice(&src);
    bytes[16..20].copy_from_slice(&dst);
    bytes[24..28].copy_from_slice(&number.to_be_bytes());
    let sum: u32 = bytes[..20].chunks(2).map(|w| u32::from(w[0]) << 8 | u32::from(w[1])).sum();
    // The sum includes 0xffff, which counts as zero.
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = (sum & 0xffff) + (sum >> 16);
    bytes[10..12].copy_from_slice(&(!(sum as u16)).to_be_bytes());
    write_back(&mut bytes, tos, 64);
    bytes
}

pub const SERVER_IP: [u8; 4] = [10, 0, 0, 2];
pub const STATION_IP: [u8; 4] = [10, 0, 1, 2];

pub fn entering(bytes: &[u8], at: IfId, dst: Addr, token: Option<u32>) -> Entering<'_> {
    let truesize = linear_truesize(bytes.len() as u32);
    let src = Addr(at.0);
    Entering {
        at,
        bytes,
        src,
        dst,
        flow_hash: u32::from(at.0),
        tos: bytes[1],
        ttl: bytes[8],
        truesize,
        token,
    }
}

/// Returns all packets that have left, with their bytes.
pub fn all_left<S: Sink>(world: &mut World<S>) -> Vec<(Left, Vec<u8>)> {
    let mut bytes = Vec::new();
    core::iter::from_fn(|| world.left(&mut bytes).map(|left| (left, bytes.clone()))).collect()
}

pub fn all_ended<S: Sink>(world: &mut World<S>) -> Vec<u32> {
    core::iter::from_fn(|| world.ended()).collect()
}

pub fn recorded(text: &str) -> World<Recorder> {
    wire(&parse(text, &[]), SEED, |recorder| recorder).world
}

/// Datagram flows in both directions; the one to the station exceeds the capacity of its path.
pub const FLOWS: &str = r#"
[[flow]]
kind = "udp"
from = "server"
to = "sta"
rate = "40 Mbit/s"
burst = 4
[[flow]]
kind = "udp"
from = "sta"
to = "server"
rate = "2 Mbit/s"
"#;
