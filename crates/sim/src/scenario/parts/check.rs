//! Checks of registered parts.

use stillair_model::conformance::{self, ServiceOrder};
use stillair_model::qdisc::QdiscConfig;
use stillair_model::transport::cc::CustomCc;
use stillair_model::wifi::config::Scheduler;

use super::{Parts, tried};

impl Parts {
    /// Checks all parts, with the defaults of their keys, against [`stillair_model::conformance`]. An error
    /// names the part and the violated requirement. Order within a flow is not checked for disciplines: call
    /// [`conformance::discipline`] for that.
    pub fn check(&self) -> Result<(), String> {
        let of = |title: &str, held: Result<(), String>| held.map_err(|why| format!("{title}: {why}"));
        for part in &self.controls {
            let own = tried(part).map_err(|e| e.to_string())?;
            of(part.title, conformance::controller(|| CustomCc::new(part.name, own.make(()))))?;
        }
        for part in &self.qdiscs {
            of(
                part.title,
                conformance::discipline(
                    &QdiscConfig::Custom(tried(part).map_err(|e| e.to_string())?),
                    ServiceOrder::Any,
                ),
            )?;
        }
        for part in &self.aqms {
            of(part.title, conformance::aqm(&tried(part).map_err(|e| e.to_string())?))?;
        }
        for part in &self.schedulers {
            of(
                part.title,
                conformance::scheduler(&Scheduler::Custom(tried(part).map_err(|e| e.to_string())?)),
            )?;
        }
        Ok(())
    }
}
