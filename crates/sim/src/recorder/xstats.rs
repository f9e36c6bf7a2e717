//! Counters specific to one kind of qdisc, named as in `tc -s -j qdisc`.

use serde_json::{Map, Value, json};
use stillair_model::qdisc::Xstats;
use stillair_model::qdisc::cake::{CakeStats, CakeTinStats, Span};
use stillair_model::qdisc::codel::CodelQdiscStats;
use stillair_model::qdisc::fq::FqStats;
use stillair_model::qdisc::fq_codel::FqCodelStats;
use stillair_model::qdisc::htb::HtbStats;
use stillair_model::qdisc::pie::PieStats;
use stillair_model::types::{Duration, Instant, Rate};

/// Returns the counters by name at `now`. Names include the unit if there is one: `_us` for latencies as in
/// `tc`, `_ns`, `_bps` for bit/s. PIE's `avg_dq_rate` is in bytes per second, and HTB's `tokens` and
/// `ctokens` are in units of 64 ns. CAKE's tins are keyed by name, so that they can be compared between runs.
pub fn named(own: &Xstats, now: Instant) -> Map<String, Value> {
    let value = match own {
        Xstats::None => return Map::new(),
        Xstats::Codel(stats) => codel(stats, now),
        Xstats::FqCodel(stats) => fq_codel(stats),
        Xstats::Cake(stats) => cake(stats),
        Xstats::Pie(stats) => pie(stats),
        Xstats::Fq(stats) => fq(stats, now),
        Xstats::Htb(stats) => htb(stats),
        Xstats::Custom(counters) => {
            return counters.iter().map(|&(name, n)| (name.to_owned(), n.into())).collect();
        }
    };
    let Value::Object(map) = value else { unreachable!("each writes an object") };
    map
}

fn us(time: Duration) -> u64 {
    time.nanos() / 1000
}

// linux: iproute2 tc/q_codel.c codel_print_xstats (6.1) - prints the time until the next drop, which may be
// negative.
fn codel(s: &CodelQdiscStats, now: Instant) -> Value {
    json!({
        "count": s.count,
        "lastcount": s.lastcount,
        "ldelay_us": us(s.ldelay),
        "drop_next_us": s.drop_next.map(|at| from_now(at, now) / 1000),
        "maxpacket": s.maxpacket,
        "ecn_mark": s.ecn_mark,
        "drop_overlimit": s.drop_overlimit,
    })
}

/// Returns the time until `at` in ns, negative if it has passed.
fn from_now(at: Instant, now: Instant) -> i64 {
    at.saturating_since(now).nanos() as i64 - now.saturating_since(at).nanos() as i64
}

// linux: iproute2 tc/q_pie.c pie_print_xstats (6.1).
fn pie(s: &PieStats) -> Value {
    json!({
        "prob": s.prob as f64 / u64::MAX as f64,
        "delay_us": us(s.delay),
        "avg_dq_rate": s.avg_dq_rate,
        "pkts_in": s.packets_in,
        "overlimit": s.overlimit,
        "dropped": s.dropped,
        "maxq": s.maxq,
        "ecn_mark": s.ecn_mark,
    })
}

// linux: iproute2 tc/q_fq.c fq_print_xstats (6.1).
fn fq(s: &FqStats, now: Instant) -> Value {
    json!({
        "flows": s.flows,
        "inactive": s.inactive,
        "throttled_flows": s.throttled_flows,
        "next_packet_delay_ns": s.next_look.map(|at| from_now(at, now)),
        "gc": s.gc,
        "highprio": s.highprio,
        "throttled": s.throttled,
        "latency_ns": s.latency.nanos(),
        "ce_mark": s.ce_mark,
        "flows_plimit": s.flows_plimit,
        "pkts_too_long": s.pkts_too_long,
        "horizon_drops": s.horizon_drops,
        "horizon_caps": s.horizon_caps,
    })
}

// linux: iproute2 tc/q_htb.c htb_print_xstats, net/sched/sch_htb.c htb_dump_class_stats (6.1) - prints tokens
// in units of 64 ns.
fn htb(s: &HtbStats) -> Value {
    json!({ "class_drops": s.drops, "lended": s.lended, "tokens": s.tokens >> 6, "ctokens": s.ctokens >> 6 })
}

// linux: iproute2 tc/q_fq_codel.c fq_codel_print_xstats (6.1).
fn fq_codel(s: &FqCodelStats) -> Value {
    json!({
        "maxpacket": s.maxpacket,
        "drop_overlimit": s.drop_overlimit,
        "drop_overmemory": s.drop_overmemory,
        "new_flow_count": s.new_flow_count,
        "ecn_mark": s.ecn_mark,
        "new_flows_len": s.new_flows_len,
        "old_flows_len": s.old_flows_len,
        "memory_used": s.memory_used,
    })
}

// linux: iproute2 tc/q_cake.c cake_print_xstats, cake_print_json_tin (6.1).
fn cake(s: &CakeStats) -> Value {
    let tins: Map<String, Value> = s.tins.iter().map(|t| (t.name.to_owned(), tin(t))).collect();
    json!({
        "memory_used": s.memory_used,
        "memory_limit": s.memory_limit,
        "capacity_estimate_bps": s.capacity_estimate.map(Rate::bps),
        "min_network_size": least(s.network_size),
        "max_network_size": s.network_size.max,
        "min_adj_size": least(s.adj_size),
        "max_adj_size": s.adj_size.max,
        "tins": tins,
    })
}

/// Returns the smallest size, if any packet was seen.
fn least(sizes: Span) -> Option<u32> {
    (sizes.min <= sizes.max).then_some(sizes.min)
}

fn tin(t: &CakeTinStats) -> Value {
    json!({
        "threshold_rate_bps": t.threshold_rate.map(Rate::bps),
        "target_us": us(t.target),
        "interval_us": us(t.interval),
        "peak_delay_us": us(t.peak_delay),
        "avg_delay_us": us(t.avg_delay),
        "base_delay_us": us(t.base_delay),
        "backlog_bytes": t.backlog_bytes,
        "sent_packets": t.sent_packets,
        "sent_bytes": t.sent_bytes,
        "way_indirect_hits": t.way_indirect_hits,
        "way_misses": t.way_misses,
        "way_collisions": t.way_collisions,
        "drops": t.drops,
        "ack_drops": t.ack_drops,
        "ecn_mark": t.ecn_mark,
        "sparse_flows": t.sparse_flows,
        "bulk_flows": t.bulk_flows,
        "unresponsive_flows": t.unresponsive_flows,
        "max_pkt_len": t.max_pkt_len,
        "flow_quantum": t.flow_quantum,
    })
}
