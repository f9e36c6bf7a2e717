//! Counters of queueing disciplines, as `tc -s qdisc` shows them.

use stillair_model::node::interface::TxQueue;
use stillair_model::qdisc::{Qdisc, QdiscStats, Xstats};
use stillair_model::types::{Ac, IfId};

use super::Accounts;

/// The counters of one discipline over the whole run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QdiscCounters {
    /// The interface of the discipline.
    pub interface: IfId,
    /// Path below the root: empty for the root, `/BE` for an access category under mq, `/child` for the
    /// discipline of a class.
    pub path: String,
    /// Kind of the discipline, such as `fq_codel`.
    pub kind: String,
    /// Common counters.
    pub stats: QdiscStats,
    /// Packets and bytes queued at present, including packets that the device rejected.
    pub backlog: (u64, u64),
    /// Counters of this kind of discipline alone.
    pub own: Xstats,
}

impl<'a, S> Accounts<'a, S> {
    /// The disciplines of all interfaces in order, each before the disciplines inside it. Disciplines under
    /// mq that received no packet are left out.
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

// linux: net/sched/sch_mq.c mq_dump (4.4) - the sum of its children.
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

/// A queue's discipline and those inside it.
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
