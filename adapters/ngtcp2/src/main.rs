//! Compares ngtcp2's congestion controllers over presets: `stillair-with-ngtcp2 [QLOG-FOLDER]`.

use std::error::Error;
use std::path::Path;

use stillair_adapter::compare;
use stillair_with_ngtcp2::{CONTROLLERS, Program};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1);
    let program = Program::compiled("main")?;
    compare(&CONTROLLERS, |controller, path| {
        program.row(controller, path, 1, folder.as_deref().map(Path::new))
    })
}
