//! Error tables by signal-to-noise ratio. A table is computed at first use, and shared by all runs and paths
//! of the scenario.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use stillair_model::wifi::phy::errors::{ErrorTable, Snr};

/// Error tables by signal-to-noise ratio. Clones share the tables. All values compare equal, because a table
/// depends only on its ratio.
#[derive(Clone, Debug, Default)]
pub struct ErrorTables(Arc<Mutex<BTreeMap<Snr, Arc<ErrorTable>>>>);

impl ErrorTables {
    /// Returns the error table for a ratio.
    pub fn of(&self, snr: Snr) -> Arc<ErrorTable> {
        // A poisoned lock is safe: the map is only read, or complete tables are inserted.
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
    fn clones_share_tables() {
        let tables = ErrorTables::default();
        let first = tables.of(Snr(20_000));
        assert!(Arc::ptr_eq(&first, &tables.clone().of(Snr(20_000))));
        assert!(!Arc::ptr_eq(&first, &tables.of(Snr(21_000))));
    }
}
