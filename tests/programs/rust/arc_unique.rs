//! The last owner may change what all have read: `get_mut`, `make_mut`, `try_unwrap`, `into_inner`, `new_cyclic`, weak owners.

use std::sync::{Arc, Weak};
use std::thread;

struct Tree {
    own: Weak<Tree>,
    name: Arc<str>,
    numbers: Arc<[u32]>,
}

fn main() {
    let (mut unwrapped, mut copied, mut lengths) = (0, 0, 0);
    for round in 0..50_usize {
        let mut shared = Arc::new(vec![1_usize; 20]);
        let threads: Vec<_> = (0..3)
            .map(|n| {
                let mut mine = Arc::clone(&shared);
                thread::spawn(move || match n {
                    0 => mine.iter().sum(),
                    1 => {
                        Arc::make_mut(&mut mine).push(2);
                        mine.len()
                    }
                    _ => Arc::into_inner(mine).map_or(0, |mut vector| {
                        vector.push(3);
                        vector.len() - vector.len()
                    }),
                })
            })
            .collect();
        // Waits without a join until it is alone.
        while Arc::get_mut(&mut shared).is_none() {
            thread::yield_now();
        }
        Arc::get_mut(&mut shared).unwrap().push(round);
        copied += threads.into_iter().map(|thread| thread.join().unwrap()).sum::<usize>();
        unwrapped += Arc::try_unwrap(shared).unwrap().len();

        let tree = Arc::new_cyclic(|own| Tree {
            own: own.clone(),
            name: Arc::from("a name for all"),
            numbers: (0..10).collect(),
        });
        let (name, numbers) = (Arc::clone(&tree.name), Arc::clone(&tree.numbers));
        let weak = Arc::downgrade(&tree);
        let one = thread::spawn(move || tree.own.upgrade().map_or(0, |again| again.name.len()));
        let two = thread::spawn(move || usize::from(weak.upgrade().is_some_and(|tree| tree.numbers.is_empty())));
        let three = thread::spawn(move || name.len() + numbers.len());
        lengths += one.join().unwrap() + two.join().unwrap() + three.join().unwrap();
    }
    println!("{unwrapped} {copied} {lengths}");
}
