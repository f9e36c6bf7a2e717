//! A Wi-Fi device's queueing scheme and its pieces.

use stillair_model::wifi::config::{
    AirtimeParams, DriverConfig, FqParams, HardwareDepth, LegacyParams, Scheduler,
};

use super::super::Scheme;
use super::super::error::{Fault, suggest};
use super::super::reader::{Field, Section};

/// A scheme as the model takes it.
pub(super) struct Choice {
    pub name: Scheme,
    pub driver: DriverConfig,
    pub hardware: HardwareDepth,
}

impl Choice {
    /// The scheme with all pieces at their defaults.
    pub(super) fn new(name: Scheme) -> Self {
        let fq = FqParams::default();
        let driver = match name {
            Scheme::Fifo | Scheme::FqCodel => DriverConfig::Legacy(LegacyParams::default()),
            Scheme::FqMac => DriverConfig::Fq(fq, Scheduler::RoundRobin),
            Scheme::Airtime => DriverConfig::Fq(fq, Scheduler::Airtime(AirtimeParams::default())),
            Scheme::AirtimeAsPrinted => {
                DriverConfig::Fq(fq, Scheduler::AirtimeAsPrinted(AirtimeParams::default()))
            }
        };
        Self { name, driver, hardware: HardwareDepth::default() }
    }
}

/// The names, as an error shows them.
pub(super) fn names() -> String {
    suggest("", &Scheme::ALL.map(|(name, _)| name))
}

/// Reads a scheme's name, or a table of `kind` and pieces.
pub(super) fn read(field: &Field<'_>) -> Result<Choice, Fault> {
    let (kind, section) = field.kind(&Scheme::ALL.map(|(name, _)| name))?;
    let name = Scheme::ALL.iter().find(|(name, _)| *name == kind).map_or(Scheme::Fifo, |(_, scheme)| *scheme);
    let mut choice = Choice::new(name);
    let Some(mut section) = section else { return Ok(choice) };
    match &mut choice.driver {
        DriverConfig::Legacy(legacy) => {
            legacy.qlen = section.or("qlen", legacy.qlen, |f| f.integer(1..=100_000))?
        }
        DriverConfig::Fq(fq, scheduler) => {
            match scheduler {
                Scheduler::RoundRobin => {}
                Scheduler::Airtime(airtime) | Scheduler::AirtimeAsPrinted(airtime) => {
                    pieces(&mut section, airtime)?
                }
            }
            queues(&mut section, fq)?;
        }
    }
    let depth = &mut choice.hardware;
    depth.aggregates = section.or("hw_aggregates", depth.aggregates, |f| f.integer(1..=64))?;
    depth.singles = section.or("hw_singles", depth.singles, |f| f.integer(1..=512))?;
    section.finish()?;
    Ok(choice)
}

fn pieces(section: &mut Section<'_>, p: &mut AirtimeParams) -> Result<(), Fault> {
    p.sparse = section.or("sparse", p.sparse, Field::boolean)?;
    p.charge_tx = section.or("charge_tx", p.charge_tx, Field::boolean)?;
    p.charge_rx = section.or("charge_rx", p.charge_rx, Field::boolean)?;
    p.quantum = section.or("quantum", p.quantum, Field::period)?;
    Ok(())
}

fn queues(section: &mut Section<'_>, p: &mut FqParams) -> Result<(), Fault> {
    p.codel.target = section.or("target", p.codel.target, Field::period)?;
    p.codel.interval = section.or("interval", p.codel.interval, Field::period)?;
    p.codel.ecn = section.or("ecn", p.codel.ecn, Field::boolean)?;
    p.codel_slow.target = section.or("slow_target", p.codel_slow.target, Field::period)?;
    p.codel_slow.interval = section.or("slow_interval", p.codel_slow.interval, Field::period)?;
    p.codel_slow.ecn = section.or("slow_ecn", p.codel_slow.ecn, Field::boolean)?;
    p.slow_below = section.or("slow_below", p.slow_below, Field::rate)?;
    p.hysteresis = section.or("hysteresis", p.hysteresis, Field::duration)?;
    p.flows = section.or("flows", p.flows, |f| f.integer(1..=65_536))?;
    p.limit = section.or("limit", p.limit, |f| f.integer(1..=1_000_000))?;
    p.memory_limit = section.or("memory_limit", p.memory_limit, |f| f.bytes(4096..=1 << 30))?;
    p.quantum = section.or("fq_quantum", p.quantum, |f| f.bytes(1..=1 << 20))?;
    Ok(())
}
