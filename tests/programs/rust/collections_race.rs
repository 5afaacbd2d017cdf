//! A vector, a string and a map behind a pointer, changed by one thread while the other looks.

#[path = "../include/invisible.rs"]
mod invisible;
use invisible::turn;
use std::collections::HashMap;

struct Shared<T>(*mut T);

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Shared(self.0)
    }
}

unsafe impl<T> Send for Shared<T> {}

impl<T> Shared<T> {
    fn get(&self) -> &mut T {
        unsafe { &mut *self.0 }
    }
}

fn shared<T>(value: T) -> Shared<T> {
    Shared(Box::into_raw(Box::new(value)))
}

fn main() {
    let (vector, string, map) =
        (shared(vec![1, 2, 3]), shared(String::from("text")), shared(HashMap::from([(1, 1)])));
    let theirs = (vector.clone(), string.clone(), map.clone());
    let one = std::thread::spawn(move || {
        turn(1, || {
            let mut sum = vector.get().len(); //~ RACE vector
            sum += string.get().len(); //~ RACE string
            sum + map.get().len() //~ RACE map
        })
    });
    let two = std::thread::spawn(move || {
        let (vector, string, map) = theirs;
        turn(2, || {
            vector.get().push(4); //~ RACE vector
            string.get().push('!'); //~ RACE string
            map.get().insert(2, 2); //~ RACE map
        });
    });
    println!("{}", one.join().unwrap());
    two.join().unwrap();
}
