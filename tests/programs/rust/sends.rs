//! Everything that can be sent goes through threads and back: boxes, vectors, strings, maps, closures, trait objects.

use std::collections::{BTreeMap, HashMap, HashSet, LinkedList, VecDeque};
use std::sync::mpsc;
use std::thread;

type Job = Box<dyn FnOnce(&mut State) + Send>;

#[derive(Default)]
struct State {
    map: HashMap<String, Vec<u32>>,
    tree: BTreeMap<u32, String>,
    set: HashSet<Box<str>>,
    list: LinkedList<u32>,
    queue: VecDeque<String>,
}

fn main() {
    let (sender, receiver) = mpsc::channel::<Job>();
    let worker = thread::spawn(move || {
        let mut state = State::default();
        receiver.iter().for_each(|job| job(&mut state));
        state
    });
    for i in 0..200 {
        let (key, text) = (format!("key {}", i % 20), format!("text {i}"));
        sender
            .send(Box::new(move |state: &mut State| {
                state.map.entry(key.clone()).or_default().push(i);
                state.tree.insert(i, text.clone());
                state.set.insert(key.into());
                state.list.push_back(i);
                state.queue.push_back(text);
                if i % 3 == 0 {
                    state.list.pop_front();
                    state.queue.pop_front();
                    state.tree.remove(&(i / 2));
                }
            }))
            .unwrap();
    }
    drop(sender);
    let state = worker.join().unwrap();
    let vectors: usize = state.map.values().map(Vec::len).sum();
    println!("{vectors} {} {} {} {}", state.tree.len(), state.set.len(), state.list.len(), state.queue.len());
}
