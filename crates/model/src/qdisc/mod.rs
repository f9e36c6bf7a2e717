//! Queueing disciplines with the names, options and defaults of tc.
//!
//! A qdisc owns its packets and frees those that it drops, with a reason and its place. Queues hold skbs: a
//! packet may have several segments and counts once.

pub mod aqm;
mod bucket;
pub mod cake;
pub mod codel;
pub mod custom;
mod emptied;
pub mod fifo;
pub mod fq;
pub mod fq_aqm;
pub mod fq_codel;
pub mod htb;
pub mod netem;
pub mod pfifo_fast;
pub mod pie;
pub mod sfq;
pub mod tbf;

use crate::types::{Ctx, Instant, Packet, Pkt, PlaceId, RandomStream, Sink, skb_len};
use alloc::boxed::Box;
use alloc::vec::Vec;
use aqm::AqmQdisc;
use cake::Cake;
use codel::CodelQdisc;
use custom::CustomQdisc;
pub use emptied::empty;
use fifo::Fifo;
use fq::Fq;
use fq_aqm::FqAqm;
use fq_codel::FqCodel;
use htb::Htb;
use netem::Netem;
use pfifo_fast::PfifoFast;
use pie::Pie;
use sfq::Sfq;
use tbf::Tbf;

/// The qdisc of an interface, with its options.
#[derive(Clone, PartialEq, Debug)]
pub enum QdiscConfig {
    /// pfifo, bfifo: one queue, limited in packets or in bytes.
    Fifo(fifo::FifoParams),
    /// pfifo_fast: three strict-priority bands.
    PfifoFast(pfifo_fast::PfifoFastParams),
    /// codel: one queue with CoDel.
    Codel(codel::CodelQdiscParams),
    /// cake: shaper, priorities, fair queueing and COBALT.
    Cake(cake::CakeParams),
    /// fq_codel: fair queueing with CoDel.
    FqCodel(fq_codel::FqCodelParams),
    /// pie: one queue with PIE.
    Pie(pie::PieQdiscParams),
    /// fq: fair queueing with departure times.
    Fq(fq::FqParams),
    /// sfq: stochastic fairness queueing.
    Sfq(sfq::SfqParams),
    /// htb: a hierarchical token bucket over another qdisc.
    Htb(htb::HtbParams),
    /// tbf: one or two token buckets over another qdisc.
    Tbf(tbf::TbfParams),
    /// netem: an emulated network, optionally with a child qdisc that receives packets when their departure
    /// time has come.
    Netem(netem::NetemParams, Option<Box<QdiscConfig>>),
    /// One queue with a user-defined AQM algorithm.
    Aqm(aqm::AqmParams),
    /// Fair queueing with a user-defined AQM algorithm on each flow.
    FqAqm(fq_aqm::FqAqmParams),
    /// A user-defined discipline.
    Custom(custom::DisciplineFactory),
    /// noqueue: packets go straight to the device.
    Noqueue,
}

impl QdiscConfig {
    /// Name in tc. A user-defined discipline has its registered name.
    pub fn kind(&self) -> &str {
        match self {
            Self::Fifo(params) => params.name(),
            Self::PfifoFast(_) => "pfifo_fast",
            Self::Codel(_) => "codel",
            Self::Cake(_) => "cake",
            Self::FqCodel(_) => "fq_codel",
            Self::Pie(_) => "pie",
            Self::Fq(_) => "fq",
            Self::Sfq(_) => "sfq",
            Self::Htb(_) => "htb",
            Self::Tbf(_) => "tbf",
            Self::Netem(..) => "netem",
            Self::Aqm(params) => params.aqm.name(),
            Self::FqAqm(params) => &params.name,
            Self::Custom(own) => own.name(),
            Self::Noqueue => "noqueue",
        }
    }

    /// Returns true if the qdisc paces the sockets above it (`SK_PACING_FQ`).
    pub fn paces(&self) -> bool {
        match self {
            Self::Fq(params) => params.pacing,
            Self::Htb(params) => params.child.paces(),
            Self::Tbf(params) => params.child.paces(),
            _ => false,
        }
    }
}

/// Result of an enqueue for a local sender. `Congested` and `Dropped` make its TCP enter CWR.
// linux: include/linux/netdevice.h NET_XMIT_* (4.6), and net/ipv4/tcp_output.c tcp_transmit_skb for the
// consequences.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub enum Enqueue {
    /// The packet was queued. If other packets were dropped, they were in other queues (`NET_XMIT_SUCCESS`).
    Queued,
    /// A packet of the same queue was dropped, perhaps this one (`NET_XMIT_CN`).
    Congested,
    /// The packet was refused and freed (`NET_XMIT_DROP`).
    Dropped,
}

