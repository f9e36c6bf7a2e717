//! Channels with hidden stations.

mod common;

use common::{cell, flow, parse, run_to, station, watched};
use stillair_model::types::{Duration, Seed};
use stillair_model::wifi::air::audibility::Hearing;
use stillair_model::wifi::phy::timing::{Timing, control_rate};
use stillair_model::wifi::phy::{Band, PhyRate, ppdu_duration};
use stillair_sim::run::run_once;
use stillair_sim::world::World;

const QUIET: &str =
    "band = \"5 GHz\"\nwidth = \"20 MHz\"\nbeacon_interval = \"off\"\nbasic_rate = \"ofdm-6\"";

/// Stations that upload without end to one access point. `channel` adds keys to the channel.
fn upload(stations: usize, channel: &str, path: &str) -> String {
    let mut text = cell("4 s", &format!("{QUIET}\n{channel}"), "scheme = \"fifo\"");
    (0..stations).for_each(|i| text += &station(&format!("s{i}"), i, path));
    for i in 0..stations {
        text += &flow("udp", &format!("s{i}"), "ap", "rate = \"100 Mbit/s\"\nburst = 8");
    }
    text
}

fn run(text: &str, run: u64) -> World<common::Watcher> {
    let mut world = watched(&parse(text, &[]), run).world;
    run_to(&mut world, Duration::from_secs(4)).expect("accounts close");
    world
}

/// Runs that random results are summed over.
const RUNS: core::ops::Range<u64> = 0..6;

#[test]
fn frame_by_frame_equals_by_exchange() {
    // Two additional silent stations are hidden from each other: results do not change, but the channel is
    // simulated frame by frame.
    let bystanders = station("x", 98, "rate = \"ofdm-54\"") + &station("y", 99, "rate = \"ofdm-54\"");
    for (n, path, same) in [
        (1, "rate = \"ht20-mcs7-lgi\"", true),
        (2, "rate = \"ofdm-54\"", true),
        (3, "rate = \"ofdm-24\", rts_threshold = 0", true),
        (1, "rate = \"ht20-mcs7-lgi\", scheme = { kind = \"fifo\", firmware_aggregates = true }", true),
        // In a collision of aggregates, the sender of the shorter one knows the outcome before the longer one
        // ends.
        (3, "rate = \"ht20-mcs7-lgi\"", false),
        // Other stations only wait for the response announced by a frame lost to noise, not for EIFS.
        (
            2,
            "rate = \"ht20-mcs7-lgi\", error_rate = 0.2, ack_error_rate = 0.1, preamble_loss_rate = 0.1",
            false,
        ),
    ] {
        let whole = |seed| run(&(upload(n, "", path) + &bystanders), seed);
        let by_frames = |seed| run(&(upload(n, "hidden = [[\"x\", \"y\"]]", path) + &bystanders), seed);
        let seen = |w: &World<common::Watcher>| {
            (
                w.trace().delivered.clone(),
                w.trace().tries,
                w.trace().collided,
                w.trace().recorder.trace_hash(),
            )
        };
        if same {
            assert_eq!(seen(&by_frames(0)), seen(&whole(0)), "{n} {path}");
        } else {
            // A single run of the last case is within 4 %, the mean within 1 %.
            let total = |seen: &dyn Fn(u64) -> World<common::Watcher>| -> u64 {
                RUNS.map(|seed| seen(seed).trace().delivered.iter().sum::<u64>()).sum()
            };
            let ratio = total(&by_frames) as f64 / total(&whole) as f64;
            assert!((ratio - 1.0).abs() < 0.02, "{n} {path}: {ratio}");
        }
    }
}

