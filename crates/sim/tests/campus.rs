//! The shipped campus: its size, its partly shared channels, and that it runs.

mod common;

use stillair_model::types::Duration;
use stillair_sim::scenario::{Attachment, Role};

const TEXT: &str = include_str!("../../../scenarios/campus.toml");

#[test]
fn fifty_cells_share_sixteen_channels() {
    let mut scenario = common::parse(TEXT, &[]);
    let mut cells = vec![(0, 0); scenario.channels.len()];
    for interface in scenario.nodes.iter().flat_map(|node| &node.interfaces) {
        let Attachment::Wifi(wifi) = &interface.medium else { continue };
        match wifi.role {
            Role::Ap => cells[wifi.channel].0 += 1,
            Role::Station(_) => cells[wifi.channel].1 += 1,
        }
    }
    assert_eq!(cells.len(), 16);
    assert_eq!(cells.iter().fold((0, 0), |(a, b), (aps, stations)| (a + aps, b + stations)), (50, 1_000));
    for (channel, (aps, _)) in scenario.channels.iter().zip(cells) {
        assert!((3..=4).contains(&aps), "{}: {aps} access points", channel.name);
        assert!(!channel.audible.apart.is_empty(), "{}: everybody hears everybody", channel.name);
    }
    // Both kinds of calls, and typing, start within the first second.
    scenario.duration = Duration::from_millis(400);
    scenario.warm_up = Duration::ZERO;
    let summary = common::run(&scenario, 0);
    assert!(summary.packets.delivered > 1_000, "{:?}", summary.packets);
    assert!(summary.air.values().any(|uses| uses["overlap_us"] > 0.0), "nobody met anybody");
}
