//! Generates the C header of stillair-link. With `--check`, reports whether the existing header is up to
//! date.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/link-c");
    let config = cbindgen::Config::from_file(library.join("cbindgen.toml")).expect("a configuration");
    let made = cbindgen::generate_with_config(&library, config).expect("a header");
    let mut text = Vec::new();
    made.write(&mut text);
    let place = library.join("include/stillair.h");
    if std::env::args().any(|argument| argument == "--check") {
        let same = std::fs::read(&place).is_ok_and(|found| found == text);
        if !same {
            eprintln!("{} is not what src/lib.rs makes of it: make header", place.display());
        }
        return ExitCode::from(u8::from(!same));
    }
    std::fs::write(&place, text).expect("a place to write");
    ExitCode::SUCCESS
}
