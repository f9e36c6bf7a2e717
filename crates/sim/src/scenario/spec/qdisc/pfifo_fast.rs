//! pfifo_fast, which has no options.

use super::{Context, Discipline, QdiscConfig, Section};

/// The table of pfifo_fast.
#[derive(Section, Clone, Debug, Default)]
pub struct PfifoFast {}

impl Discipline for PfifoFast {
    fn config(&self, context: &mut Context<'_>) -> Option<QdiscConfig> {
        Some(context.device.pfifo_fast())
    }
}
