//! Lost frames and acknowledgements: which flows they affect, and what happens to the packets.

mod common;

use common::{Watcher, cell, flow, of, parse, run, run_to, station, watched};
use stillair_model::types::{Duration, Reason};
use stillair_sim::recorder::Losses;
use stillair_sim::world::World;

const CHANNEL: &str = "band = \"5 GHz\"\nwidth = \"20 MHz\"";
const SCHEMES: [&str; 6] = ["fifo", "fq_codel", "fq_mac", "airtime", "airtime_as_printed", "ath9k_htc"];

/// Runs a scenario whose sources stop after a second until all packets have drained.
fn drained(text: &str) -> World<Watcher> {
    let mut world = watched(&parse(text, &[]), 0).world;
    for ms in (500..60_000).step_by(500) {
        run_to(&mut world, Duration::from_millis(ms)).expect("accounts close, in order");
        if ms > 1_000 && world.books().packet_account().1 == 0 {
            break;
        }
    }
    assert_eq!((world.books().packet_account().1, world.books().charged()), (0, 0), "something is stuck");
    world
}

/// Two stations with a flow each from the access point. Flow 1 goes to the station with `path`.
fn beside(scheme: &str, path: &str, mbps: u32, mark: &str) -> String {
    let udp = format!("rate = \"{mbps} Mbit/s\"\nburst = 4\nstop = \"1 s\"\ndscp = \"{mark}\"");
    cell("2 s", CHANNEL, &format!("scheme = \"{scheme}\""))
        + &station("good", 0, "rate = \"ht20-mcs7-lgi\"")
        + &station("bad", 1, path)
        + &flow("udp", "ap", "good", &udp)
        + &flow("udp", "ap", "bad", &udp)
}

#[test]
fn dead_path_gives_up_and_others_continue() {
    for scheme in SCHEMES {
        let text = beside(scheme, "rate = \"ht20-mcs7-lgi\", error_rate = 1.0", 2, "CS0");
        let world = drained(&text);
        let t = &world.trace();
        // At this load, frames on the dead path are given up, or CoDel drops packets behind frames being
        // retried. The good path drops nothing.
        assert!(t.delivered[0] > 100, "{scheme}: {:?}", t.delivered);
        assert_eq!(t.dropped[0], [0; Reason::COUNT], "{scheme}");
        assert_eq!(t.delivered[1], 0, "{scheme}");
        assert!(t.dropped[1][Reason::RetryLimit as usize] > 100, "{scheme}: {:?}", t.dropped);
        // Single frames behind a failed one are returned unsent; if the MAC has the queues, the driver drops
        // them.
        let [given_up, by_codel, unsent] =
            [Reason::RetryLimit, Reason::Codel, Reason::Filtered].map(|r| t.dropped[1][r as usize]);
        assert_eq!(
            t.dropped_otherwise(1, Reason::RetryLimit),
            by_codel + unsent,
            "{scheme}: {:?}",
            t.dropped
        );
        assert!(
            unsent == 0 || !["fifo", "fq_codel", "ath9k_htc"].contains(&scheme),
            "{scheme}: {:?}",
            t.dropped
        );
        let (account, _) = world.books().packet_account();
        assert_eq!(account.created, t.delivered[0] + given_up + by_codel + unsent);
    }
}

#[test]
fn lost_acknowledgements_lose_no_packet() {
    for (scheme, mark) in SCHEMES.into_iter().flat_map(|s| [(s, "CS0"), (s, "EF"), (s, "CS1")]) {
        let text = beside(scheme, "rate = \"ht20-mcs7-lgi\", ack_error_rate = 0.5", 4, mark);
        let world = drained(&text);
        let (account, _) = world.books().packet_account();
        assert!(account.delivered > 500, "{scheme} {mark}: {account:?}");
        assert_eq!(account.created, account.delivered, "{scheme} {mark}: {account:?}");
        assert!(
            world.books().duplicates() > 100,
            "{scheme} {mark}: {} duplicates",
            world.books().duplicates()
        );
    }
}

/// Returns the losses of the link to a single station with a flow from the access point.
fn losses(path: &str) -> Losses {
    let udp = "rate = \"20 Mbit/s\"\nburst = 4";
    let text = cell("2 s", CHANNEL, "scheme = \"airtime\"")
        + &station("bad", 0, path)
        + &flow("udp", "ap", "bad", udp);
    run(&parse(&text, &[]), 0).losses.get("ap.wlan0 to bad.wlan0").copied().unwrap_or_default()
}

