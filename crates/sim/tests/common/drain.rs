//! Properties that hold for any network: accounts balance, charges end, order is kept, and all packets drain.

use stillair_model::types::{Duration, Instant};
use stillair_sim::scenario::Flow;

use super::random::{Case, FLOWS};
use super::{parse, run_to, watched};

/// Runs a case. Returns an error if a property does not hold.
pub fn check(case: &Case, run: u64) -> Result<(), String> {
    attempt(case, run, FLOWS, case.keeps_order()).or_else(|why| {
        // Disorder may be caused by two flows sharing one of the hashed queues. That is no error if the same
        // flows are in order with a different number of queues.
        let met = || attempt(case, run, FLOWS, false).is_ok() && attempt(case, run, 65_521, true).is_ok();
        if case.keeps_order() && met() { Ok(()) } else { Err(why) }
    })
}

/// Checks a case in the middle of its run, when its sources stop, and after all packets have drained.
fn attempt(case: &Case, run: u64, flows: u32, order: bool) -> Result<(), String> {
    let scenario = parse(&case.text(flows), &[]);
    let mut world = watched(&scenario, run).world;
    world.trace_mut().check_order = order;
    if case.may_sleep() {
        // Group-addressed frames sent after a DTIM overtake those that were in the hardware queue of their
        // category when a station fell asleep.
        let to_group = |flow: &Flow| std::iter::repeat_n(flow.multicast, flow.to.len()).collect::<Vec<_>>();
        world.trace_mut().unordered = scenario.flows.iter().flat_map(to_group).collect();
    }
    for ms in [37, 300] {
        run_to(&mut world, Duration::from_millis(ms))?;
    }
    // A dead path gives up every frame after a few slow tries, so hundreds of frames take minutes. The
    // network is stuck if no more packets end.
    let (mut drained, mut ended, mut ended_at) = (0, 0, 0);
    loop {
        drained += 1;
        world.run_until(Instant::ZERO + Duration::from_millis(300 + drained * 500));
        let (account, inside) = world.books().packet_account();
        if inside == 0 && world.books().charged() == 0 {
            break;
        }
        if account.created - inside > ended {
            (ended, ended_at) = (account.created - inside, drained);
        }
        if drained == 60 && !case.all_ends() {
            break;
        }
        if drained - ended_at == 240 || drained == 7200 {
            return Err(format!("{inside} packets inside, {} bytes charged", world.books().charged()));
        }
    }
    run_to(&mut world, Duration::from_millis(300 + drained * 500))?;
    // If no frame is lost on the air, all data arrives: no connection stalls.
    if case.loses_nothing_on_air() {
        let until = (1..=240).find(|n| {
            run_to(&mut world, Duration::from_millis(300 + (drained + n) * 500)).is_err()
                || world.books().tcp_senders().all(|(_, info)| info.unacked == 0 && info.notsent == 0)
        });
        if until.is_none() {
            return Err(format!("stalled: {:?}", world.books().tcp_senders().collect::<Vec<_>>()));
        }
    }
    // The reader has everything acknowledged (excluding SYN and FIN), and possibly more.
    let senders: Vec<_> = world.books().tcp_senders().collect();
    for (flow, info) in senders {
        let read = world.trace().read[flow.index()];
        if info.bytes_acked > read + 2 || info.bytes_sent - info.bytes_retrans < read {
            return Err(format!("flow {}: {read} bytes read, {info:?}", flow.0));
        }
    }
    let (account, inside) = world.books().packet_account();
    let ended = account.delivered + account.consumed + account.merged + account.dropped_total() + inside;
    if account.created == ended {
        Ok(())
    } else {
        Err(format!("{} packets created, {ended} ended", account.created))
    }
}
