//! An interface's queueing discipline: the one given, or the default of the device.

use stillair_model::qdisc::QdiscConfig;
use stillair_model::qdisc::fifo::FifoParams;
use stillair_model::qdisc::fq_codel::FqCodelParams;
use stillair_model::qdisc::pfifo_fast::PfifoFastParams;

use super::super::error::{Fault, suggest};
use super::super::reader::{Field, Section};
use super::super::{Profile, QdiscSpec, Scheme};

/// Bytes that a full packet needs in a bfifo.
// deviation: a smaller limit is refused - a queue that takes no full packet is a mistake, which tc does not catch.
const MIN_BFIFO: u32 = 1514;

/// What decides an interface's defaults.
pub(super) struct Device<'a> {
    pub profile: &'a Profile,
    pub txqueuelen: u32,
    /// None for a wired device.
    pub scheme: Option<Scheme>,
}

impl Device<'_> {
    fn pfifo_fast(&self) -> QdiscConfig {
        let limit_per_band = self.profile.pfifo_fast_limit_per_band;
        QdiscConfig::PfifoFast(PfifoFastParams { limit: self.txqueuelen, limit_per_band })
    }

    fn fq_codel(&self) -> FqCodelParams {
        FqCodelParams {
            memory_limit: self.profile.fq_codel_memory_limit,
            drop_batch: self.profile.fq_codel_drop_batch,
            overlimit_raises_count: self.profile.fq_codel_overlimit_raises_count,
            ..FqCodelParams::default()
        }
    }

    /// The MAC queues and never stops its qdisc.
    fn mac_queues(&self) -> bool {
        matches!(self.scheme, Some(Scheme::FqMac | Scheme::Airtime | Scheme::AirtimeAsPrinted))
    }

    // linux: net/sched/sch_generic.c attach_default_qdiscs (4.4) - pfifo_fast, under mq where the device has
    // several queues; a Wi-Fi device has one for each access category, and none needs a discipline where the
    // MAC queues.
    fn default_qdisc(&self) -> QdiscSpec {
        match self.scheme {
            None => QdiscSpec { mq: false, config: self.pfifo_fast() },
            Some(Scheme::Fifo) => QdiscSpec { mq: true, config: self.pfifo_fast() },
            Some(Scheme::FqCodel) => QdiscSpec { mq: true, config: QdiscConfig::FqCodel(self.fq_codel()) },
            Some(Scheme::FqMac | Scheme::Airtime | Scheme::AirtimeAsPrinted) => {
                QdiscSpec { mq: false, config: QdiscConfig::Noqueue }
            }
        }
    }
}

/// Names of the disciplines.
const KINDS: [&str; 5] = ["pfifo_fast", "pfifo", "bfifo", "fq_codel", "noqueue"];

/// Reads `qdisc`: a name, or a table of `kind` and tc's options.
pub(super) fn read(section: &mut Section<'_>, device: &Device<'_>) -> Result<QdiscSpec, Fault> {
    let Some(field) = section.get("qdisc") else { return Ok(device.default_qdisc()) };
    let (kind, mut section) = field.kind(&KINDS)?;
    let config = match kind {
        "noqueue" if device.mac_queues() => QdiscConfig::Noqueue,
        "noqueue" => {
            let found = "\"noqueue\" over a device that stops its queue";
            return Err(field.found(found, suggest("", &KINDS[..KINDS.len() - 1])));
        }
        "pfifo" | "bfifo" => QdiscConfig::Fifo(fifo(section.as_mut(), kind, device.txqueuelen)?),
        "fq_codel" => QdiscConfig::FqCodel(fq_codel(section.as_mut(), device.fq_codel())?),
        _ => device.pfifo_fast(),
    };
    let mut mq = device.scheme.is_some() && config != QdiscConfig::Noqueue;
    if let Some(mut section) = section {
        if mq {
            mq = section.or("mq", true, Field::boolean)?;
        }
        section.finish()?;
    }
    Ok(QdiscSpec { mq, config })
}

fn fifo(section: Option<&mut Section<'_>>, kind: &str, txqueuelen: u32) -> Result<FifoParams, Fault> {
    let default = if kind == "pfifo" { FifoParams::pfifo(txqueuelen) } else { FifoParams::bfifo(txqueuelen) };
    let Some(section) = section else { return Ok(default) };
    section.or("limit", default, |f| {
        Ok(match default {
            FifoParams::Packets(_) => FifoParams::Packets(f.integer(1..=1_000_000)?),
            FifoParams::Bytes(_) => FifoParams::Bytes(f.bytes(MIN_BFIFO..=1 << 30)?),
        })
    })
}

fn fq_codel(section: Option<&mut Section<'_>>, mut p: FqCodelParams) -> Result<FqCodelParams, Fault> {
    let Some(section) = section else { return Ok(p) };
    p.limit = section.or("limit", p.limit, |f| f.integer(1..=1_000_000))?;
    p.flows = section.or("flows", p.flows, |f| f.integer(1..=65_536))?;
    // linux: net/sched/sch_fq_codel.c fq_codel_change (4.6) - a quantum below 256 is raised to it (recalled).
    // deviation: refused - a value that is not used should not be in a scenario.
    p.quantum = section.or("quantum", p.quantum, |f| f.bytes(256..=1 << 20))?;
    p.memory_limit = section.or("memory_limit", p.memory_limit, |f| f.bytes(4096..=1 << 30))?;
    p.drop_batch = section.or("drop_batch", p.drop_batch, |f| f.integer(1..=1_000_000))?;
    p.codel.target = section.or("target", p.codel.target, Field::period)?;
    p.codel.interval = section.or("interval", p.codel.interval, Field::period)?;
    p.codel.ecn = section.or("ecn", p.codel.ecn, Field::boolean)?;
    Ok(p)
}
