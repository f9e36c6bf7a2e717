//! User-defined qdiscs, and qdiscs with a user-defined AQM algorithm.

use stillair_model::qdisc::QdiscConfig;
use stillair_model::qdisc::aqm::AqmParams;
use stillair_model::qdisc::fq_aqm::FqAqmParams;

use super::super::super::custom;
use super::super::super::document::Value;
use super::super::super::error::Diagnostic;
use super::super::super::parts::Found;
use super::super::super::reader::{Field, Section};
use super::DeviceQueue;

/// Default limit in packets of a queue with a user-defined AQM.
// linux: net/sched/sch_codel.c DEFAULT_CODEL_LIMIT (6.1) - codel's.
const LAW_LIMIT: u32 = 1_000;

/// A user-defined qdisc.
#[derive(Clone, Debug)]
pub(super) struct Custom {
    pub written: Value,
    config: QdiscConfig,
    /// Keys of flow queues with kernel-dependent defaults.
    memory_limit: Option<u32>,
    drop_batch: Option<u32>,
}

impl Custom {
    /// Reads the options of a kind. `section` is `None` for a kind without a table.
    pub(super) fn read(
        kind: &str,
        mut section: Option<&mut Section<'_>>,
        field: &Field<'_>,
    ) -> Result<Self, Diagnostic> {
        // A misspelt key is a more likely cause than an invalid combination of the remaining options.
        section.as_deref().map_or(Ok(()), Section::familiar)?;
        let found = field.parts.find_discipline(kind).expect("a discipline is built in or user-defined");
        let (mut memory_limit, mut drop_batch) = (None, None);
        let config = match found {
            Found::Custom(part) => {
                QdiscConfig::Custom(custom::with(part, field, custom::options(section, part.keys)?)?)
            }
            Found::Aqm(part) => {
                let aqm = custom::with(part, field, custom::options(section.as_deref_mut(), part.keys)?)?;
                let limit = section.map_or(Ok(LAW_LIMIT), |section| section.or("limit", LAW_LIMIT))?;
                QdiscConfig::Aqm(AqmParams { limit, aqm })
            }
            Found::FqAqm(part) => {
                let aqm = custom::with(part, field, custom::options(section.as_deref_mut(), part.keys)?)?;
                let mut params = FqAqmParams::new(aqm);
                if let Some(section) = section {
                    params.limit = section.or("limit", params.limit)?;
                    params.flows = section.or("flows", params.flows)?;
                    params.quantum = section.or("quantum", params.quantum)?;
                    memory_limit = section.find("memory_limit")?;
                    drop_batch = section.find("drop_batch")?;
                }
                QdiscConfig::FqAqm(params)
            }
        };
        Ok(Self { written: field.item.value.clone(), config, memory_limit, drop_batch })
    }

    pub(super) fn config(&self, device: &DeviceQueue<'_>) -> QdiscConfig {
        let mut config = self.config.clone();
        if let QdiscConfig::FqAqm(params) = &mut config {
            let kernel = device.fq_codel();
            params.memory_limit = self.memory_limit.unwrap_or(kernel.memory_limit);
            params.drop_batch = self.drop_batch.unwrap_or(kernel.drop_batch);
        }
        config
    }
}
