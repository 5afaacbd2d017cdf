//! Instruments one module, for debugging: prints it as text, or writes an object file.
//!
//! `cargo run -p deadheat-instrument --example instrument -- INPUT.{bc,ll} [LEVEL] [OUTPUT.o]`

use deadheat_instrument::module::{Options, compile, instrumented_text};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let input = args.next().ok_or("no input file")?;
    let opt_level = args.next().map_or(Ok(2), |level| level.parse())?;
    let options = Options {
        opt_level,
        cpu: "x86-64".into(),
        pic: true,
        ..Options::default()
    };
    let module = std::fs::read(&input)?;
    match args.next() {
        Some(output) => std::fs::write(output, compile(&module, &input, &options)?)?,
        None => print!("{}", instrumented_text(&module, &input, &options)?),
    }
    Ok(())
}
