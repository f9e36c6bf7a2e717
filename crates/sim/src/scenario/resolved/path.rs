//! The path between a station and its access point: rate selection and losses.

use serde_json::{Value, json};
use stillair_model::types::Duration;
use stillair_model::wifi::air::given::RateError;
use stillair_model::wifi::phy::errors::Snr;
use stillair_model::wifi::phy::{RateTry, RetryChain};
use stillair_model::wifi::rate::mask::McsMask;
use stillair_model::wifi::rate::minstrel::LegacyMinstrel;
use stillair_model::wifi::rate::table::Formats;

use super::super::{Errors, GivenErrors, PathTrace, Rates};

/// Returns the contents of a trace.
pub(super) fn traced(trace: &PathTrace) -> Value {
    let step = |(at, chain, loss): &(Duration, RetryChain, f64)| {
        json!([at.nanos(), chain.entries()[0].rate.to_string(), loss])
    };
    let steps: Vec<Value> = trace.steps.iter().map(step).collect();
    json!({ "file": trace.file, "repeat_ns": trace.length.map(Duration::nanos), "at_ns_rate_loss": steps })
}

/// Returns the rate selection of a path, with its key.
pub(super) fn rates(rates: &Rates) -> (&'static str, Value) {
    match rates {
        Rates::Fixed(chain) => {
            let entry = |e: &RateTry| json!({ "rate": e.rate.to_string(), "tries": e.tries, "rts": e.rts });
            ("retry_chain", chain.entries().iter().map(entry).collect())
        }
        Rates::MinstrelHt(can, mask) => {
            let width = format!("{} MHz", can.width.megahertz());
            let mut keys = json!({ "streams": can.streams, "width": width, "short_gi": can.short_gi });
            if can.formats != Formats::Ht {
                keys["standard"] = json!("802.11ac");
                keys["vht_only"] = json!(can.formats == Formats::Vht);
            }
            if *mask != McsMask::ALL {
                keys["ht_mcs"] = mask.allowed().collect();
            }
            ("minstrel_ht", keys)
        }
        Rates::Ath9kHtc(can) => {
            let width = format!("{} MHz", can.width.megahertz());
            ("ath9k_htc", json!({ "width": width, "short_gi": can.short_gi }))
        }
        Rates::Minstrel(can) => ("minstrel", json!({ "standard": standard(*can) })),
    }
}

fn standard(can: LegacyMinstrel) -> &'static str {
    match can {
        LegacyMinstrel::A => "802.11a",
        LegacyMinstrel::B => "802.11b",
        LegacyMinstrel::G => "802.11g",
    }
}

/// Adds the errors of a path.
pub(super) fn errors(errors: &Errors, keys: &mut Value) {
    match errors {
        Errors::Given { unheard, frame, answer } => {
            keys["preamble_loss_rate"] = json!(unheard);
            keys["error_rate"] = match frame {
                GivenErrors::Same(chance) => json!(chance),
                GivenErrors::ByRate(tables) => {
                    let one = |at: Duration, e: &RateError| {
                        let mut entry =
                            json!({ "rate": e.rate.to_string(), "probability": e.chance, "bytes": e.bytes });
                        if at > Duration::ZERO {
                            entry["at_ns"] = json!(at.nanos());
                        }
                        entry
                    };
                    tables.iter().flat_map(|(at, all)| all.iter().map(move |e| one(*at, e))).collect()
                }
            };
            keys["ack_error_rate"] = json!(answer);
        }
        Errors::Noise(steps) => {
            let step = |(at, Snr(mdb)): (Duration, Snr)| json!({ "at_ns": at.nanos(), "snr_mdb": mdb });
            keys["snr"] = steps.iter().map(step).collect();
        }
    }
}
