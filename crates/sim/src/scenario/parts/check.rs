//! What must hold of registered parts, tried on each of them.

use stillair_model::check::{self, Order};
use stillair_model::qdisc::QdiscConfig;
use stillair_model::transport::cc::CustomCc;
use stillair_model::wifi::config::Scheduler;

use super::Parts;

impl Parts {
    /// Tries all parts, with the defaults of their keys, by the functions of [`stillair_model::check`]; an error names the part
    /// and says what does not hold. That a discipline keeps the order of a flow is not asked: call [`check::discipline`] for that.
    pub fn check(&self) -> Result<(), String> {
        let of = |name: &str, held: Result<(), String>| held.map_err(|why| format!("{name:?}: {why}"));
        for part in &self.controls {
            let own = part.by_default();
            of(part.name, check::controller(|| CustomCc::new(part.name, own.make(()))))?;
        }
        for part in &self.qdiscs {
            of(part.name, check::discipline(&QdiscConfig::Custom(part.by_default()), Order::Any))?;
        }
        for part in &self.laws {
            of(part.name, check::law(&part.by_default()))?;
        }
        for part in &self.schedulers {
            of(part.name, check::scheduler(&Scheduler::Custom(part.by_default())))?;
        }
        Ok(())
    }
}
