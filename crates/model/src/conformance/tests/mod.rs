//! Built-in parts pass the checks, and for each check a part exists that fails it.

mod planted;

use super::*;
use crate::aqm::algorithm::AqmFactory;
use crate::aqm::codel::{CodelAqm, CodelParams};
use crate::aqm::pie::{PieAqm, PieParams};
use crate::qdisc::QdiscConfig;
use crate::qdisc::aqm::AqmParams;
use crate::qdisc::cake::{CakeParams, Isolation, Tins};
use crate::qdisc::codel::CodelQdiscParams;
use crate::qdisc::fifo::FifoParams;
use crate::qdisc::fq::FqParams;
use crate::qdisc::fq_codel::FqCodelParams;
use crate::qdisc::htb::HtbParams;
use crate::qdisc::netem::NetemParams;
use crate::qdisc::pfifo_fast::PfifoFastParams;
use crate::qdisc::pie::PieQdiscParams;
use crate::qdisc::sfq::SfqParams;
use crate::qdisc::tbf::TbfParams;
use crate::types::{Duration, Rate};
use crate::wifi::config::{AirtimeParams, Mac80211Rules, MacFqParams as MacParams, Scheduler, WhenFull};
use alloc::boxed::Box;

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn codel() -> CodelParams {
    CodelParams { target: ms(1), interval: ms(5), ecn: true, mtu: 1514 }
}

pub(super) fn codel_aqm() -> AqmFactory {
    AqmFactory::new("codel", "", |_| Box::new(CodelAqm::new(codel())))
}

fn pie() -> PieParams {
    PieParams { target: ms(1), alpha: 32, beta: 32, ..PieParams::default() }
}

fn pie_aqm() -> AqmFactory {
    AqmFactory::new("pie", "", |stream| Box::new(PieAqm::new(pie(), ms(1), stream)))
}

#[test]
fn disciplines() {
    let rate = Rate::from_mbps(15);
    let htb = |child| HtbParams { rate, ceil: rate, burst: 3000, cburst: 3000, child: Box::new(child) };
    let tbf = |child| TbfParams { rate, burst: 3000, peak: None, child: Box::new(child) };
    let fq_codel = FqCodelParams { limit: 30, flows: 8, drop_batch: 4, codel: codel(), ..Default::default() };
    let sfq = SfqParams { limit: 12, flows: 8, depth: 5, divisor: 16, ..SfqParams::default() };
    let fq = FqParams { limit: 25, flow_limit: 6, initial_quantum: 2000, ..FqParams::default() };
    let cake = CakeParams {
        bandwidth: Some(rate),
        rtt: ms(5),
        target: ms(1),
        memlimit: Some(50_000),
        ingress: true,
        ..CakeParams::default()
    };
    let netem = NetemParams { delay: ms(2), limit: 20, rate: Some(rate), ..NetemParams::default() };
    for config in [
        QdiscConfig::Fifo(FifoParams::Packets(15)),
        QdiscConfig::Fifo(FifoParams::Bytes(9000)),
        QdiscConfig::PfifoFast(PfifoFastParams { limit: 20, limit_per_band: false }),
        QdiscConfig::Codel(CodelQdiscParams { limit: 25, codel: codel() }),
        QdiscConfig::FqCodel(fq_codel),
        QdiscConfig::Pie(PieQdiscParams { limit: 25, tupdate: ms(1), pie: pie() }),
        QdiscConfig::Fq(fq),
        QdiscConfig::Fq(FqParams { maxrate: Some(rate), ..fq }),
        QdiscConfig::Sfq(sfq),
        QdiscConfig::Sfq(SfqParams { headdrop: true, flows: 3, ..sfq }),
        QdiscConfig::Cake(cake),
        QdiscConfig::Cake(CakeParams { bandwidth: None, tins: Tins::Diffserv4, ..cake }),
        QdiscConfig::Htb(htb(QdiscConfig::Cake(CakeParams { isolation: Isolation::Flowblind, ..cake }))),
        QdiscConfig::Htb(htb(QdiscConfig::FqCodel(fq_codel))),
        QdiscConfig::Tbf(tbf(QdiscConfig::FqCodel(fq_codel))),
        QdiscConfig::Netem(netem, None),
        QdiscConfig::Netem(netem, Some(Box::new(QdiscConfig::Tbf(tbf(QdiscConfig::FqCodel(fq_codel)))))),
    ] {
        let came = discipline(&config, ServiceOrder::Kept);
        assert_eq!(came, Ok(()), "{config:?}");
    }
}

#[test]
fn aqms() {
    assert_eq!(aqm(&codel_aqm()), Ok(()));
    let slow = CodelParams { target: ms(5), interval: ms(30), ecn: false, mtu: 0 };
    let with_slow = AqmFactory::new("codel", "", move |_| Box::new(CodelAqm::new(codel()).with_slow(slow)));
    assert_eq!(aqm(&with_slow), Ok(()));
    assert_eq!(aqm(&pie_aqm()), Ok(()));
}

#[test]
fn schedulers() {
    let all = AirtimeParams::default();
    let none = AirtimeParams { charge_tx: false, charge_rx: false, ..all };
    for config in [
        Scheduler::RoundRobin(WhenFull::LosesTurn),
        Scheduler::RoundRobin(WhenFull::KeepsTurn),
        Scheduler::Airtime(all),
        Scheduler::Airtime(AirtimeParams { sparse: false, ..all }),
        Scheduler::AirtimeAsPrinted(all),
        Scheduler::Mac80211(all, None, Mac80211Rules::Rounds),
        Scheduler::Mac80211(none, None, Mac80211Rules::Rounds),
        Scheduler::Mac80211(all, None, Mac80211Rules::RoundsWithPending),
        Scheduler::Mac80211(all, None, Mac80211Rules::VirtualTime),
    ] {
        assert_eq!(scheduler(&config), Ok(()), "{config:?}");
    }
}

/// CoDel and PIE decide the same behind the AQM trait and as built-in algorithms.
#[test]
fn algorithms_behave_the_same_behind_the_trait() {
    let (limit, codel) = (1_000, codel());
    let pie_qdisc = PieQdiscParams { limit, tupdate: ms(1), pie: pie() };
    let mut drops = [0; 2];
    for script in 0..SCRIPTS {
        let by = |config: QdiscConfig| discipline::log_of(&config, script);
        let built_in = by(QdiscConfig::Codel(CodelQdiscParams { limit, codel }));
        assert_eq!(by(QdiscConfig::Aqm(AqmParams { limit, aqm: codel_aqm() })), built_in);
        drops[0] += built_in.iter().filter(|did| did.0 == 'd').count();
        let built_in = by(QdiscConfig::Pie(pie_qdisc));
        assert_eq!(by(QdiscConfig::Aqm(AqmParams { limit, aqm: pie_aqm() })), built_in);
        drops[1] += built_in.iter().filter(|did| did.0 == 'd').count();
        let in_the_mac = |aqm| {
            let slow = CodelParams { target: ms(5), interval: ms(30), ..codel };
            let queues = MacParams { flows: 64, codel, codel_slow: slow, aqm, ..MacParams::default() };
            scheduler::log_of(&queues, &Scheduler::RoundRobin(WhenFull::KeepsTurn), script)
        };
        let slow = CodelParams { target: ms(5), interval: ms(30), ..codel };
        let aqm = AqmFactory::new("codel", "", move |_| Box::new(CodelAqm::new(codel).with_slow(slow)));
        assert_eq!(in_the_mac(Some(aqm)), in_the_mac(None));
    }
    assert!(drops.iter().all(|&n| n > 0), "{drops:?}");
}