#[test]
fn each_kind_of_loss_is_counted_separately() {
    let fixed = "rate = \"ht20-mcs7-lgi\"";
    assert_eq!(losses(fixed), Losses::default());
    let broken = losses(&format!("{fixed}, error_rate = 0.2"));
    assert!(broken.mpdus_broken > 500, "{broken:?}");
    assert_eq!(broken, Losses { mpdus_broken: broken.mpdus_broken, ..Losses::default() });
    let unheard = losses(&format!("{fixed}, preamble_loss_rate = 0.2"));
    assert!(unheard.ppdus_unheard > 50, "{unheard:?}");
    assert_eq!(unheard, Losses { ppdus_unheard: unheard.ppdus_unheard, ..Losses::default() });
    // A PPDU whose Block Ack is lost is sent again, and all of its frames are received twice.
    let answers = losses(&format!("{fixed}, ack_error_rate = 0.2"));
    assert!(answers.answers_lost > 50 && answers.mpdus_twice >= answers.answers_lost, "{answers:?}");
    assert_eq!((answers.mpdus_broken, answers.ppdus_unheard), (0, 0), "{answers:?}");
}

#[test]
fn errors_by_rate_follow_the_chain() {
    // The first rate always fails, the second always works: each PPDU is tried at the first rate as often as
    // the chain says, with all frames lost.
    let chain = "rate = \"ht20-mcs7-lgi\", retry_chain = [{ rate = \"mcs7\", tries = 2 }, { rate = \"mcs4\", tries = 1 }]";
    let table =
        "error_rate = [{ rates = \"mcs7\", probability = 1 }, { rates = [\"mcs4\"], probability = 0 }]";
    let text = cell("1 s", CHANNEL, "scheme = \"airtime\"")
        + &station("s", 0, &format!("{chain}, {table}"))
        + &flow("udp", "ap", "s", "rate = \"10 Mbit/s\"\nburst = 4\nstop = \"500 ms\"");
    let report = run(&parse(&text, &[]), 0);
    let lost = report.losses["ap.wlan0 to s.wlan0"];
    assert_eq!(report.packets.dropped, 0);
    assert!(report.packets.delivered > 400, "{:?}", report.packets);
    assert_eq!(lost, Losses { mpdus_broken: 2 * report.packets.delivered, ..Losses::default() });
}

#[test]
fn probability_table_changes_at_its_times() {
    // All frames are lost for a tenth of two seconds, or from then on.
    let lost = |to: &str| {
        let entries = format!(
            "{{ rates = \"mcs7\", probability = 0 }}, {{ rates = \"mcs7\", probability = 1, at = \"500 ms\" }}, {{ rates = \"mcs7\", probability = {to}, at = \"600 ms\" }}"
        );
        losses(&format!("rate = \"ht20-mcs7-lgi\", error_rate = [{entries}]")).mpdus_broken
    };
    let (for_a_time, for_good) = (lost("0"), lost("1"));
    assert!(for_a_time > 100 && for_good > 5 * for_a_time, "{for_a_time} {for_good}");
    // The settings of other rates do not change.
    let other = "rate = \"ht20-mcs7-lgi\", error_rate = [{ rates = [\"mcs7\", \"mcs4\"], probability = 0 }, { rates = \"mcs4\", probability = 1, at = \"1 s\" }]";
    assert_eq!(losses(other), Losses::default());
}

#[test]
fn longer_frames_are_lost_more_often() {
    let lost = |payload: u32, table: &str| {
        let text = cell("2 s", CHANNEL, "scheme = \"airtime\"")
            + &station("s", 0, &format!("rate = \"ht20-mcs7-lgi\", error_rate = [{table}]"))
            + &flow("udp", "ap", "s", &format!("rate = \"5 Mbit/s\"\npayload = {payload}"));
        let report = run(&parse(&text, &[]), 0);
        let lost = report.losses["ap.wlan0 to s.wlan0"].mpdus_broken;
        1000 * lost / (lost + report.packets.delivered)
    };
    // A full frame of 1,538 bytes has an error probability of 30 %; one of 800 bytes has 1 - 0.7^(800/1538),
    // 169 in a thousand.
    let scaled = "{ rates = \"mcs7\", probability = 0.3, bytes = 1538 }";
    let plain = "{ rates = \"mcs7\", probability = 0.3 }";
    let all = [lost(1472, scaled), lost(734, scaled), lost(1472, plain), lost(734, plain)];
    for (permille, want) in all.into_iter().zip([300, 169, 300, 300]) {
        assert!(permille.abs_diff(want) < 25, "{all:?}");
    }
}

#[test]
fn frames_lost_in_a_session_are_retransmitted() {
    // 30 tries with every other frame lost: none is given up in a thousand runs, so all arrive in order.
    let text = beside("airtime", "rate = \"ht20-mcs7-lgi\", error_rate = 0.5", 4, "CS0");
    let world = drained(&text);
    let (account, _) = world.books().packet_account();
    assert!(world.trace().delivered[1] > 250, "{:?}", world.trace().delivered);
    assert_eq!(account.created, account.delivered, "{account:?} {:?}", world.trace().dropped);
    assert_eq!(world.books().duplicates(), 0);
}

