//! A stack linked by compare-exchange, emptied all at once; `fetch_update`, and sums that go through it.

use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence};
use std::thread;

struct Node {
    text: String,
    next: *mut Node,
}

static TOP: AtomicPtr<Node> = AtomicPtr::new(ptr::null_mut());
static SUM: AtomicUsize = AtomicUsize::new(0);
static STEPS: AtomicI32 = AtomicI32::new(0);
static PACKED: AtomicU64 = AtomicU64::new(0);

fn push(text: String) {
    let node = Box::into_raw(Box::new(Node { text, next: ptr::null_mut() }));
    let mut top = TOP.load(Ordering::Relaxed);
    loop {
        // SAFETY: the node is not linked yet.
        unsafe { (*node).next = top };
        match TOP.compare_exchange_weak(top, node, Ordering::Release, Ordering::Relaxed) {
            Ok(_) => return,
            Err(now) => top = now,
        }
    }
}

fn take_all() -> usize {
    let mut node = TOP.swap(ptr::null_mut(), Ordering::Relaxed);
    fence(Ordering::Acquire);
    let mut length = 0;
    while !node.is_null() {
        // SAFETY: the whole list was taken at once, so its nodes are this thread's.
        let owned = unsafe { Box::from_raw(node) };
        length += owned.text.len();
        node = owned.next;
    }
    length
}

fn main() {
    thread::scope(|scope| {
        for n in 0..4 {
            scope.spawn(move || {
                for i in 0..100 {
                    push(format!("text {i:03} of {n}"));
                    if i % 7 == n {
                        SUM.fetch_add(take_all(), Ordering::Relaxed);
                    }
                    let _ = STEPS.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |steps| (steps < 350).then_some(steps + 1));
                    PACKED
                        .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |pair| Some(pair + (1 << 32) + 2))
                        .unwrap();
                }
            });
        }
    });
    SUM.fetch_add(take_all(), Ordering::Relaxed);
    let packed = PACKED.load(Ordering::Relaxed);
    println!("{SUM:?} {STEPS:?} {} {}", packed >> 32, packed as u32);
}
