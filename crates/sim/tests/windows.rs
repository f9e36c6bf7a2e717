//! Block Ack windows of up to 256 frames: their benefit, the limits of both ends, and notes if they are not
//! available.

mod common;

use common::{cell, flow, of, parse, run, station};
use stillair_model::types::{ContentView, FrameView, Instant, Seed, Sink, TraceEvent};
use stillair_sim::scenario::Scenario;
use stillair_sim::world::wire;

const HE: &str = "he80-mcs11-nss2-gi0.8";

/// An access point with a station on a channel of 80 MHz and a flow that saturates it, without A-MSDUs.
fn flooded(ap: &str, sta: &str, rate: &str) -> Scenario {
    let buffer = "profile = \"linux-6.6\"\nsysctl.\"net.core.wmem_default\" = 8000000";
    let channel = "band = \"5 GHz\"\nwidth = \"80 MHz\"\nbeacon_interval = \"off\"";
    let scheme = "scheme = { kind = \"mt76\", amsdu_frames = 1 }";
    let text = cell("1 s", channel, &format!("{scheme}{ap}")).replace("profile = \"linux-4.6\"", buffer)
        + &station("s", 0, &format!("rate = \"{rate}\", {scheme}{sta}"))
        + &flow("udp", "ap", "s", "rate = \"1500 Mbit/s\"\nburst = 64\npayload = 1472");
    parse(&text, &[("warm_up", "200 ms")])
}

/// Frames per aggregate and Mbit/s of UDP at 1,201 Mbit/s, computed only from the standard's numbers.
/// Datagrams of 1,472 bytes are MPDUs of 1,538 bytes, 1,544 with delimiter and padding; the last has no
/// padding. Two streams of 980 tones with ten bits at 5/6 are 16,333 bits in 13.6 us; the preamble is 20 + 4
/// + 8 + 4 us and two training fields of 7.2 us. The Block Ack is 24 bytes plus its bitmap at 24 Mbit/s.
///
/// An aggregate is limited by the window, 5,484 us (aPPDUMaxTime), and 2^23 - 1 bytes (the exponents of VHT
/// and HE, 7 and 3).
// spec: ieee80211ax-2021 27.3.4, 27.4.3, table 27-61, 9.4.2.248.2; ieee80211-2016 17.4.3, table 9-137.
fn by_the_standard(window: u64) -> (f64, f64) {
    let psdu = |frames: u64| 1_544 * frames - 2;
    let took = |frames| 50.4 + (8 * psdu(frames) + 16).div_ceil(16_333) as f64 * 13.6;
    let fits = |&frames: &u64| took(frames) <= 5_484.0 && psdu(frames) < 1 << 23;
    let frames = (1..=window).rfind(fits).expect("one frame fits");
    let bitmap = if window > 64 { 32 } else { 8 };
    let block_ack = 20.0 + 4.0 * f64::from((16_u32 + 8 * (24 + bitmap) + 6).div_ceil(96));
    let (sifs, aifs, backoff) = (16.0, 43.0, 7.5 * 9.0);
    let mbps = (frames * 1_472 * 8) as f64 / (took(frames) + sifs + block_ack + aifs + backoff);
    (frames as f64, mbps)
}

#[test]
fn saturated_goodput_matches_the_standard() {
    let mut found = Vec::new();
    for (key, window) in [(", block_ack_window = 64", 64), (", block_ack_window = 128", 128), ("", 256)] {
        let report = run(&flooded(key, key, HE), 0);
        let (frames, mbps) = by_the_standard(window);
        let (mean, goodput) =
            (of(&report, "s").mean_aggregate.expect("it was sent something"), report.goodput_total_mbps);
        assert!((mean / frames - 1.0).abs() < 0.01, "{window}: {mean} frames for {frames}");
        assert!((goodput / mbps - 1.0).abs() < 0.01, "{window}: {goodput} Mbit/s for {mbps}");
        found.push(goodput);
    }
    // Four times the window gives more than a fifth more.
    assert!((1.21..1.24).contains(&(found[2] / found[0])), "{found:?}");
}

/// Session parameters seen on the air: requested and granted window, frames of the longest PPDU, and true for
/// long Block Ack bitmaps.
#[derive(Default)]
struct Seen(Option<u16>, Option<u16>, usize, Option<bool>);

