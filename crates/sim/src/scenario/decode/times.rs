//! Duration of a run and of its measured part.

use stillair_model::types::Duration;

use super::super::error::Diagnostic;
use super::super::reader::Section;
use super::external;
use super::flent::Times;

/// Returns duration, warm-up and cool-down of a run. The defaults come from the Flent test if there is one;
/// with `external` hosts the run is open-ended.
pub(super) fn read(
    root: &mut Section<'_>,
    times: Option<Times>,
    external: bool,
) -> Result<(Duration, Duration, Duration), Diagnostic> {
    let delay = times.map_or(Duration::ZERO, |times| times.delay);
    let length = if external { external::OPEN } else { Duration::from_secs(30) };
    let duration = root.or_by("duration", times.map_or(length, Times::total), |field| {
        let duration = field.value()?;
        match times {
            Some(times) if duration < times.total() => Err(field.wrong("at least what the test takes")),
            _ => Ok(duration),
        }
    })?;
    let warm_up = root.or_by("warm_up", delay, |field| {
        let warm_up = field.value()?;
        if warm_up < duration { Ok(warm_up) } else { Err(field.wrong("a time shorter than duration")) }
    })?;
    let after_load = times.map_or(Duration::ZERO, |t| duration.saturating_sub(t.delay + t.length));
    let after_load = if warm_up + after_load < duration { after_load } else { Duration::ZERO };
    let cool_down = root.or_by("cool_down", after_load, |field| {
        let cool_down = field.value()?;
        if warm_up + cool_down < duration {
            Ok(cool_down)
        } else {
            Err(field.wrong("with warm_up a time shorter than duration"))
        }
    })?;
    Ok((duration, warm_up, cool_down))
}