/// A cell of an access point and one station, which it saturates with single frames. Its backoff is always
/// drawn from `window` slots. `to` is the station, so that two access points may send to a station that hears
/// both.
fn sender(n: usize, rate: &str, window: u32, rts: bool) -> String {
    let rts = if rts { ", rts_threshold = 0" } else { "" };
    let window = format!("tx_queue_data2_cwmin = {window}, tx_queue_data2_cwmax = {window}");
    let tries = format!("{{ rate = \"{rate}\", tries = 15 }}");
    format!(
        r#"
[node.ap{n}]
profile = "linux-4.6"
interface.wlan0 = {{ channel = "wifi", role = "ap", scheme = "fifo", address = "10.0.{n}.1", {window}{rts} }}
[node.s{n}]
profile = "linux-4.4"
interface.wlan0 = {{ channel = "wifi", role = "station", ap = "ap{n}.wlan0", address = "10.0.{n}.2", rate = "{rate}", retry_chain = [{tries}, {tries}, {tries}, {tries}] }}
"#
    ) + &flow("udp", &format!("ap{n}"), &format!("s{n}"), "rate = \"60 Mbit/s\"\npayload = 1472\nburst = 8")
}

/// Returns the packets delivered by flow in a run of `seconds` with these cells, and the tries of data
/// frames.
fn senders(seconds: u64, hidden: &str, cells: &[String]) -> (Vec<u64>, u64) {
    let text = format!(
        "name = \"cells\"\nduration = \"{seconds} s\"\n[channel.wifi]\n{QUIET}\nhidden = {hidden}\n{}",
        cells.concat()
    );
    let mut world = watched(&parse(&text, &[]), 0).world;
    run_to(&mut world, Duration::from_secs(seconds)).expect("accounts close");
    (world.trace().delivered.clone(), world.trace().tries)
}

const MPDU: u32 = 1538;

fn us(d: Duration) -> f64 {
    d.nanos() as f64 / 1e3
}

/// Returns the duration of a data frame in us, and the time from its end to the start of the next backoff.
fn parts(rate: &str) -> (f64, f64) {
    let (rate, t) = (PhyRate::parse(rate).unwrap(), Timing::of(Band::Ghz5));
    let data = us(ppdu_duration(rate, MPDU, Band::Ghz5));
    (data, us(t.sifs) + us(t.ack_duration(control_rate(rate))) + us(t.aifs(3)))
}

#[test]
fn ppdu_survives_if_only_its_cts_collided() {
    // A CTS at 1 Mbit/s takes 304 us, a short 802.11b frame 254 us: if both start at the same time, the PPDU
    // after the CTS does not collide.
    let low = "band = \"2.4 GHz\"\nwidth = \"20 MHz\"\nbeacon_interval = \"off\"\nbasic_rate = \"dsss-1\"";
    let text = |hidden: &str| {
        cell("4 s", &format!("{low}\n{hidden}"), "scheme = \"fifo\"")
            + &station("b", 0, "rate = \"cck-11\"")
            + &station("n", 1, "rate = \"ht20-mcs15-sgi\"")
            + &station("x", 98, "rate = \"ofdm-54\"")
            + &station("y", 99, "rate = \"ofdm-54\"")
            + &flow("udp", "b", "ap", "rate = \"20 Mbit/s\"\npayload = 20")
            + &flow("udp", "n", "ap", "rate = \"100 Mbit/s\"\nburst = 8")
    };
    let (whole, by_frames) = (run(&text(""), 0), run(&text("hidden = [[\"x\", \"y\"]]"), 0));
    let seen =
        |w: &World<common::Watcher>| (w.trace().delivered.clone(), w.trace().tries, w.trace().collided);
    let ((a, tries, collided), (b, frames_tries, frames_collided)) = (seen(&whole), seen(&by_frames));
    let near = |a: u64, b: u64, by: f64| (a as f64 / b as f64 - 1.0).abs() < by;
    assert!(a.iter().zip(&b).all(|(&a, &b)| near(a, b, 0.03)), "{a:?} {b:?}");
    // One of two frames that start at the same time is lost; if both were, losses would double.
    assert!(
        near(tries, frames_tries, 0.03) && near(collided, frames_collided, 0.25),
        "{collided} {frames_collided}"
    );
}

