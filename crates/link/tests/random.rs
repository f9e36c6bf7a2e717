//! Any sequence of calls: no panics, refused calls change nothing, and the accounting balances.

mod common;

use common::calls;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_of_calls(calls in prop::collection::vec(calls::any_call(), 1..200), path in 0_usize..100, seed in 0_u64..4) {
        prop_assert_eq!(calls::check(path, seed, &calls), Ok(()));
    }
}
