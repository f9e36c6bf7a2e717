//! Qdisc counters, as in `tc -s qdisc`.

use stillair_model::node::interface::TxQueue;
use stillair_model::qdisc::{Qdisc, QdiscStats, Xstats};
use stillair_model::types::{Ac, IfId};

use super::Accounts;

/// Counters of one qdisc over the whole run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QdiscCounters {
    /// Interface of the qdisc.
    pub interface: IfId,
    /// Path below the root: empty for the root, `/BE` for an access category under mq, `/child` for the qdisc
    /// of a class.
    pub path: String,
    /// Kind of the qdisc, such as `fq_codel`.
    pub kind: String,
    /// Common counters.
    pub stats: QdiscStats,
    /// Packets and bytes in the queue, including packets that the device has rejected.
    pub backlog: (u64, u64),
    /// Counters specific to this kind of qdisc.
    pub own: Xstats,
}

impl<'a, S> Accounts<'a, S> {
    /// Returns the qdiscs of all interfaces in order, each before its inner qdiscs. Qdiscs under mq that
    /// received no packet are omitted.
    pub fn qdiscs(self) -> Vec<QdiscCounters> {
        let mut all = Vec::new();
        for (n, (tx, _)) in self.network.interfaces().enumerate() {
            let id = IfId::from_index(n);
            let queues: Vec<&TxQueue> = tx.iter().collect();
            match queues.as_slice() {
                [] => {}
                [root] => add(&mut all, id, String::new(), root),
                per_category => {
                    all.push(sum(id, per_category));
                    for (ac, queue) in Ac::ALL.into_iter().zip(per_category) {
                        if queue.stats() != QdiscStats::default() || queue.held() > 0 {
                            add(&mut all, id, format!("/{}", ac.name()), queue);
                        }
                    }
                }
            }
        }
        all
    }
}

// linux: net/sched/sch_mq.c mq_dump (4.4) - adds up the counters of its children.
fn sum(interface: IfId, queues: &[&TxQueue]) -> QdiscCounters {
    let mut all = QdiscCounters {
        interface,
        path: String::new(),
        kind: "mq".to_owned(),
        stats: QdiscStats::default(),
        backlog: (0, 0),
        own: Xstats::None,
    };
    for queue in queues {
        let (s, (packets, bytes)) = (queue.stats(), queue.backlog());
        all.stats.bytes += s.bytes;
        all.stats.packets += s.packets;
        all.stats.drops += s.drops;
        all.stats.overlimits += s.overlimits;
        all.stats.requeues += s.requeues;
        all.backlog = (all.backlog.0 + packets, all.backlog.1 + bytes);
    }
    all
}

/// Adds a queue's qdisc and its inner qdiscs.
fn add(all: &mut Vec<QdiscCounters>, interface: IfId, path: String, queue: &TxQueue) {
    let kind = queue.qdisc().kind().to_owned();
    let mut inside: Option<&Qdisc> = queue.qdisc().child();
    let mut below = path.clone();
    let (stats, backlog, own) = (queue.stats(), queue.backlog(), queue.qdisc().xstats());
    all.push(QdiscCounters { interface, path, kind, stats, backlog, own });
    while let Some(qdisc) = inside {
        below.push_str("/child");
        let (packets, bytes) = qdisc.backlog();
        all.push(QdiscCounters {
            interface,
            path: below.clone(),
            kind: qdisc.kind().to_owned(),
            stats: qdisc.stats(),
            backlog: (u64::from(packets), bytes),
            own: qdisc.xstats(),
        });
        inside = qdisc.child();
    }
}
