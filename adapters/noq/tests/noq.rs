//! The released noq over a link.

use stillair_with_noq as stack;

#[path = "../../common/quinn_like/tests.rs"]
mod tests;