#[test]
fn the_retry_limit_is_counted_in_tries_of_the_hardware() {
    // Half of the frames are lost, and each is retried after its first two tries: an eighth is lost, and
    // nothing else.
    let text = beside("fq_mac", "rate = \"ht20-mcs7-lgi\", error_rate = 0.5", 20, "CS0")
        .replace("scheme = \"fq_mac\"", "retry_limit = 2, scheme = \"fq_mac\"");
    let world = drained(&text);
    let (got, lost) = (world.trace().delivered[1], world.trace().dropped[1][Reason::RetryLimit as usize]);
    let permille = lost * 1000 / (got + lost);
    assert!(got > 1000 && (105..=145).contains(&permille), "{permille} of a thousand lost");
}

#[test]
fn block_ack_request_avoids_the_reorder_timeout() {
    // A quarter of the requests and of the replies is given up. Without a Block Ack request, each would delay
    // the frames behind it by the receiver's timeout of 100 ms.
    let path = "retry_limit = 2, rate = \"ht20-mcs7-lgi\", error_rate = 0.5";
    let text = cell("4 s", CHANNEL, "scheme = \"fq_mac\", retry_limit = 2")
        + &station("bad", 0, path)
        + &flow("ping", "ap", "bad", "interval = \"5 ms\"");
    let p95 = of(&run(&parse(&text, &[]), 0), "bad").ping_p95_ms.expect("some pings came back");
    assert!(p95 < 15.0, "{p95} ms");
}

#[test]
fn accounts_close_at_any_instant() {
    // Steps of 7 us hit every part of an exchange, including EIFS.
    let text = beside("fifo", "rate = \"ht20-mcs7-lgi\", error_rate = 0.7, ack_error_rate = 0.2", 20, "CS6");
    for filter in ["none", "linux-4.4", "linux-4.9"] {
        let set = [("node.ap.interface.wlan0.destination_filter", filter)];
        let mut world = watched(&parse(&text, &set), 0).world;
        // A returned frame is requeued behind those that the hardware holds, which may lift the filter
        // earlier.
        world.trace_mut().check_order = filter != "linux-4.4";
        for us in (10_000..40_000).step_by(7) {
            run_to(&mut world, Duration::from_micros(us))
                .unwrap_or_else(|e| panic!("{filter}, at {us} us: {e}"));
        }
        assert!(world.trace().tries > 30, "{}", world.trace().tries);
    }
}

#[test]
fn without_a_cts_nothing_is_sent() {
    // The station is out of range, first with all stations in range of each other, then with two hidden, idle
    // ones.
    let path = "rate = \"ht20-mcs7-lgi\", snr = \"-10 dB\"";
    let idle = [1, 2].map(|n| station(&format!("idle{n}"), n, "rate = \"ht20-mcs7-lgi\"")).concat();
    for hidden in ["", "\nhidden = [[\"idle1\", \"idle2\"]]"] {
        let used = |rts: u32| {
            let text = cell(
                "2 s",
                &format!("{CHANNEL}{hidden}"),
                &format!("scheme = \"airtime\", rts_threshold = {rts}"),
            ) + &station("bad", 0, path)
                + &idle
                + &flow("udp", "ap", "bad", "rate = \"20 Mbit/s\"\nburst = 4");
            let summary = run(&parse(&text, &[]), 0);
            let air = serde_json::to_value(summary).expect("JSON")["air"]["wifi"].clone();
            ["data_us", "protection_us"].map(|part| air[part].as_f64().expect("a number"))
        };
        let [data, protection] = used(0);
        assert!(data == 0.0 && protection > 2_000.0, "{hidden}: {data} {protection}");
        let [data, protection] = used(65_535);
        // Frames are sent until the Block Ack session is negotiated, and held as no response arrives.
        assert!(data > 2_000.0 && protection == 0.0, "{hidden}: {data} {protection}");
    }
}

#[test]
fn frame_lost_to_noise_costs_no_time_at_the_lowest_rate() {
    // Nothing is sent at the lowest rate: no beacons, and no session at 802.11g's 54 Mbit/s.
    let goodput = |lowest: &str| {
        let channel = format!(
            "band = \"2.4 GHz\"\nwidth = \"20 MHz\"\nbeacon_interval = \"off\"\nbasic_rate = \"{lowest}\""
        );
        let text = cell("3 s", &channel, "scheme = \"airtime\"")
            + &station(
                "bad",
                0,
                "rate = \"ofdm-54\", retry_chain = [{ rate = \"ofdm-54\", tries = 8 }], preamble_loss_rate = 0.2",
            )
            + &flow("udp", "ap", "bad", "rate = \"80 Mbit/s\"\npayload = 1472");
        run(&parse(&text, &[]), 0).goodput_total_mbps
    };
    assert_eq!(goodput("dsss-1"), goodput("ofdm-6"));
}
