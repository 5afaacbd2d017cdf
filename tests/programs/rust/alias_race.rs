//! Two exclusive references to the same value, made from one pointer: through fields, methods and an iterator.
// flags: -O
// orders: both

#[path = "../include/invisible.rs"]
mod invisible;
use invisible::turn;

#[derive(Clone, Copy)]
struct Pointer(*mut Account);

unsafe impl Send for Pointer {}

struct Account {
    balance: i64,
    history: [i64; 4],
}

impl Account {
    #[inline(never)]
    fn deposit(&mut self, amount: i64) {
        self.balance += amount; //~ RACE balance
        for entry in &mut self.history {
            *entry += amount; //~ RACE history
        }
    }
}

fn main() {
    let account = Box::into_raw(Box::new(Account { balance: 0, history: [0; 4] }));
    let threads = [1, 2].map(|n| {
        let pointer = Pointer(account);
        std::thread::spawn(move || {
            let pointer = pointer;
            let exclusive = unsafe { &mut *pointer.0 };
            turn(n, || exclusive.deposit(n.into()));
        })
    });
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let account = unsafe { Box::from_raw(account) };
    println!("{} {:?}", account.balance, account.history);
}
