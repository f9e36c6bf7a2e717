//! The released quinn over a link.

use stillair_with_quinn as stack;

#[path = "../../common/quinn_like/tests.rs"]
mod tests;
