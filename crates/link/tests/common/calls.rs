//! Random sequences of calls to a link, and the conditions that must hold for each.

use std::time::Duration;

use proptest::prelude::*;
use stillair_link::{BackPressure, Endpoint, Enqueue, Mark, Path, Poll, SendError, presets};

/// One call. Times are in nanoseconds after the link's; negative times go back.
#[derive(Clone, Debug)]
pub enum Call {
    Send { from: u32, to: u32, bytes: usize, ecn: u8, dscp: u8, later: i64 },
    Poll { later: i64 },
    Limit { endpoint: u32, limit: u32, resume: u32 },
}

fn time() -> impl Strategy<Value = i64> {
    prop_oneof![
        4 => Just(0),
        6 => 0_i64..3_000_000,
        1 => 0_i64..3_000_000_000,
        1 => -5_000_000_i64..0,
    ]
}

pub fn any_call() -> impl Strategy<Value = Call> {
    let bytes = prop_oneof![8 => 0_usize..1_473, 1 => 1_473_usize..70_000, 1 => Just(usize::MAX)];
    let send = (0_u32..3, 0_u32..3, bytes, 0_u8..5, prop_oneof![6 => Just(0_u8), 1 => 0_u8..70], time());
    let send =
        send.prop_map(|(from, to, bytes, ecn, dscp, later)| Call::Send { from, to, bytes, ecn, dscp, later });
    let limit = (0_u32..3, 0_u32..20_000, 0_u32..20_000);
    prop_oneof![
        8 => send,
        3 => time().prop_map(|later| Call::Poll { later }),
        1 => limit.prop_map(|(endpoint, limit, resume)| Call::Limit { endpoint, limit, resume }),
    ]
}

/// Makes the calls on one of the presets.
pub fn check(path: usize, seed: u64, calls: &[Call]) -> Result<(), String> {
    let preset = presets()[path % presets().len()];
    let path = Path::preset(preset.name).map_err(|e| e.to_string())?;
    let mut link = path.link(seed).map_err(|e| e.to_string())?;
    let (mut sent, mut lost, mut came, mut fresh) = ([0_u64; 2], [0_u64; 2], [0_u64; 2], true);
    let filler = vec![7; 1_472];
    for call in calls {
        let at = |later: i64| {
            let now = link.now();
            if later < 0 {
                now.checked_sub(Duration::from_nanos(later.unsigned_abs())).unwrap_or_default()
            } else {
                now + Duration::from_nanos(later as u64)
            }
        };
        match *call {
            Call::Send { from, to, bytes, ecn, dscp, later } => {
                let (now, before) = (at(later), link.now());
                let way = Endpoint(from).to(Endpoint(to));
                let right = now >= before && from < 2 && to < 2 && from != to;
                let right = right && bytes <= 1_472 && ecn < 4 && dscp < 64;
                let told = match filler.get(..bytes) {
                    Some(bytes) if bytes.len() % 2 == 0 => link.send(now, way, bytes, Mark { ecn, dscp }),
                    _ => link.send(now, way, bytes, Mark { ecn, dscp }),
                };
                fresh &= !right;
                match told {
                    Ok(told) if right => {
                        let n = from as usize;
                        sent[n] += 1;
                        lost[n] += u64::from(told.queue == Enqueue::Dropped);
                        if u64::from(told.number) != sent[n] {
                            return Err(format!("number {} of {}", told.number, sent[n]));
                        }
                    }
                    Err(SendError::Full) if right && link.below(Endpoint(from)).is_some() => {}
                    Err(error) if !right && error != SendError::Full => {}
                    told => return Err(format!("{call:?}: {told:?}")),
                }
                if told_wrong(right, link.now(), now, before) {
                    return Err(format!("{call:?}: time {:?} after {before:?}", link.now()));
                }
            }
            Call::Poll { later } => {
                let (until, before) = (at(later), link.now());
                loop {
                    match link.poll(until) {
                        Ok(Poll::Packet(p)) => {
                            fresh = false;
                            came[p.to.0 as usize] += 1;
                            let right = p.at <= until.max(before) && p.sent <= p.at && p.from != p.to;
                            if !right || u64::from(p.number) > sent[p.from.0 as usize] {
                                return Err(format!("{p:?} of {sent:?}"));
                            }
                            if link.payload().len() != p.len
                                || link.payload().iter().any(|&b| b != 7 && b != 0)
                            {
                                return Err(format!("other bytes: {p:?}"));
                            }
                            if p.at > until {
                                return Err(format!("after {until:?}: {p:?}"));
                            }
                        }
                        Ok(Poll::Writable(_)) => {}
                        Ok(Poll::Wait(next)) if until >= before && next.is_none_or(|next| next > until) => {
                            break;
                        }
                        Err(_) if until < before => break,
                        other => return Err(format!("{call:?}: {other:?}")),
                    }
                }
                fresh &= until < before;
            }
            Call::Limit { endpoint, limit, resume } => {
                let set = link.set_back_pressure(Endpoint(endpoint), BackPressure { limit, resume });
                if set && (endpoint > 1 || !fresh) {
                    return Err(format!("{call:?} was taken"));
                }
            }
        }
    }
    let seen = link.finish().map_err(|e| e.to_string())?;
    for (n, name) in ["server", "client"].into_iter().enumerate() {
        let (from, to) = (&seen.hosts[name].from, &seen.hosts[name].to);
        if from.packets + from.lost > sent[n] || from.lost < lost[n] || to.packets < came[n] {
            return Err(format!("{name}: {from:?} {to:?} of {sent:?}, {came:?} came"));
        }
    }
    Ok(())
}

fn told_wrong(right: bool, link: Duration, now: Duration, before: Duration) -> bool {
    link != if right { now } else { before }
}