#[test]
fn receiver_between_two_hidden_senders() {
    // The second sender is heard by the first one's receiver and by no other node of the first cell, and
    // hears only its ACKs: every frame of the first cell that overlaps one of the second is lost. At 6 Mbit/s
    // an ACK is as long as EIFS allows for, so the first sender's start times do not depend on the second
    // sender. Renewal theory then gives the probability that a frame of length T starts in a gap of the
    // second sender that lasts for another T: the mean excess of the gap over T, divided by the mean of gap
    // plus frame (Cox, Renewal Theory, 1962; hidden stations: Garetto, Salonidis and Knightly, IEEE/ACM ToN
    // 16(4), 2008).
    let hidden = "[[\"ap0\", \"ap1\"], [\"ap0\", \"s1\"], [\"s0\", \"s1\"]]";
    for (window, other) in [(1023, "ofdm-6"), (1023, "ofdm-9"), (511, "ofdm-9"), (511, "ofdm-12")] {
        let (data, after) = parts("ofdm-6");
        let (its, gap) = parts(other);
        let slots = f64::from(window) + 1.0;
        let gaps: Vec<f64> = (0..=window).map(|k| gap + 9.0 * f64::from(k)).collect();
        let longer: f64 = gaps.iter().map(|gap| (gap - data).max(0.0)).sum::<f64>() / slots;
        let chance = longer / (its + gaps.iter().sum::<f64>() / slots);
        let cycle = data + after + 9.0 * f64::from(window) / 2.0;
        let seconds = 40;
        let cells = [sender(0, "ofdm-6", window, false), sender(1, other, window, false)];
        let (delivered, _) = senders(seconds, hidden, &cells);
        let expected = chance * seconds as f64 * 1e6 / cycle;
        let got = delivered[0] as f64;
        assert!((got / expected - 1.0).abs() < 0.05, "{window} {other}: {got}, expected {expected}");
        // The second sender pauses during each ACK that it hears, plus an AIFS and half a slot.
        let still = got * (44.0 + 43.0 + 4.5);
        let alone = (seconds as f64 * 1e6 - still) / (its + gap + 9.0 * f64::from(window) / 2.0);
        assert!((delivered[1] as f64 / alone - 1.0).abs() < 0.02, "{window} {other}: {delivered:?}, {alone}");
    }
}

#[test]
fn the_flow_in_the_middle_of_three() {
    // Senders in a row, each in range of its neighbours, with receivers that hear only their own sender.
    // Frames of neighbours exclude each other, all others do not: the share of time in which a set of frames
    // is on the air is proportional to the ratio of frame to backoff to the power of the set's size
    // (Boorstyn, Kershenbaum, Maglaris and Sahin, IEEE Trans. Comm. 35(3), 1987; Liew, Kai, Leung and Wong,
    // IEEE Trans. Mobile Computing 9(9), 2010).
    let hidden = "[[\"ap0\", \"ap2\"], [\"s0\", \"s1\", \"s2\"], [\"s0\", \"ap1\", \"s2\"], [\"s0\", \"ap2\"], [\"s1\", \"ap0\"], [\"s1\", \"ap2\"], [\"s2\", \"ap0\"]]";
    for (window, rate) in [(127, "ofdm-6"), (255, "ofdm-12"), (511, "ofdm-6")] {
        let (data, after) = parts(rate);
        let ratio = (data + after) / (9.0 * f64::from(window) / 2.0);
        let all = 1.0 + 3.0 * ratio + ratio * ratio;
        let (side, middle) = ((ratio + ratio * ratio) / all, ratio / all);
        let seconds = 40;
        let cells = [0, 1, 2].map(|n| sender(n, rate, window, false));
        let (delivered, tries) = senders(seconds, hidden, &cells);
        let share = |n: usize| delivered[n] as f64 * (data + after) / (seconds as f64 * 1e6);
        for (n, expected) in [(0, side), (1, middle), (2, side)] {
            assert!(
                (share(n) / expected - 1.0).abs() < 0.1,
                "{window} {rate} {n}: {}, expected {expected}",
                share(n)
            );
        }
        // No collisions: a node that hears two senders does not receive data.
        assert!(tries < delivered.iter().sum::<u64>() + 4);
    }
}

