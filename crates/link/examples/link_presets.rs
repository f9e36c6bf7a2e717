//! Delay and loss of 1,200-byte datagrams on every preset, at 2 Mbit/s each way for 10 s. `link_presets
//! NAME SEED` shows one preset and its drops.

use std::error::Error;
use std::time::Duration;

use stillair_link::{Mark, Path, Poll, Statistics, presets};

fn tried(path: &Path, seed: u64) -> Result<Statistics, Box<dyn Error>> {
    let mut link = path.link(seed)?;
    let (client, server) = (path.endpoint("client")?, path.endpoint("server")?);
    for now in (0..10_000).step_by(5).map(Duration::from_millis) {
        while let Poll::Packet(_) = link.poll(now)? {}
        link.send(now, client.to(server), 1_200_usize, Mark::ECT_0)?;
        link.send(now, server.to(client), 1_200_usize, Mark::ECT_0)?;
    }
    while let Poll::Packet(_) = link.poll(Duration::from_secs(12))? {}
    Ok(link.finish()?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let all = presets().iter().filter(|preset| arguments.first().is_none_or(|name| name == preset.name));
    println!("{:18} {:>31} {:>31}", "one-way delay, ms", "to the client", "to the server");
    println!(
        "{:18} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7}",
        "", "p50", "p95", "p99", "lost", "p50", "p95", "p99", "lost"
    );
    for preset in all {
        let seed = arguments.get(1).map_or(Ok(1), |seed| seed.parse())?;
        let seen = tried(&Path::preset(preset.name)?, seed)?;
        print!("{:18}", preset.name);
        for host in ["client", "server"] {
            let to = &seen.hosts[host].to;
            for delay in [to.delay_p50_ms, to.delay_p95_ms, to.delay_p99_ms] {
                print!(" {:>7.1}", delay.unwrap_or(f64::NAN));
            }
            print!(" {:>7}", to.lost);
        }
        println!();
        for drop in seen.drops.iter().filter(|_| arguments.len() > 1) {
            println!("  {} {}: {}", drop.place, drop.reason, drop.packets);
        }
    }
    Ok(())
}
