//! A tree, a ring and a heap, changed by one thread while the other looks.

#[path = "../include/invisible.rs"]
mod invisible;
use invisible::turn;
use std::cell::UnsafeCell;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

struct Shared<T>(UnsafeCell<T>);

unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    #[allow(clippy::mut_from_ref)]
    fn get(&self) -> &mut T {
        unsafe { &mut *self.0.get() }
    }
}

fn main() {
    let tree = Shared(UnsafeCell::new(BTreeMap::from([(1, 1), (2, 2)])));
    let ring = Shared(UnsafeCell::new(VecDeque::from([1, 2, 3])));
    let heap = Shared(UnsafeCell::new(BinaryHeap::from([1, 2, 3])));
    std::thread::scope(|scope| {
        let looks = scope.spawn(|| {
            turn(1, || {
                let mut sum = tree.get()[&2]; //~ RACE tree
                sum += ring.get()[1]; //~ RACE ring
                sum + heap.get().peek().unwrap() //~ RACE heap
            })
        });
        scope.spawn(|| {
            turn(2, || {
                *tree.get().get_mut(&2).unwrap() += 1; //~ RACE tree
                ring.get().rotate_left(1); //~ RACE ring
                heap.get().push(9); //~ RACE heap
            });
        });
        println!("{}", looks.join().unwrap());
    });
}
