//! `deadheat-cc`: `deadheat cc` in one word, for `CC=`.

#[path = "../beside.rs"]
mod beside;

fn main() -> std::process::ExitCode {
    beside::hand_over("deadheat-cc")
}
