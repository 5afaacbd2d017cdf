//! A bank whose threads race, with labels where the addresses of a report are to be.
#![allow(named_asm_labels)]
use std::cell::Cell;

static mut TOTAL: u64 = 7; // LINE total
pub static LIMITS: [u64; 4] = [1, 2, 3, 4];

mod vault {
    use std::cell::Cell;

    pub struct Account(pub Cell<u64>);

    impl Account {
        #[inline(always)]
        pub fn deposit(&self, amount: u64) {
            self.0.set(self.0.get() + amount);
            // SAFETY: does nothing but to have a name.
            unsafe { std::arch::asm!("nop", ".globl mark_deposit", "mark_deposit:") }; // LINE deposit
        }
    }
}

#[inline(never)]
fn run(account: &vault::Account) {
    account.deposit(3); // LINE run
}

fn main() {
    let account = vault::Account(Cell::new(LIMITS[std::env::args().count()]));
    run(&account);
    // SAFETY: as above; and there is one thread.
    unsafe { std::arch::asm!("nop", ".globl mark_main", "mark_main:") }; // LINE main
    unsafe { TOTAL += account.0.get() };
    println!("{}", unsafe { TOTAL });
}