#[test]
fn hidden_stations_and_rts() {
    // One of the two stations wins for long periods: in single runs with aggregates, 0.4 to 0.85 remain.
    let total = |channel: &str, path: &str| {
        let one = |seed| run(&upload(2, channel, path), seed).trace().delivered.iter().sum::<u64>();
        RUNS.map(one).sum::<u64>() as f64
    };
    for (rate, without, with) in [
        // After three doublings, a backoff is at most 127 slots or 1.1 ms, and a frame takes 2 ms: no gap is
        // long enough.
        ("ofdm-6", 0.0..0.001, 0.8..0.95),
        ("ofdm-54", 0.2..0.4, 0.8..0.95),
        // Frames of an aggregate that end before the other aggregate starts are received.
        ("ht20-mcs7-lgi", 0.5..0.8, 0.9..1.0),
    ] {
        let part = |rts: &str| {
            let path = format!("rate = \"{rate}\"{rts}");
            total("hidden = [[\"s0\", \"s1\"]]", &path) / total("", &path)
        };
        let (plain, guarded) = (part(""), part(", rts_threshold = 0"));
        assert!(without.contains(&plain) && with.contains(&guarded), "{rate}: {plain}, with RTS {guarded}");
    }
}

#[test]
fn positions_determine_audibility() {
    // 16 dBm and 46.7 dB for the first metre: -82 dBm is reached at 51.3 m with 30 dB per decade.
    let placed = |x: &str| {
        let places = [("ap", "30 m, 0 m"), ("s0", "0 m, 0 m"), ("s1", x)];
        let path = "rate = \"ofdm-6\"";
        let text = upload(2, "", path);
        let sets = places.map(|(node, place)| (format!("node.{node}.position"), place.to_owned()));
        let sets: Vec<(&str, &str)> = sets.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        parse(&text, &sets)
    };
    let audible = |x: &str| {
        let a = &placed(x).channels[0].audible;
        (a.groups(Hearing::Nothing).count(), a.groups(Hearing::Faint).count())
    };
    assert_eq!([audible("51 m, 0 m"), audible("51 m, 8 m")], [(0, 0), (1, 0)]);
    let far = placed("60 m, 0 m");
    // 91 dB of path loss at 30 m: 19 dB above the noise, enough for 6 Mbit/s; hidden from each other, the
    // stations destroy all frames.
    assert_eq!(far.resolved().matches("18986").count(), 2);
    let mut world = watched(&far, 0).world;
    run_to(&mut world, Duration::from_secs(4)).expect("accounts close");
    assert_eq!(world.trace().delivered, [0, 0]);
}

/// 402 radios have 80,601 pairs of positions. If each pair required a search, building would take minutes.
#[test]
fn two_cells_of_two_hundred() {
    let mut text =
        format!("name = \"cells\"\nduration = \"1 s\"\n[channel.wifi]\n{QUIET}\ncapture = \"10 dB\"\n");
    for cell in 0..2 {
        // Each station is within a metre or two of its position; the cells are 100 m apart and do not hear
        // each other.
        text += &format!(
            "[node.ap{cell}]\nprofile = \"linux-4.6\"\nposition = \"{} m, 0 m\"\ninterface.wlan0 = \
             {{ channel = \"wifi\", role = \"ap\", scheme = \"fifo\", address = \"10.0.{cell}.1\" }}\n",
            100 * cell
        );
        for n in 0..200 {
            text += &format!(
                "[node.s{cell}x{n}]\nprofile = \"linux-4.6\"\nposition = \"{} m, {}.{:02} m\"\ninterface.wlan0 = \
                 {{ channel = \"wifi\", role = \"station\", ap = \"ap{cell}.wlan0\", address = \"10.0.{cell}.{}\", \
                 rate = \"ofdm-24\" }}\n",
                100 * cell,
                1 + n / 100,
                n % 100,
                n + 2
            );
        }
        text += &flow("udp", &format!("s{cell}x0"), &format!("ap{cell}"), "rate = \"60 Mbit/s\"\nburst = 8");
    }
    let scenario = parse(&text, &[]);
    assert_eq!(scenario.channels[0].audible.apart.len(), 201 * 201);
    assert_eq!(scenario.channels[0].capture.as_ref().map(|c| c.levels.len()), Some(402 * 401 / 2));
    let mut world = watched(&scenario, 0).world;
    run_to(&mut world, Duration::from_secs(1)).expect("accounts close");
    // Neither cell affects the other: a single one would have the same throughput.
    let [one, other] = world.trace().delivered[..] else { panic!("two flows") };
    assert!(one > 1_000 && one.abs_diff(other) < one / 50, "{one} {other}");
    assert_eq!(world.trace().collided, 0);
}

