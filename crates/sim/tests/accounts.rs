//! In random networks, accounts balance and charges end; after the sources stop, all packets drain.

mod common;

use common::drain::check;
use common::random::case;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

proptest! {
    // A fixed seed makes the test reproducible; other seeds find other cases.
    #![proptest_config(ProptestConfig {
        cases: 1500,
        max_shrink_iters: 300,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    })]

    #[test]
    fn accounts_close_midway_and_all_packets_drain_in_order(case in case(), run in 0_u64..4) {
        check(&case, run).map_err(TestCaseError::fail)?;
    }
}
