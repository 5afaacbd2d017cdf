//! The clocks of `detect::hb`, which skip, share and hand on what they can, beside clocks that do nothing but join and
//! copy: after each of many random operations every thread knows exactly the same.

use deadheat_detect::hb::{self, Changed, HbSync, HbThread, Published};
use deadheat_event::{Mode, Order, Slot, SyncId, SyncOp};
use proptest::prelude::*;

const THREADS: usize = 4;
const OBJECTS: usize = 3;

type Clock = [u64; THREADS];

fn join(to: &mut Clock, from: &Clock) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = (*to).max(*from);
    }
}

#[derive(Clone, Copy)]
struct Plain {
    me: usize,
    known: Clock,
    read: Clock,
    fenced: Clock,
    /// Its time when somebody last saw what it knew before that time was over.
    glimpsed: u64,
}

#[derive(Clone, Copy, Default)]
struct Object {
    writers: Clock,
    readers: Clock,
}

impl Plain {
    fn learn(&mut self, from: &Clock) {
        let mut all = self.known;
        join(&mut all, from);
        if all != self.known && self.glimpsed == self.known[self.me] {
            all[self.me] += 1;
        }
        self.known = all;
    }

    /// What it releases.
    fn release(&mut self) -> Clock {
        let released = self.known;
        self.known[self.me] += 1;
        released
    }

    fn sync(&mut self, op: SyncOp, object: &mut Object) {
        match op {
            SyncOp::Acquire(_, Mode::Exclusive) => {
                self.learn(&object.writers);
                self.learn(&object.readers);
            }
            SyncOp::Acquire(_, Mode::Shared) | SyncOp::Receive(_) => self.learn(&object.writers),
            SyncOp::Release(_, Mode::Exclusive) => {
                *object = Object {
                    writers: self.release(),
                    readers: Clock::default(),
                }
            }
            SyncOp::Release(_, Mode::Shared) => join(&mut object.readers, &self.release()),
            SyncOp::Load(order) if order.acquires() => self.learn(&object.writers),
            SyncOp::Load(_) => join(&mut self.read, &object.writers),
            SyncOp::Store(order) if order.releases() => object.writers = self.release(),
            SyncOp::Store(_) => object.writers = self.fenced,
            SyncOp::Update(order) if order.releases() => join(&mut object.writers, &self.release()),
            SyncOp::Update(_) => join(&mut object.writers, &self.fenced),
            SyncOp::Send(_) => join(&mut object.writers, &self.release()),
            _ => unreachable!("not among the operations of the test"),
        }
    }

    fn fence(&mut self, order: Order) {
        if order.acquires() {
            let read = std::mem::take(&mut self.read);
            self.learn(&read);
        }
        if order.releases() {
            self.fenced = self.release();
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Sync(usize, SyncOp, usize),
    Fence(usize, Order),
    /// The second learns what the first has done, which goes on.
    Glimpse(usize, usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let id = SyncId(0);
    let op = prop_oneof![
        4 => Just(SyncOp::Acquire(id, Mode::Exclusive)),
        4 => Just(SyncOp::Release(id, Mode::Exclusive)),
        1 => Just(SyncOp::Acquire(id, Mode::Shared)),
        1 => Just(SyncOp::Release(id, Mode::Shared)),
        2 => Just(SyncOp::Load(Order::Acquire)),
        1 => Just(SyncOp::Load(Order::Relaxed)),
        2 => Just(SyncOp::Store(Order::Release)),
        1 => Just(SyncOp::Store(Order::Relaxed)),
        2 => Just(SyncOp::Update(Order::AcqRel)),
        1 => Just(SyncOp::Update(Order::Relaxed)),
        1 => Just(SyncOp::Send(id)),
        1 => Just(SyncOp::Receive(id)),
    ];
    let order = prop_oneof![Just(Order::Acquire), Just(Order::Release), Just(Order::AcqRel)];
    let step = prop_oneof![
        12 => (0..THREADS, op, 0..OBJECTS).prop_map(|(t, op, o)| Step::Sync(t, op, o)),
        1 => (0..THREADS, order).prop_map(|(t, order)| Step::Fence(t, order)),
        2 => (0..THREADS, 0..THREADS).prop_map(|(a, b)| Step::Glimpse(a, b)),
    ];
    prop::collection::vec(step, 1..120)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn threads_know_what_plain_joins_and_copies_say(steps in steps()) {
        let mut threads: [HbThread; THREADS] = std::array::from_fn(|slot| HbThread::new(Slot(slot as u32), None));
        let mut objects: [HbSync; OBJECTS] = Default::default();
        let mut plain: [Plain; THREADS] = std::array::from_fn(|me| {
            let mut known = Clock::default();
            known[me] = 1;
            Plain { me, known, read: Clock::default(), fenced: Clock::default(), glimpsed: 0 }
        });
        let mut plain_objects = [Object::default(); OBJECTS];
        for (n, step) in steps.iter().enumerate() {
            match *step {
                Step::Sync(t, op, o) => {
                    let before = (threads[t].time(), threads[t].clock());
                    let changed = hb::sync_again(&mut threads[t], op, &mut objects[o]);
                    plain[t].sync(op, &mut plain_objects[o]);
                    let mut after = threads[t].clock();
                    match changed {
                        Changed::Nothing => prop_assert_eq!(&before.1, &after, "step {}", n),
                        Changed::Time => {
                            after.set(Slot(t as u32), before.0);
                            prop_assert_eq!(&before.1, &after, "step {}", n);
                        }
                        Changed::Any => {}
                    }
                }
                Step::Fence(t, order) => {
                    hb::fence(&mut threads[t], order);
                    plain[t].fence(order);
                }
                Step::Glimpse(a, b) if a != b => {
                    let mut seen = Published::default();
                    hb::glimpse(&mut threads[a], &mut seen);
                    hb::receive(&mut threads[b], &seen);
                    plain[a].glimpsed = plain[a].known[a];
                    let seen = plain[a].known;
                    plain[b].learn(&seen);
                }
                Step::Glimpse(..) => {}
            }
            for (thread, plain) in threads.iter().zip(&plain) {
                let known: Clock = std::array::from_fn(|slot| thread.get(Slot(slot as u32)));
                prop_assert_eq!(known, plain.known, "thread {} after step {}", plain.me, n);
            }
        }
    }
}
