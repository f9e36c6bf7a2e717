//! Connections whose window is set by a TCP congestion controller.

use super::*;
use crate::transport::cc::reno::{GrowthRules, Reno};
use crate::transport::cc::{Cc, CustomCc, NAMES};
use alloc::boxed::Box;

fn by(cc: Cc) -> TcpControl {
    let random = Seed { seed: 1, run: 0 }.stream("law");
    TcpControl { cc, hz: 1_000, growth: GrowthRules::default(), random }
}

fn named(name: &str) -> TcpControl {
    by(Cc::by_name(name).expect("a name"))
}

/// Transfers 10 MB over 50 Mbit/s and 20 ms, with a queue in bytes and a loss probability.
fn transfer(control: &TcpControl, preset: Preset, queue: u64, loss: f64) -> Seen {
    transfer_of(10_000_000, control, preset, queue, loss)
}

fn transfer_of(bytes: u64, control: &TcpControl, preset: Preset, queue: u64, loss: f64) -> Seen {
    let config = preset.config();
    let ends = [QuicRole::Client, QuicRole::Server]
        .map(|role| Quic::driven(config, role, true, Some(control.clone())));
    let paths = [Path::new(50_000_000, 10, 300_000, 0.0), Path::new(50_000_000, 10, queue, loss)];
    download_between(ends, 1, config.packet, bytes, 1, paths, 0)
}

#[test]
fn every_tcp_controller_drives_a_transfer() {
    for preset in [Preset::Chromium39, Preset::Rfc9002] {
        for &name in NAMES {
            let seen = transfer(&named(name), preset, 125_000, 0.0);
            assert_eq!(seen.read, 10_000_000, "{name}");
            // Link rate less headers, slow start and losses.
            assert!((25.0..48.2).contains(&seen.mbps()), "{preset:?} {name}: {}", seen.mbps());
        }
    }
}

/// After slow start, delay-based controllers keep a queue of 240 ms almost empty; loss-based ones fill it.
#[test]
fn delay_and_loss_based_controllers_behave_as_over_tcp() {
    let srtt_ms = |name| {
        let seen = transfer_of(60_000_000, &named(name), Preset::Chromium39, 1_500_000, 0.0);
        seen.srtt.expect("measured").nanos() / 1_000_000
    };
    for (name, most) in [("vegas", 40), ("bbr", 60)] {
        assert!(srtt_ms(name) <= most, "{name}: {}", srtt_ms(name));
    }
    for name in ["reno", "scalable"] {
        assert!(srtt_ms(name) >= 80, "{name}: {}", srtt_ms(name));
    }
}

/// With random losses, a controller that sets the rate maintains it, while Reno's window stays small.
#[test]
fn rate_based_controllers_tolerate_random_loss() {
    let mbps = |name| transfer(&named(name), Preset::Chromium39, 300_000, 0.01).mbps();
    let (reno, bbr) = (mbps("reno"), mbps("bbr"));
    assert!(reno < 15.0 && bbr > 30.0, "{reno} {bbr}");
}

#[test]
fn custom_controllers_behave_like_built_in_ones() {
    let own = by(Cc::Custom(CustomCc::new("mine", Box::new(Reno))));
    let [built_in, own] =
        [named("reno"), own].map(|control| transfer(&control, Preset::Rfc9002, 60_000, 0.001));
    assert_eq!(built_in, own);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// All data arrives whatever is lost.
    #[test]
    fn everything_arrives_whatever_is_lost(
        name in prop::sample::select(NAMES),
        preset in prop::sample::select(&Preset::ALL[..]),
        queue in 3_000_u64..200_000,
        loss in 0.0_f64..0.2,
    ) {
        let config = preset.1.config();
        let control = named(name);
        let ends = [QuicRole::Client, QuicRole::Server].map(|role| Quic::driven(config, role, true, Some(control.clone())));
        let paths = [Path::new(20_000_000, 5, 300_000, loss / 2.0), Path::new(20_000_000, 5, queue, loss)];
        let seen = download_between(ends, 1, config.packet, 300_000, 2, paths, 0);
        prop_assert_eq!(seen.read, 600_000);
    }
}
