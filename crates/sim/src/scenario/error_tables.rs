//! What noise takes at each ratio of a scenario: worked out when a run first asks, and shared by all runs of it and all paths in them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use stillair_model::wifi::phy::errors::{ErrorTable, Snr};

/// Tables by ratio. Clones share them; two that know different ratios are equal, as a table follows from its ratio alone.
#[derive(Clone, Debug, Default)]
pub struct ErrorTables(Arc<Mutex<BTreeMap<Snr, Arc<ErrorTable>>>>);

impl ErrorTables {
    /// The table of a ratio.
    pub fn of(&self, snr: Snr) -> Arc<ErrorTable> {
        // Whoever panicked while it held them had only read, or put in a whole one.
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(snr).or_insert_with(|| Arc::new(ErrorTable::new(snr))).clone()
    }
}

impl PartialEq for ErrorTables {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_made_once_for_all_clones() {
        let tables = ErrorTables::default();
        let first = tables.of(Snr(20_000));
        assert!(Arc::ptr_eq(&first, &tables.clone().of(Snr(20_000))));
        assert!(!Arc::ptr_eq(&first, &tables.of(Snr(21_000))));
    }
}
