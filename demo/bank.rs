//! Two tellers share an account. The balance is guarded by a mutex; the number of deposits, kept "just for
//! statistics", is not.

use std::cell::UnsafeCell;
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

struct Account {
    balance: Mutex<i64>,
    deposits: Counter,
}

/// A counter that claims to be safe to share.
struct Counter(UnsafeCell<u64>);

// SAFETY: none. Nothing orders the threads that call `bump`: this is the race.
unsafe impl Sync for Counter {}

impl Counter {
    fn bump(&self) {
        unsafe { *self.0.get() += 1 }
    }
}

fn deposit(account: &Account, amount: i64) {
    *account.balance.lock().unwrap() += amount;
    account.deposits.bump();
}

fn main() {
    let account = Arc::new(Account {
        balance: Mutex::new(0),
        deposits: Counter(UnsafeCell::new(0)),
    });
    let opening = Arc::new(Barrier::new(2));
    let tellers: Vec<_> = (1..=2)
        .map(|i| {
            let (account, opening) = (Arc::clone(&account), Arc::clone(&opening));
            thread::Builder::new()
                .name(format!("teller {i}"))
                .spawn(move || {
                    opening.wait();
                    (0..100).for_each(|_| deposit(&account, i));
                })
                .unwrap()
        })
        .collect();
    for teller in tellers {
        teller.join().unwrap();
    }
    println!("balance {}", account.balance.lock().unwrap());
}
