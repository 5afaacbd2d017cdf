//! A vector is filled through a pointer and grows by `set_len`; another thread takes its length for a promise.

#[path = "../include/invisible.rs"]
mod invisible;
use invisible::turn;

struct Pointer(*mut Vec<u32>);

unsafe impl Send for Pointer {}

fn main() {
    let vector = Box::into_raw(Box::new(Vec::with_capacity(10)));
    let (one, two) = (Pointer(vector), Pointer(vector));
    let fills = std::thread::spawn(move || {
        let one = one;
        turn(1, || unsafe {
            (*one.0).as_mut_ptr().add(3).write(7); //~ RACE element
            (*one.0).set_len(4); //~ RACE length
        });
    });
    let looks = std::thread::spawn(move || {
        let two = two;
        turn(2, || unsafe {
            let length = (*two.0).len(); //~ RACE length
            (*two.0).as_ptr().add(length - 1).read() //~ RACE element
        })
    });
    fills.join().unwrap();
    println!("{}", looks.join().unwrap());
    drop(unsafe { Box::from_raw(vector) });
}
