//! Benchmarks a link: CPU time to create one, and per packet, for ten seconds of a download and of a call,
//! on all paths or the named ones. `bench_link soak LINKS` creates, uses and drops that many links, and
//! prints the process's memory after each tenth of them; it fails if memory has grown after the first
//! tenth. `bench_link once PATH RATE` runs one download over one link, for callgrind.

use std::error::Error;
use std::fs;
use std::time::Duration;

use stillair_link::{Link, Mark, Path, Poll, presets};

/// User and system time of this process in seconds.
fn cpu_seconds() -> Result<f64, Box<dyn Error>> {
    let stat = fs::read_to_string("/proc/self/schedstat")?;
    let nanos = stat.split_whitespace().next().ok_or("/proc/self/schedstat says nothing")?;
    Ok(nanos.parse::<f64>()? / 1e9)
}

/// Minimum CPU time over several runs: disturbances only add time.
fn cost(mut run: impl FnMut() -> Result<u64, Box<dyn Error>>) -> Result<(f64, u64), Box<dyn Error>> {
    let (mut least, mut packets) = (f64::INFINITY, 0);
    for _ in 0..7 {
        let before = cpu_seconds()?;
        packets = run()?;
        least = least.min(cpu_seconds()? - before);
    }
    Ok((least, packets))
}

/// Sends `rate` bit/s to the client for ten seconds in datagrams of 1,250 bytes; the client answers every
/// second one.
fn download(path: &Path, rate: u64) -> Result<u64, Box<dyn Error>> {
    let mut link: Link = path.link(1)?;
    let (client, server) = (link.endpoint("client")?, link.endpoint("server")?);
    let apart = Duration::from_nanos(1_250 * 8 * 1_000_000_000 / rate);
    let (mut now, mut packets) = (Duration::ZERO, 0_u64);
    while now < Duration::from_secs(10) {
        loop {
            match link.poll(now)? {
                Poll::Packet(packet) => {
                    packets += 1;
                    if packet.to == client && packet.number.is_multiple_of(2) {
                        link.send(link.now(), packet.way().back(), 40_usize, Mark::NONE)?;
                    }
                }
                Poll::Writable(_) => {}
                Poll::Wait(_) => break,
            }
        }
        link.send(now, server.to(client), 1_250_usize, Mark::ECT_0)?;
        now += apart;
    }
    Ok(packets)
}

/// Resident memory of this process in KiB.
fn resident() -> Result<u64, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
    Ok(line.trim().trim_end_matches("kB").trim().parse()?)
}

/// Allowed growth after the first tenth, in KiB. The allocator's own memory varies by one or two MiB; a
/// leak of five bytes per link would exceed this with a million links.
const GROWS: u64 = 4096;

fn soak(links: u64) -> Result<(), Box<dyn Error>> {
    let mut first = None;
    let paths: Vec<Path> =
        presets().iter().map(|preset| Path::preset(preset.name)).collect::<Result<_, _>>()?;
    for tenth in 0..10 {
        for seed in links / 10 * tenth..links / 10 * (tenth + 1) {
            let mut link = paths[seed as usize % paths.len()].link(seed)?;
            // For a path with other traffic, the warm-up would dominate.
            if !link.path().scenario().flows.is_empty() {
                continue;
            }
            let way = link.endpoint("server")?.to(link.endpoint("client")?);
            link.send(Duration::ZERO, way, 1_250_usize, Mark::NONE)?;
            link.poll(Duration::from_millis(2))?;
        }
        let kib = resident()?;
        println!("{} links, {:.1} s of CPU time, {kib} KiB", links / 10 * (tenth + 1), cpu_seconds()?);
        let first = *first.get_or_insert(kib);
        if kib > first + GROWS {
            return Err(format!("grown by {} KiB since the first tenth", kib - first).into());
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ref names if names.iter().all(|name| presets().iter().any(|preset| preset.name == *name)) => {}
        ["soak", links] => return soak(links.parse()?),
        ["once", name, rate] => {
            let packets = download(&Path::preset(name)?, rate.parse()?)?;
            println!("{name} {packets}");
            return Ok(());
        }
        _ => return Err("usage: bench_link [PATH... | soak LINKS | once PATH BITS_PER_SECOND]".into()),
    }
    for preset in presets().iter().filter(|one| arguments.is_empty() || arguments.contains(&one.name)) {
        // Enough repetitions for a clock with scheduler tick resolution.
        let (read, paths) = cost(|| {
            (0..100).try_for_each(|_| Path::preset(preset.name).map(drop))?;
            Ok(100)
        })?;
        let path = Path::preset(preset.name)?;
        let (made, links) = cost(|| {
            (0..1_000).try_for_each(|seed| path.link(seed).map(drop))?;
            Ok(1_000)
        })?;
        let (fast, packets) = cost(|| download(&path, 50_000_000))?;
        let (call, of_call) = cost(|| download(&path, 3_000_000))?;
        println!(
            "{:18} read {:5.0} us, made {:4.0} us, 50 Mbit/s {:4.0} ms ({:.0} ns a packet), 3 Mbit/s {:4.0} ms ({of_call} packets)",
            preset.name,
            read / paths as f64 * 1e6,
            made / links as f64 * 1e6,
            fast * 1e3,
            fast / packets as f64 * 1e9,
            call * 1e3,
        );
    }
    Ok(())
}
