//! Stations that hear their access point but not each other, and send RTS before each frame, compared with a
//! model.
//!
//! Throughput is the payload of a cycle divided by its mean length. A cycle lasts from one idle slot to the
//! next, and stations start in each idle slot with the probability given by their windows (Bianchi,
//! *Performance analysis of the IEEE 802.11 distributed coordination function*, IEEE JSAC 18(3), 2000). With
//! hidden stations, no other station may start while an RTS is on the air: its probability is that of all
//! these slots (Wu, Zhu, Zhang and Niu, *Analysis of IEEE 802.11 DCF with hidden terminals*, IEEE Globecom
//! 2006; Ekici and Yongacoglu, *IEEE 802.11a throughput performance with hidden nodes*, IEEE Communications
//! Letters 12(6), 2008). This model adds two such periods: an RTS in the gap before the CTS does not destroy
//! the CTS, but its sender misses the CTS, and destroys the frame with its next RTS.

mod common;

use common::{cell, flow, parse, run_to, station, watched};
use stillair_model::types::Duration;
use stillair_model::wifi::phy::timing::{Timing, control_rate};
use stillair_model::wifi::phy::{Band, PhyRate, frame, ppdu_duration};

const MPDU: u32 = 1538;
const TRIES: u32 = 7;

fn us(d: Duration) -> f64 {
    d.nanos() as f64 / 1e3
}

/// Frames per second that `n` stations deliver, with windows from `least` to `most`.
fn model(n: i32, rate: &str, least: u32, most: u32) -> f64 {
    let (t, rate) = (Timing::of(Band::Ghz5), PhyRate::parse(rate).unwrap());
    let lasts = |rate, bytes| us(ppdu_duration(rate, bytes, Band::Ghz5));
    let control = control_rate(rate);
    let (rts, cts) = (lasts(control, frame::RTS), lasts(control, frame::CTS));
    let (sifs, slot, aifs, late) = (us(t.sifs), us(t.slot), us(t.aifs(3)), us(t.eifs_extra()));
    let data = lasts(rate, MPDU);
    let success = rts + sifs + cts + sifs + data + sifs + us(t.ack_duration(control)) + aifs;
    let collision = rts + late + aifs;
    let broken = rts + sifs + cts + sifs + data + late + aifs;
    // Slots in which another station must not start after an RTS started: while it is on the air, and in the
    // gap after it.
    let during = (rts / slot).ceil() as i32 - 1;
    let gap = ((rts + sifs) / slot).ceil() as i32 - 1 - during;
    let begins = |failed: f64| {
        let stage = |i: u32| f64::from(most.min((least + 1) * 2_u32.pow(i) - 1)) / 2.0 + 1.0;
        let power = |i: u32| failed.powi(i as i32);
        let tries: f64 = (0..TRIES).map(power).sum();
        tries / (0..TRIES).map(|i| power(i) * stage(i)).sum::<f64>()
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let tau: f64 = (low + high) / 2.0;
        let failed = 1.0 - (1.0 - tau).powi((n - 1) * (2 * during + 1 + gap));
        *(if begins(failed) > tau { &mut low } else { &mut high }) = tau;
    }
    let silent: f64 = 1.0 - low;
    let nobody = silent.powi(n);
    let alone = f64::from(n) * low * silent.powi(n - 1) / (1.0 - nobody);
    let heard = alone * silent.powi((n - 1) * during);
    let clear = heard * silent.powi((n - 1) * gap);
    // A station that started in the gap may not send again until after the frame.
    let late_for_it = silent.powf(((sifs + cts + sifs + data - collision) / slot).max(0.0));
    let delivered = clear + (heard - clear) * late_for_it;
    let idle = slot * nobody / (1.0 - nobody);
    let cycle = idle + delivered * success + (heard - delivered) * broken + (1.0 - heard) * collision;
    1e6 * delivered / cycle
}

/// The same, simulated.
fn measured(n: usize, rate: &str, least: u32, most: u32) -> f64 {
    const SECONDS: u64 = 10;
    let names: Vec<String> = (0..n).map(|i| format!("\"s{i}\"")).collect();
    let channel = format!(
        "band = \"5 GHz\"\nwidth = \"20 MHz\"\nbeacon_interval = \"off\"\nbasic_rate = \"ofdm-6\"\nhidden = [[{}]]",
        names.join(", ")
    );
    let exponent = |window: u32| (window + 1).trailing_zeros();
    let windows = format!(
        "scheme = \"fifo\", wmm_ac_be_cwmin = {}, wmm_ac_be_cwmax = {}",
        exponent(least),
        exponent(most)
    );
    let path = format!(
        "rate = \"{rate}\", rts_threshold = 0, retry_chain = [{{ rate = \"{rate}\", tries = {TRIES} }}]"
    );
    let mut text = cell(&format!("{SECONDS} s"), &channel, &windows);
    (0..n).for_each(|i| text += &station(&format!("s{i}"), i, &path));
    for i in 0..n {
        text += &flow("udp", &format!("s{i}"), "ap", "rate = \"60 Mbit/s\"\npayload = 1472\nburst = 8");
    }
    let mut world = watched(&parse(&text, &[]), 0).world;
    run_to(&mut world, Duration::from_secs(SECONDS)).expect("accounts close");
    world.trace().delivered.iter().sum::<u64>() as f64 / SECONDS as f64
}

/// Relative excess of the simulated throughput over the model's.
fn above(n: u16, rate: &str, least: u32, most: u32) -> f64 {
    measured(usize::from(n), rate, least, most) / model(i32::from(n), rate, least, most) - 1.0
}

#[test]
fn with_a_fixed_window_as_in_the_model() {
    for n in [2, 3] {
        for rate in ["ofdm-6", "ofdm-24", "ofdm-54"] {
            for window in [127, 511] {
                let above = above(n, rate, window, window);
                assert!(above.abs() < 0.02, "{n} {rate} {window}: {above}");
            }
        }
    }
    // With more stations, others than the two that collided count down meanwhile, which the model ignores.
    for n in [5, 10] {
        let above = above(n, "ofdm-24", 511, 511);
        assert!(above.abs() < 0.03, "{n}: {above}");
    }
}

#[test]
fn with_a_doubling_window_close_to_the_model() {
    // A station that has just succeeded has the smallest window and is likely to win again, while the others
    // have larger windows. The model has one probability for all of them.
    for n in [2, 5] {
        for (rate, most) in [("ofdm-6", 0.13), ("ofdm-24", 0.1), ("ofdm-54", 0.1)] {
            let above = above(n, rate, 15, 1023);
            assert!((0.0..most).contains(&above), "{n} {rate}: {above}");
        }
    }
}
