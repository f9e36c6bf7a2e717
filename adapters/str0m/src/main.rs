//! str0m's video over presets, at the estimated rate.

use std::error::Error;

use stillair_adapter::{HEAD, PATHS};
use stillair_with_str0m::row;

fn main() -> Result<(), Box<dyn Error>> {
    println!("{HEAD}  estimate at the end");
    for path in PATHS {
        let (row, estimate) = row(path, 20_000_000, 1)?;
        println!("{row}  {:.1}", estimate as f64 / 1e6);
    }
    Ok(())
}
