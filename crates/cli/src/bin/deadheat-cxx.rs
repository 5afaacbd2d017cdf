//! `deadheat-cxx`: `deadheat c++` in one word, for `CXX=`. Cargo cannot build programs with a plus in their name.

#[path = "../beside.rs"]
mod beside;

fn main() -> std::process::ExitCode {
    beside::hand_over("deadheat-c++")
}
