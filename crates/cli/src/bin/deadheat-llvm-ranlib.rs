//! `deadheat-llvm-ranlib`: `ranlib`, as `deadheat-llvm-ar` is `ar`.

#[path = "../beside.rs"]
mod beside;

fn main() -> std::process::ExitCode {
    beside::hand_over("deadheat-llvm-ranlib")
}
