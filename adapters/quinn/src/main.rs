//! Compares quinn's congestion controllers over presets: `stillair-with-quinn [QLOG-FOLDER]`.

use std::error::Error;
use std::path::Path;

use stillair_adapter::compare;
use stillair_with_quinn::{CONTROLLERS, row};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1);
    compare(&CONTROLLERS, |controller, path| row(controller, path, 1, folder.as_deref().map(Path::new)))
}
