//! Packet delays by layer and cause, from the recorder and from a simple follower that scans all records for
//! each packet. Both must agree on any scenario.

mod common;
#[path = "sojourn/follower.rs"]
mod follower;

use common::random::{FLOWS, case};
use follower::Follower;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngSeed, TestRunner};
use stillair_model::types::{Instant, Packets, Seed, Sink, Step, TraceEvent};
use stillair_sim::recorder::{Cells, SojournWorld};
use stillair_sim::run::{Followed, follow};
use stillair_sim::scenario::Scenario;
use stillair_sim::world::wire;

/// Both, and the first packet on which they disagree.
struct Both {
    recorder: Followed,
    follower: Follower,
    compared: u64,
    differs: Option<String>,
}

impl Both {
    fn new(scenario: &Scenario, recorder: stillair_sim::recorder::Recorder) -> Self {
        let Followed(recorder, sojourn) = follow(scenario)(recorder);
        let world: SojournWorld = sojourn.world().clone();
        let recorder = Followed(recorder, sojourn.keeping_last());
        Self { recorder, follower: Follower::new(world), compared: 0, differs: None }
    }
}

impl Sink for Both {
    const STEPS: bool = true;

    fn event(&mut self, now: Instant, what: &TraceEvent) {
        self.recorder.event(now, what);
    }

    fn step(&mut self, now: Instant, packets: &Packets, what: &Step<'_>) {
        self.recorder.step(now, packets, what);
        let slow = self.follower.step(now, packets, what);
        if let Step::Delivered { .. } = what {
            let fast = self.recorder.1.take_last();
            self.compared += 1;
            if fast != slow && self.differs.is_none() {
                let show = |cells: Option<Cells>| cells.map(|cells| cells.show());
                self.differs = Some(format!("at {now:?} {what:?}\n{:?}\n{:?}", show(fast), show(slow)));
            }
        }
    }
}

/// Returns the number of packets compared in a run.
fn compare(scenario: &Scenario, run: u64) -> Result<u64, String> {
    let seed = Seed { seed: scenario.seed, run };
    let mut world = wire(scenario, seed, |recorder| Both::new(scenario, recorder)).world;
    let end = Instant::ZERO + scenario.duration;
    world.run_until(end);
    world.close(end)?;
    let both = world.trace_mut();
    if let Some(problem) = both.recorder.1.problem() {
        return Err(problem.to_owned());
    }
    both.differs.take().map_or(Ok(both.compared), Err)
}

/// Number of random cases, which the environment can increase.
fn cases() -> u32 {
    std::env::var("STILLAIR_SOJOURN_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(60)
}

#[test]
fn recorder_agrees_with_the_follower() {
    let config = Config { rng_seed: RngSeed::Fixed(30), ..Config::default() };
    let mut runner = TestRunner::new(config);
    let (mut packets, mut wrong) = (0, Vec::new());
    for n in 0..cases() {
        let tree = (case(), 0_u64..4).new_tree(&mut runner).expect("a case");
        let (case, run) = tree.current();
        let text = case.text(FLOWS);
        match compare(&common::parse(&text, &[]), run) {
            Ok(compared) => packets += compared,
            Err(says) => wrong.push(format!("case {n}: {says}\n{text}")),
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} cases: {}",
        wrong.len(),
        cases(),
        wrong[..wrong.len().min(12)].join("\n")
    );
    assert!(packets > 100 * u64::from(cases()), "{packets} packets are few");
    println!("{packets} packets of {} cases", cases());
}
