//! Web browsing.

use stillair_model::vocabulary::Duration;
use stillair_scenario_derive::Section;

use super::super::super::FlowKind;
use super::super::super::contract::Form;
use super::super::super::units;
use super::super::domain::quantity;
use super::super::{Assign as _, Key};
use super::page::PageOrName;

/// A browser at `from` that loads a page from `to` over and over: it looks the name up, fetches a list, then what is in it over four connections.
#[derive(Section, Clone, Debug, Default)]
#[section(
    title = "Flow of kind web",
    kind = "web",
    common = super::Common,
    params = (Duration,),
    base = (Duration::from_millis(200),)
)]
pub struct Web {
    /// the page
    #[key(need = "the name of a page, or a table with list and objects")]
    pub page: Key<PageOrName>,
    /// least time from the beginning of a load to that of the next, which begins at once where one takes longer
    #[key(to = 0)]
    pub interval: Key<LoadInterval>,
}

/// Time from the beginning of a load to that of the next.
pub struct LoadInterval;
quantity! {
    LoadInterval: Duration = Form::Times { least: "1 ms", most: None, why: "each load has sockets of its own" },
        "_ns", units::duration_text;
}

impl Web {
    pub(super) fn traffic(&self) -> Option<FlowKind> {
        let mut params = Self::base();
        self.assign(&mut params);
        Some(FlowKind::Web { page: self.page.get()?.clone(), interval: params.0 })
    }
}
