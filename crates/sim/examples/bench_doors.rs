//! Compares the cost of an external packet with that of a modelled packet: the same datagrams over the same
//! wire, either from a modelled source, or entered and read with their bytes by a driver.
//!
//! `bench_doors` prints the CPU time of both per packet and the difference; `bench_doors --once
//! modelled|external` moves the packets once, for counting instructions externally.

use std::fs;
use std::process::ExitCode;

use stillair_model::types::{Addr, Duration, IfId, Instant, Seed, linear_truesize};
use stillair_sim::scenario::{self, Scenario};
use stillair_sim::world::{Entering, wire};

/// Packets per run: one every 20 us for 4 s.
const PACKETS: u32 = 200_000;
const APART: Duration = Duration::from_micros(20);
/// IP packet length in bytes.
const BYTES: u32 = 1_500;
const TIMES: u32 = 9;

fn network(host: &str, flow: &str) -> Result<Scenario, String> {
    let text = format!(
        r#"
name = "external_io"
duration = "5 s"
[link.lan]
rate = "1 Gbit/s"
delay = "1 ms"
[node.a]
profile = "linux-6.12"
host = "{host}"
interface.eth0 = {{ link = "lan", address = "10.0.0.1", qdisc = "fq_codel" }}
[node.b]
profile = "linux-6.12"
host = "{host}"
interface.eth0 = {{ link = "lan", address = "10.0.0.2" }}
{flow}"#
    );
    scenario::parse(&text, "external-io.toml", &[]).map_err(|e| e.to_string())
}

fn modelled() -> Result<u64, String> {
    let flow = format!(
        "[[flow]]\nkind = \"udp\"\nfrom = \"a\"\nto = \"b\"\npayload = {}\nrate = \"{} kbit/s\"\ngap = \"periodic\"\nstop = \"4 s\"\n",
        BYTES - 28,
        (BYTES - 28) * 8 * 50
    );
    let scenario = network("model", &flow)?;
    let mut world = wire(&scenario, Seed { seed: 1, run: 0 }, |recorder| recorder).world;
    world.run_until(Instant::ZERO + scenario.duration);
    Ok(world.books().packet_account().0.delivered)
}

fn external() -> Result<u64, String> {
    let scenario = network("external", "")?;
    let mut world = wire(&scenario, Seed { seed: 1, run: 0 }, |recorder| recorder).world;
    let mut bytes = vec![0_u8; BYTES as usize];
    bytes[0] = 0x45;
    bytes[2..4].copy_from_slice(&(BYTES as u16).to_be_bytes());
    bytes[8] = 64;
    let (mut out, mut now, mut came) = (Vec::new(), Instant::ZERO, 0);
    for n in 0..PACKETS + 1_000 {
        world.advance(now);
        if n < PACKETS {
            let packet = Entering {
                at: IfId(0),
                bytes: &bytes,
                src: Addr(0),
                dst: Addr(1),
                flow_hash: 7,
                tos: 0,
                ttl: 64,
                truesize: linear_truesize(BYTES),
                token: Some(n),
            };
            let _ = world.enter(&packet).map_err(|e| e.to_string())?;
            world.put_through();
        }
        while world.left(&mut out).is_some() {
            came += 1;
        }
        while world.ended().is_some() {}
        now += APART;
    }
    Ok(came)
}

/// Returns the user and system time of this process in seconds.
fn cpu_seconds() -> Result<f64, String> {
    let stat = fs::read_to_string("/proc/self/schedstat").map_err(|e| e.to_string())?;
    let nanos = stat.split_whitespace().next().and_then(|ns| ns.parse::<f64>().ok());
    nanos.map(|ns| ns / 1e9).ok_or_else(|| "/proc/self/schedstat says nothing".to_owned())
}

/// Returns the minimum CPU time per packet of several runs, in ns. Disturbances only increase it.
fn cost(run: fn() -> Result<u64, String>) -> Result<f64, String> {
    let mut least = f64::INFINITY;
    for _ in 0..TIMES {
        let before = cpu_seconds()?;
        let packets = run()?;
        least = least.min((cpu_seconds()? - before) / packets as f64 * 1e9);
    }
    Ok(least)
}

fn all() -> Result<(), String> {
    let (model, doors) = (cost(modelled)?, cost(external)?);
    println!("modelled {model:.0} ns a packet, from outside {doors:.0} ns: {:.0} ns more", doors - model);
    Ok(())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ended = match arguments[..] {
        [] => all(),
        ["--once", "modelled"] => modelled().map(|packets| println!("{packets} packets")),
        ["--once", "external"] => external().map(|packets| println!("{packets} packets")),
        _ => Err("usage: bench_doors [--once modelled|external]".to_owned()),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(says) => {
            eprintln!("{says}");
            ExitCode::FAILURE
        }
    }
}
