//! Default qdiscs of a device, and the device's defaults for qdiscs that are named without options.

use stillair_model::aqm::pie::PieParams;
use stillair_model::qdisc::QdiscConfig;
use stillair_model::qdisc::cake::CakeParams;
use stillair_model::qdisc::codel::CodelQdiscParams;
use stillair_model::qdisc::fifo::FifoParams;
use stillair_model::qdisc::fq::FqParams;
use stillair_model::qdisc::fq_codel::FqCodelParams;
use stillair_model::qdisc::pfifo_fast::PfifoFastParams;
use stillair_model::qdisc::pie::PieQdiscParams;
use stillair_model::qdisc::sfq::SfqParams;

use super::super::super::{Profile, QdiscSpec, Scheme};
use super::super::link::LinkKind;

/// Properties of a device that determine the defaults of its qdiscs.
pub(in crate::scenario) struct DeviceQueue<'a> {
    pub profile: &'a Profile,
    pub txqueuelen: u32,
    /// Kind of the wired link; `None` for a Wi-Fi device.
    pub(in crate::scenario) link: Option<LinkKind>,
    /// Queueing scheme; `None` for a wired device.
    pub scheme: Option<Scheme>,
}

impl DeviceQueue<'_> {
    pub(in crate::scenario) fn pfifo_fast(&self) -> QdiscConfig {
        let limit_per_band = self.profile.pfifo_fast_limit_per_band;
        QdiscConfig::PfifoFast(PfifoFastParams { limit: self.txqueuelen, limit_per_band })
    }

    pub(in crate::scenario) fn fq_codel(&self) -> FqCodelParams {
        FqCodelParams {
            memory_limit: self.profile.fq_codel_memory_limit,
            drop_batch: self.profile.fq_codel_drop_batch,
            overlimit_raises_count: self.profile.fq_codel_overlimit_raises_count,
            ..FqCodelParams::default()
        }
    }

    pub(in crate::scenario) fn pie(&self) -> PieQdiscParams {
        let Profile { pie_target: target, pie_tupdate, pie_dq_rate_estimator: dq_rate_estimator, .. } =
            *self.profile;
        let (hz, aqm) = (self.profile.tcp.hz, PieParams::default());
        PieQdiscParams {
            tupdate: PieQdiscParams::in_ticks(pie_tupdate, hz),
            pie: PieParams { target, dq_rate_estimator, ..aqm },
            ..PieQdiscParams::new(hz)
        }
    }

    // linux: net/sched/sch_generic.c default_qdisc_ops (6.1).
    fn by_sysctl(&self) -> QdiscConfig {
        match self.profile.default_qdisc {
            "pfifo" => QdiscConfig::Fifo(FifoParams::pfifo(self.txqueuelen)),
            "codel" => QdiscConfig::Codel(CodelQdiscParams::default()),
            "fq_codel" => QdiscConfig::FqCodel(self.fq_codel()),
            "cake" => QdiscConfig::Cake(CakeParams::default()),
            "fq" => QdiscConfig::Fq(FqParams::default()),
            "pie" => QdiscConfig::Pie(self.pie()),
            "sfq" => QdiscConfig::Sfq(SfqParams::default()),
            _ => self.pfifo_fast(),
        }
    }

    /// Returns true if the device never stops its qdisc: the MAC queues packets, or the device is virtual.
    pub(in crate::scenario) fn never_stops(&self) -> bool {
        self.link == Some(LinkKind::Veth)
            || matches!(
                self.scheme,
                Some(
                    Scheme::FqMac
                        | Scheme::Airtime
                        | Scheme::AirtimeAsPrinted
                        | Scheme::Mac80211
                        | Scheme::Ath10k
                        | Scheme::Ath11k
                        | Scheme::Mt76
                )
            )
    }

    // linux: net/sched/sch_generic.c attach_default_qdiscs (4.4) - pfifo_fast, under mq if the device has
    // several queues. A Wi-Fi device has one queue per access category, and uses noqueue if the MAC queues
    // packets, as does a virtual device.
    pub(in crate::scenario) fn default_qdisc(&self) -> QdiscSpec {
        match self.scheme {
            None if self.never_stops() => QdiscSpec { mq: false, config: QdiscConfig::Noqueue },
            None => QdiscSpec { mq: false, config: self.by_sysctl() },
            Some(Scheme::Fifo | Scheme::Ath9kHtc) => QdiscSpec { mq: true, config: self.by_sysctl() },
            Some(Scheme::FqCodel) => QdiscSpec { mq: true, config: QdiscConfig::FqCodel(self.fq_codel()) },
            Some(_) => QdiscSpec { mq: false, config: QdiscConfig::Noqueue },
        }
    }
}
