//! A user-defined congestion controller for quinn, compared with quinn's own, on Wi-Fi, with a ping on the
//! same path:
//!
//! ```text
//! cargo run --release -p stillair-sim --example own_controller_on_wifi
//! ```
//!
//! The network is that of `scenarios/quic-quinn.toml`, with three queueing schemes at the access point. The
//! controller is that of the example `own_controller` in `crates/quinn`, where it runs on links without a
//! world.

#[path = "../../quinn/examples/own_controller/by_delay.rs"]
mod by_delay;

use std::sync::Arc;

use by_delay::ByDelayFactory;
use stillair_model::types::Seed;
use stillair_sim::api;
use stillair_sim::scenario::{self, FlowKind, QuicStack, QuinnFactory};

const NETWORK: &str = include_str!("../../../scenarios/quic-quinn.toml");
const PING: &str = "\n[[flow]]\nkind = \"ping\"\nname = \"ping\"\nfrom = \"server\"\nto = \"client\"\ninterval = \"10 ms\"\n\
                    stop = \"1500 ms\"\n";

fn main() -> Result<(), String> {
    println!("access point   controller   Mbit/s   lost   ping median, 95th percentile (ms)");
    for scheme in ["fifo", "fq_codel", "airtime"] {
        for control in ["cubic", "newreno", "bbr", "by delay"] {
            let own = control == "by delay";
            let sets = [
                ("node.ap.interface.wlan0.scheme", scheme),
                ("flow.0.stack.congestion_control", if own { "cubic" } else { control }),
            ];
            let sets: Vec<(String, String)> =
                sets.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
            let text = format!("{NETWORK}{PING}");
            let mut scenario = scenario::parse(&text, "quic-quinn.toml", &sets).map_err(|e| e.to_string())?;
            for flow in &mut scenario.flows {
                if let FlowKind::Quic(quic) = &mut flow.kind
                    && let QuicStack::Quinn(options) = &mut quic.stack
                {
                    options.custom = own.then(|| QuinnFactory(Arc::new(ByDelayFactory { first: 14_520 })));
                }
            }
            let summary = api::run_once(&scenario, Seed { seed: scenario.seed, run: 0 })?;
            let (quic, ping) = (&summary.quic["quic.client"], &summary.stations["client"]);
            println!(
                "{scheme:13}  {control:10} {:8.1} {:6} {:8.1} {:8.1}",
                quic.goodput_mbps.unwrap_or_default(),
                quic.declared_lost,
                ping.ping_median_ms.unwrap_or_default(),
                ping.ping_p95_ms.unwrap_or_default()
            );
        }
    }
    Ok(())
}
