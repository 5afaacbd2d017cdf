//! The last owner of an `Arc` frees what the others used. The count is relaxed or released; an acquire fence orders.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::thread;

static DROPPED: AtomicUsize = AtomicUsize::new(0);

struct Node {
    numbers: Vec<usize>,
    child: Option<Arc<Node>>,
}

impl Drop for Node {
    fn drop(&mut self) {
        self.numbers.push(1);
        DROPPED.fetch_add(self.numbers.len(), Ordering::Relaxed);
    }
}

fn main() {
    for round in 0..50 {
        let leaf = Arc::new(Node { numbers: vec![1; round], child: None });
        let root = Arc::new(Node { numbers: vec![1; 10], child: Some(leaf) });
        let threads: Vec<_> = (0..4)
            .map(|n| {
                let (mine, weak): (Arc<Node>, Weak<Node>) = (root.clone(), Arc::downgrade(&root));
                thread::spawn(move || {
                    let sum: usize = mine.numbers.iter().sum();
                    let child = mine.child.clone();
                    drop(mine);
                    let upgraded = if n % 2 == 0 { weak.upgrade() } else { None };
                    sum + child.map_or(0, |child| child.numbers.len()) + upgraded.map_or(0, |_| 0)
                })
            })
            .collect();
        drop(root);
        for thread in threads {
            thread.join().unwrap();
        }
    }
    println!("{}", DROPPED.load(Ordering::Relaxed));
}
