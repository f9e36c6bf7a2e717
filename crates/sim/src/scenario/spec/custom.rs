//! User-defined parts of a scheme.

use stillair_model::aqm::algorithm::AqmFactory;
use stillair_model::wifi::config::SchedulerFactory;

use super::super::custom;
use super::super::description::{Family, Key, ValueType};
use super::super::error::Diagnostic;
use super::super::reader::Section;

/// Key of MAC queues.
pub(in super::super) const AQM: Key = Key::or(
    "aqm",
    ValueType::Part(Family::Aqm, &ValueType::Choice(&["codel"])),
    "codel",
    "AQM on each flow queue: CoDel, or one that a program registers, by its name or as a table with its `kind` and options. It is told for \
     each packet whether the station is slow",
);

/// Key of the round-robin scheme.
pub(in super::super) const SCHEDULER: Key = Key::or(
    "scheduler",
    ValueType::Part(Family::Scheduler, &ValueType::Choice(&["round_robin"])),
    "round_robin",
    "station scheduler: round robin, or one that a program registers, by its name or as a table with its `kind` and options",
);

/// Returns the user-defined scheduler, if the scenario names one.
pub(in super::super) fn scheduler(section: &mut Section<'_>) -> Result<Option<SchedulerFactory>, Diagnostic> {
    let Some(field) = section.get("scheduler") else { return Ok(None) };
    let Some((kind, options)) = field.custom_kind("round_robin")? else { return Ok(None) };
    let part = field.parts.find_scheduler(kind).expect("it is one of its kinds");
    custom::read(part, &field, options).map(Some)
}

/// Returns the user-defined AQM algorithm, if the scenario names one.
pub(in super::super) fn aqm(section: &mut Section<'_>) -> Result<Option<AqmFactory>, Diagnostic> {
    let Some(field) = section.get("aqm") else { return Ok(None) };
    let Some((kind, options)) = field.custom_kind("codel")? else { return Ok(None) };
    let part = field.parts.find_aqm(kind).expect("it is one of its kinds");
    custom::read(part, &field, options).map(Some)
}