impl Sink for Seen {
    const FRAMES: bool = true;
    fn event(&mut self, _: Instant, _: &TraceEvent) {}
    fn frame(&mut self, _: Instant, what: &FrameView<'_>) {
        let FrameView::Air(view) = what else { return };
        match view.content {
            ContentView::AddbaRequest { frames, .. } => self.0 = Some(frames),
            ContentView::AddbaResponse { frames } => self.1 = Some(frames),
            ContentView::Data { aggregate: true } => {
                self.2 = self.2.max(view.mpdus.len());
                assert!(self.3.is_none_or(|wide| wide == view.wide), "all of a session alike");
                self.3 = Some(view.wide);
                let answer = view.answer.expect("all come");
                // At 24 Mbit/s: 470 bits are five symbols, 278 bits are three.
                assert_eq!(answer.airtime.nanos(), if view.wide { 40_000 } else { 32_000 });
            }
            _ => {}
        }
    }
}

#[test]
fn smaller_window_of_both_ends_is_used() {
    #[rustfmt::skip]
    let table = [
        // access point                station                      rate asked granted frames, long bitmap
        ("",                         "",                          HE,                    256,  256,    256,   true),
        ("",                         ", block_ack_window = 100",  HE,                    256,  100,    100,   true),
        ("",                         ", block_ack_window = 64",   HE,                    256,  64,     64,    false),
        (", block_ack_window = 65",  "",                          HE,                    65,   65,     65,    true),
        (", block_ack_window = 20",  "",                          HE,                    20,   20,     20,    false),
        ("",                         "",                          "vht80-mcs9-nss2-sgi", 64,   64,     64,    false),
        ("",                         "",                          "ht40-mcs15-sgi",      64,   64,     32,    false),
        (", block_ack_window = 20",  "",                          "ht40-mcs15-sgi",      20,   20,     10,    false),
    ];
    for (ap, sta, rate, asked, granted, frames, wide) in table {
        let scenario = flooded(ap, sta, rate);
        let mut world = wire(&scenario, Seed { seed: 1, run: 0 }, |_| Seen::default()).world;
        world.run_until(Instant::from_nanos(100_000_000));
        let Seen(asks, grants, most, long) = core::mem::take(world.trace_mut());
        let found = (asks, grants, most, long);
        assert_eq!(found, (Some(asked), Some(granted), frames, Some(wide)), "{ap} {sta} {rate}");
    }
}

#[test]
fn unavailable_windows_have_a_note() {
    let said = |ap: &str, sta: &str, rate: &str| {
        let all = flooded(ap, sta, rate).notes();
        all.into_iter()
            .filter(|note| note.contains("Block Ack") || note.contains("block_ack"))
            .collect::<Vec<_>>()
    };
    let (ap, s) = ("node.ap.interface.wlan0", "node.s.interface.wlan0");
    assert_eq!(said("", "", HE), [""; 0]);
    assert_eq!(said("", "", "vht80-mcs9-nss2-sgi"), [""; 0]);
    assert_eq!(
        said("", ", block_ack_window = 100", HE),
        [format!("{s}: windows of Block Ack sessions have 100 frames, as it has no more (block_ack_window)")]
    );
    assert_eq!(
        said(", block_ack_window = 64", "", HE),
        [format!(
            "{s}: windows of Block Ack sessions have 64 frames, as its access point has no more (block_ack_window)"
        )]
    );
    assert_eq!(
        said(", block_ack_window = 200", "", "vht80-mcs9-nss2-sgi"),
        [format!(
            "{ap}.block_ack_window: 200 has no effect beyond 64 frames, as none of its links is one of HE; say 64 or less, or rates of HE"
        )]
    );
    assert_eq!(said(", block_ack_window = 64", ", block_ack_window = 9", "ht40-mcs15-sgi"), [""; 0]);
}

#[test]
fn accounts_close_with_losses_in_wide_windows() {
    for errors in [", error_rate = 0.05", ", error_rate = 0.5, ack_error_rate = 0.3", ", snr = \"33 dB\""] {
        let scenario = flooded("", errors, HE);
        let mut world = wire(&scenario, Seed { seed: 1, run: 0 }, |_| Holes::default()).world;
        for ms in [50, 111, 300] {
            let end = Instant::from_nanos(ms * 1_000_000);
            world.run_until(end);
            assert_eq!(world.close(end), Ok(()), "{errors} at {ms} ms");
        }
        assert!(world.trace_mut().0 > 64, "{errors}: {}", world.trace_mut().0);
    }
}

/// Length of the longest PPDU in frames.
#[derive(Default)]
struct Holes(u16);

impl Sink for Holes {
    fn event(&mut self, _: Instant, what: &TraceEvent) {
        if let TraceEvent::Ppdu(ppdu) = what {
            self.0 = self.0.max(ppdu.mpdus);
        }
    }
}
