//! `deadheat-llvm-ar`: `ar`, where CMake looks for it if a project asks for link-time optimisation.

#[path = "../beside.rs"]
mod beside;

fn main() -> std::process::ExitCode {
    beside::hand_over("deadheat-llvm-ar")
}