#[test]
fn starts_during_a_hidden_frame_are_counted() {
    let bystanders = station("x", 98, "rate = \"ofdm-54\"") + &station("y", 99, "rate = \"ofdm-54\"");
    let begun = |hidden: &str| {
        let text = upload(2, hidden, "rate = \"ofdm-54\"") + &bystanders;
        let summary = run_once(&parse(&text, &[]), Seed { seed: 1, run: 0 }).expect("accounts close");
        summary.losses.values().map(|losses| losses.begun_amid).sum::<u64>()
    };
    // Simulated frame by frame; the two senders hear each other.
    assert_eq!(begun("hidden = [[\"x\", \"y\"]]"), 0);
    assert!(begun("hidden = [[\"s0\", \"s1\"]]") > 1_000);
}

#[test]
fn arrival_over_another_channel_does_not_cancel_a_due_start() {
    // On both channels, slot boundaries are at 16 us and every 9 us after that. A frame with 460 bytes of
    // payload, due at 81,000 us, starts at 81,007 us, and its exchange takes 100 + 16 + 28 us: its packet
    // arrives at the relay's other radio at 81,151 us, when that radio starts to send a packet of another
    // category. No other frames would end a wait.
    let channel = |name: &str, more: &str| format!("[channel.{name}]\n{QUIET}\n{more}\n");
    let station = |name: &str, channel: &str, ap: &str, address: &str| {
        format!(
            "[node.{name}]\nprofile = \"linux-4.4\"\ninterface.wlan0 = {{ channel = \"{channel}\", role = \"station\", \
             ap = \"{ap}\", scheme = \"fifo\", rate = \"ofdm-54\", address = \"{address}\" }}\n"
        )
    };
    let once = |from: &str, mark: &str, start: &str| {
        let keys = format!("dscp = \"{mark}\"\nstart = \"{start}\"\nstop = \"100 ms\"");
        flow("udp", from, "far", &format!("rate = \"46 kbit/s\"\npayload = 460\ngap = \"periodic\"\n{keys}"))
    };
    let text = "name = \"relay\"\nduration = \"1 s\"\n".to_owned()
        + &channel("a", "")
        + &channel("b", "hidden = [[\"far\", \"other\"]]")
        + "[node.relay]\nprofile = \"linux-4.4\"\nforward = true\n\
           interface.a = { channel = \"a\", role = \"ap\", scheme = \"fifo\", address = \"10.0.1.1\" }\n\
           interface.b = { channel = \"b\", role = \"ap\", scheme = \"fifo\", address = \"10.0.2.1\" }\n"
        + &station("near", "a", "relay.a", "10.0.1.2")
        + &station("far", "b", "relay.b", "10.0.2.2")
        + &station("other", "b", "relay.b", "10.0.2.3")
        + &once("near", "EF", "1000 us")
        + &once("relay", "CS0", "1147 us");
    let mut world = watched(&parse(&text, &[]), 0).world;
    run_to(&mut world, Duration::from_secs(1)).expect("accounts close");
    assert_eq!(world.trace().delivered, [1, 1]);
}