/// Earliest time at which a qdisc may have a packet to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NextSend {
    /// Only after another packet is enqueued.
    Never,
    /// Now.
    Now,
    /// At this time, unless a packet is enqueued before.
    At(Instant),
}

/// The common qdisc counters, as `tc -s qdisc` prints them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct QdiscStats {
    /// Bytes sent, including Ethernet headers.
    pub bytes: u64,
    /// Segments sent.
    pub packets: u64,
    /// Packets dropped, for any reason.
    pub drops: u64,
    /// Times a rate limit held a packet back.
    pub overlimits: u64,
    /// Packets put back at the head.
    pub requeues: u64,
}

impl QdiscStats {
    /// Counts a departing packet.
    // linux: include/net/sch_generic.h bstats_update (4.6) - counts segments.
    #[inline]
    pub fn sent(&mut self, p: &Packet) {
        self.bytes += u64::from(skb_len(p));
        self.packets += u64::from(p.segs);
    }
}

/// Counters specific to a kind of qdisc, which `tc -s qdisc` prints below the common ones.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Xstats {
    /// No specific counters.
    None,
    /// Counters of codel.
    Codel(codel::CodelQdiscStats),
    /// Counters of cake, by tin.
    Cake(cake::CakeStats),
    /// Counters of fq_codel.
    FqCodel(fq_codel::FqCodelStats),
    /// Counters of pie.
    Pie(pie::PieStats),
    /// Counters of fq.
    Fq(fq::FqStats),
    /// Counters of htb's class.
    Htb(htb::HtbStats),
    /// Counters of a user-defined discipline, by name.
    Custom(Vec<(&'static str, u64)>),
}

/// A queueing discipline.
#[derive(Debug)]
pub enum Qdisc {
    /// pfifo or bfifo: one queue.
    Fifo(Fifo),
    /// pfifo_fast: three strict-priority bands.
    PfifoFast(PfifoFast),
    /// codel: one queue with CoDel.
    Codel(Box<CodelQdisc>),
    /// cake: shaper, priorities, fair queueing and COBALT.
    Cake(Box<Cake>),
    /// fq_codel: fair queueing with CoDel.
    FqCodel(Box<FqCodel>),
    /// pie: one queue with PIE.
    Pie(Box<Pie>),
    /// fq: fair queueing with departure times.
    Fq(Box<Fq>),
    /// sfq: stochastic fairness queueing.
    Sfq(Box<Sfq>),
    /// htb: a hierarchical token bucket over another qdisc.
    Htb(Box<Htb>),
    /// tbf: one or two token buckets over another qdisc.
    Tbf(Box<Tbf>),
    /// netem: an emulated network.
    Netem(Box<Netem>),
    /// One queue with a user-defined AQM algorithm.
    Aqm(Box<AqmQdisc>),
    /// Fair queueing with a user-defined AQM algorithm.
    FqAqm(Box<FqAqm>),
    /// A user-defined discipline.
    Custom(Box<CustomQdisc>),
}

macro_rules! each {
    ($self:expr, $q:ident => $do:expr) => {
        match $self {
            Self::Fifo($q) => $do,
            Self::PfifoFast($q) => $do,
            Self::Codel($q) => $do,
            Self::Cake($q) => $do,
            Self::FqCodel($q) => $do,
            Self::Pie($q) => $do,
            Self::Fq($q) => $do,
            Self::Sfq($q) => $do,
            Self::Htb($q) => $do,
            Self::Tbf($q) => $do,
            Self::Netem($q) => $do,
            Self::Aqm($q) => $do,
            Self::FqAqm($q) => $do,
            Self::Custom($q) => $do,
        }
    };
}

impl Qdisc {
    /// Creates the qdisc for `config`, or returns `None` for `noqueue`. Drops are recorded at `place`.
    /// `stream` is the qdisc's random stream. Panics on options that the scenario reader rejects.
    pub fn new(config: &QdiscConfig, place: PlaceId, stream: &mut RandomStream) -> Option<Self> {
        match config {
            QdiscConfig::Fifo(params) => Some(Self::Fifo(Fifo::new(*params, place))),
            QdiscConfig::PfifoFast(params) => Some(Self::PfifoFast(PfifoFast::new(*params, place))),
            QdiscConfig::Codel(params) => Some(Self::Codel(Box::new(CodelQdisc::new(*params, place)))),
            QdiscConfig::Cake(params) => Some(Self::Cake(Box::new(Cake::new(*params, place, stream)))),
            QdiscConfig::FqCodel(params) => {
                Some(Self::FqCodel(Box::new(FqCodel::new(*params, place, stream.bits()))))
            }
            QdiscConfig::Pie(params) => Some(Self::Pie(Box::new(Pie::new(*params, place, stream.split())))),
            QdiscConfig::Fq(params) => Some(Self::Fq(Box::new(Fq::new(*params, place)))),
            QdiscConfig::Sfq(params) => Some(Self::Sfq(Box::new(Sfq::new(*params, place, stream.split())))),
            QdiscConfig::Htb(params) => {
                let child = Self::new(&params.child, place, stream).expect("a class has a discipline");
                Some(Self::Htb(Box::new(Htb::new(params, child))))
            }
            QdiscConfig::Tbf(params) => {
                let child = Self::new(&params.child, place, stream).expect("a bucket has a discipline");
                Some(Self::Tbf(Box::new(Tbf::new(params, child, place))))
            }
            QdiscConfig::Netem(params, child) => {
                let child = child.as_ref();
                let child = child.map(|child| Self::new(child, place, stream).expect("a discipline"));
                Some(Self::Netem(Box::new(Netem::new(*params, child, place, stream.split()))))
            }
            QdiscConfig::Aqm(params) => {
                Some(Self::Aqm(Box::new(AqmQdisc::new(params, place, stream.split()))))
            }
            QdiscConfig::FqAqm(params) => Some(Self::FqAqm(Box::new(FqAqm::new(params, place, stream)))),
            QdiscConfig::Custom(own) => {
                Some(Self::Custom(Box::new(CustomQdisc::new(own, place, stream.split()))))
            }
            QdiscConfig::Noqueue => None,
        }
    }

    /// Changes the parameters as `tc qdisc change` does, keeping the packets: rates of htb, tbf and cake, all
    /// parameters of netem, the limit of a fifo. Returns false and changes nothing if `from`, the current
    /// parameters, and `to` differ in anything else.
    pub fn change(&mut self, from: &QdiscConfig, to: &QdiscConfig) -> bool {
        if from == to {
            return true;
        }
        match (self, from, to) {
            (Self::Fifo(fifo), QdiscConfig::Fifo(from), QdiscConfig::Fifo(to))
                if from.name() == to.name() =>
            {
                fifo.change(*to);
            }
            (Self::Netem(netem), QdiscConfig::Netem(_, from), QdiscConfig::Netem(params, to))
                if from == to =>
            {
                netem.change(*params);
            }
            (Self::Tbf(tbf), QdiscConfig::Tbf(from), QdiscConfig::Tbf(to)) => {
                if !tbf.child_mut().change(&from.child, &to.child) {
                    return false;
                }
                tbf.change(to);
            }
            (Self::Htb(htb), QdiscConfig::Htb(from), QdiscConfig::Htb(to)) => {
                if !htb.child_mut().change(&from.child, &to.child) {
                    return false;
                }
                htb.change(to);
            }
            (Self::Cake(cake), QdiscConfig::Cake(from), QdiscConfig::Cake(to)) => {
                if *from != (cake::CakeParams { bandwidth: from.bandwidth, ..*to }) {
                    return false;
                }
                cake.change(to.bandwidth);
            }
            _ => return false,
        }
        true
    }

    /// The child qdisc, if there is one.
    pub fn child(&self) -> Option<&Self> {
        match self {
            Self::Htb(htb) => Some(htb.child()),
            Self::Tbf(tbf) => Some(tbf.child()),
            Self::Netem(netem) => netem.child(),
            Self::Fifo(_)
            | Self::PfifoFast(_)
            | Self::Codel(_)
            | Self::Cake(_)
            | Self::FqCodel(_)
            | Self::Pie(_)
            | Self::Fq(_)
            | Self::Sfq(_)
            | Self::Aqm(_)
            | Self::FqAqm(_)
            | Self::Custom(_) => None,
        }
    }

    /// The first packet, for qdiscs in which only enqueue and dequeue change it. `None` for all others.
    #[inline]
    fn head(&self) -> Option<Pkt> {
        match self {
            Self::Fifo(q) => q.head(),
            _ => None,
        }
    }

    /// Returns true if the qdisc may hold packets back. Only then does [`Qdisc::next`] return
    /// [`NextSend::At`].
    pub const fn holds_back(&self) -> bool {
        matches!(
            self,
            Self::Cake(_) | Self::Htb(_) | Self::Tbf(_) | Self::Netem(_) | Self::Fq(_) | Self::Custom(_)
        )
    }

    /// Returns true if another enqueue cannot move the qdisc's next departure. False if each flow has its own
    /// departure time.
    #[inline]
    pub fn holds_back_all(&self) -> bool {
        matches!(self, Self::Htb(htb) if !htb.child().holds_back())
    }

    /// Name in tc. A user-defined discipline has its registered name.
    pub fn kind(&self) -> &str {
        match self {
            Self::Fifo(q) => q.params().name(),
            Self::PfifoFast(_) => "pfifo_fast",
            Self::Codel(_) => "codel",
            Self::Cake(_) => "cake",
            Self::FqCodel(_) => "fq_codel",
            Self::Pie(_) => "pie",
            Self::Fq(_) => "fq",
            Self::Sfq(_) => "sfq",
            Self::Htb(_) => "htb",
            Self::Tbf(_) => "tbf",
            Self::Netem(_) => "netem",
            Self::Aqm(q) => q.name(),
            Self::FqAqm(q) => q.name(),
            Self::Custom(q) => q.name(),
        }
    }

    /// Accepts or drops a packet. Dropped packets, this one or another, are freed before `enqueue` returns.
    #[inline]
    pub fn enqueue<S: Sink>(&mut self, now: Instant, p: Pkt, ctx: &mut Ctx<'_, S>) -> Enqueue {
        each!(self, q => q.enqueue(now, p, ctx))
    }

    /// Returns true if a new packet may bypass the qdisc, because the qdisc is empty and would have accepted
    /// the packet. The packet counts as sent, but flows and AQMs do not see it.
    // linux: net/core/dev.c __dev_xmit_skb, TCQ_F_CAN_BYPASS (4.4) - lets packets bypass pfifo, bfifo,
    // pfifo_fast, codel, fq_codel and sfq.
    #[inline(always)]
    pub fn pass(&mut self, p: &Packet) -> bool {
        match self {
            Self::Fifo(q) => q.pass(p),
            Self::PfifoFast(q) => q.pass(p),
            Self::Codel(q) => q.pass(p),
            Self::FqCodel(q) => q.pass(p),
            Self::Sfq(q) => q.pass(p),
            Self::Cake(_) | Self::Pie(_) | Self::Fq(_) | Self::Htb(_) | Self::Tbf(_) | Self::Netem(_) => {
                false
            }
            Self::Aqm(_) | Self::FqAqm(_) | Self::Custom(_) => false,
        }
    }

    /// Returns the next packet, if one may leave now.
    #[inline]
    pub fn dequeue<S: Sink>(&mut self, now: Instant, ctx: &mut Ctx<'_, S>) -> Option<Pkt> {
        each!(self, q => q.dequeue(now, ctx))
    }

    /// Reports when to call `dequeue` next.
    #[inline]
    pub fn next(&self, now: Instant) -> NextSend {
        match self {
            Self::Cake(q) => q.next(now),
            Self::Htb(q) => q.next(now),
            Self::Tbf(q) => q.next(now),
            Self::Netem(q) => q.next(now),
            Self::Fq(q) => q.next(now),
            Self::Custom(q) => q.next(now),
            Self::Fifo(_)
            | Self::PfifoFast(_)
            | Self::Codel(_)
            | Self::FqCodel(_)
            | Self::Pie(_)
            | Self::Sfq(_)
            | Self::Aqm(_)
            | Self::FqAqm(_) => {
                if self.backlog().0 > 0 {
                    NextSend::Now
                } else {
                    NextSend::Never
                }
            }
        }
    }

    /// Number of packets and bytes queued.
    #[inline]
    pub fn backlog(&self) -> (u32, u64) {
        each!(self, q => q.backlog())
    }

    /// The counters specific to this kind of qdisc.
    pub fn xstats(&self) -> Xstats {
        match self {
            Self::Codel(q) => Xstats::Codel(q.xstats()),
            Self::Cake(q) => Xstats::Cake(q.xstats()),
            Self::FqCodel(q) => Xstats::FqCodel(q.xstats()),
            Self::Pie(q) => Xstats::Pie(q.xstats()),
            Self::Fq(q) => Xstats::Fq(q.xstats()),
            Self::Htb(q) => Xstats::Htb(q.xstats()),
            Self::Aqm(q) => Xstats::Custom(q.counters()),
            Self::FqAqm(q) => Xstats::Custom(q.counters()),
            Self::Custom(q) => Xstats::Custom(q.counters()),
            _ => Xstats::None,
        }
    }

    /// The common qdisc counters.
    pub fn stats(&self) -> QdiscStats {
        each!(self, q => q.stats())
    }
}

#[cfg(test)]
mod tests;
