//! An executor by hand: tasks move between threads, wakers come from others.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

type Task = Mutex<Option<Pin<Box<dyn Future<Output = ()> + Send>>>>;

#[derive(Default)]
struct Queue {
    tasks: Mutex<(VecDeque<Arc<Spawned>>, usize)>,
    filled: Condvar,
}

struct Spawned {
    task: Task,
    queue: Arc<Queue>,
}

impl Wake for Spawned {
    fn wake(self: Arc<Self>) {
        let queue = Arc::clone(&self.queue);
        queue.tasks.lock().unwrap().0.push_back(self);
        queue.filled.notify_one();
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Is ready at the second poll; the waker is called by a thread of its own.
struct Later(bool);

impl Future for Later {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) {
            return Poll::Ready(());
        }
        let waker: Waker = context.waker().clone();
        thread::spawn(move || waker.wake());
        Poll::Pending
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = Box::pin(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    loop {
        if let Poll::Ready(result) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return result;
        }
        thread::park();
    }
}

fn worker(queue: &Queue) {
    loop {
        let mut guard = queue.tasks.lock().unwrap();
        let spawned = loop {
            if let Some(spawned) = guard.0.pop_front() {
                break spawned;
            }
            if guard.1 == 0 {
                return;
            }
            guard = queue.filled.wait(guard).unwrap();
        };
        drop(guard);
        let waker = Waker::from(Arc::clone(&spawned));
        let mut slot = spawned.task.lock().unwrap();
        let Some(mut future) = slot.take() else { continue };
        if future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
            *slot = Some(future);
        } else {
            queue.tasks.lock().unwrap().1 -= 1;
            queue.filled.notify_all();
        }
    }
}

fn main() {
    let text = block_on(async {
        let mut text = String::from("first");
        Later(false).await;
        text.push_str(" second");
        text
    });
    let (queue, results) = (Arc::new(Queue::default()), Arc::new(Mutex::new(0)));
    for n in 0..20 {
        let results = Arc::clone(&results);
        let future = async move {
            let mut sum = vec![n];
            for i in 0..3 {
                Later(false).await;
                sum.push(i);
            }
            *results.lock().unwrap() += sum.iter().sum::<u32>();
        };
        queue.tasks.lock().unwrap().1 += 1;
        Arc::new(Spawned { task: Mutex::new(Some(Box::pin(future))), queue: Arc::clone(&queue) }).wake();
    }
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| worker(&queue));
        }
    });
    println!("{text} {}", results.lock().unwrap());
}
