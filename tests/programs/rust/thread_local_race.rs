//! A thread-local's destructor writes to a static.

#[path = "../include/invisible.rs"]
mod invisible;
use invisible::turn;

static mut DESTROYED: u32 = 0;

struct Local;

impl Drop for Local {
    fn drop(&mut self) {
        turn(1, || unsafe { DESTROYED += 1 }); //~ RACE destroyed
    }
}

thread_local! {
    static LOCAL: Local = const { Local };
}

fn main() {
    let thread = std::thread::spawn(|| LOCAL.with(|_| ()));
    let seen = turn(2, || unsafe { DESTROYED }); //~ RACE destroyed
    thread.join().unwrap();
    println!("{seen}");
}
