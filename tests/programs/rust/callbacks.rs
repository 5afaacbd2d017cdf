//! Rust called by C: comparators of `qsort` and `bsearch`, threads of `pthread_create`, destructors of keys, `pthread_once`.

use std::ffi::{c_int, c_ulong, c_void};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

type Compare = extern "C" fn(*const c_void, *const c_void) -> c_int;

// SAFETY: these are the declarations of libc.
unsafe extern "C" {
    fn qsort(base: *mut c_void, count: usize, size: usize, compare: Compare);
    fn bsearch(key: *const c_void, base: *const c_void, count: usize, size: usize, compare: Compare) -> *mut c_void;
    fn pthread_create(
        thread: *mut c_ulong,
        attributes: *const c_void,
        start: extern "C" fn(*mut c_void) -> *mut c_void,
        argument: *mut c_void,
    ) -> c_int;
    fn pthread_join(thread: c_ulong, result: *mut *mut c_void) -> c_int;
    fn pthread_key_create(key: *mut u32, destructor: extern "C" fn(*mut c_void)) -> c_int;
    fn pthread_setspecific(key: u32, value: *const c_void) -> c_int;
    fn pthread_once(control: *mut c_int, routine: extern "C" fn()) -> c_int;
}

static COMPARED: AtomicUsize = AtomicUsize::new(0);
static DESTROYED: AtomicUsize = AtomicUsize::new(0);
static mut KEY: u32 = 0;
static mut CONTROL: c_int = 0;

extern "C" fn compare(one: *const c_void, two: *const c_void) -> c_int {
    COMPARED.fetch_add(1, Ordering::Relaxed);
    // SAFETY: `qsort` and `bsearch` hand over elements of the caller's slice of strings.
    let (one, two) = unsafe { (&*one.cast::<String>(), &*two.cast::<String>()) };
    one.cmp(two) as c_int
}

extern "C" fn destroy(value: *mut c_void) {
    // SAFETY: the value of the key is the box that `start` set it to.
    let owned = unsafe { Box::from_raw(value.cast::<Vec<String>>()) };
    DESTROYED.fetch_add(owned.len(), Ordering::Relaxed);
}

extern "C" fn once() {
    // SAFETY: once, before anybody reads it: `pthread_once` sees to that.
    assert_eq!(unsafe { pthread_key_create(&raw mut KEY, destroy) }, 0);
}

extern "C" fn start(argument: *mut c_void) -> *mut c_void {
    // SAFETY: the box that `main` gave up for this thread.
    let numbers = unsafe { Box::from_raw(argument.cast::<Vec<usize>>()) };
    let mut strings: Vec<String> = numbers.iter().map(|n| format!("{:05}", n * 7919 % 1000)).collect();
    // SAFETY: the strings are this thread's own, and there are so many.
    unsafe {
        pthread_once(&raw mut CONTROL, once);
        qsort(strings.as_mut_ptr().cast(), strings.len(), size_of::<String>(), compare);
    }
    assert!(strings.is_sorted());
    let key = strings[20].clone();
    // SAFETY: as above; they are sorted.
    let found = unsafe {
        bsearch((&raw const key).cast(), strings.as_ptr().cast(), strings.len(), size_of::<String>(), compare)
    };
    // SAFETY: the key is one of them, so it is found.
    let sum = Box::new(unsafe { &*found.cast::<String>() }.len() + strings.len());
    // SAFETY: the key was made above, and takes the box.
    unsafe { pthread_setspecific(KEY, Box::into_raw(Box::new(strings)).cast()) };
    Box::into_raw(sum).cast()
}

fn main() {
    let mut total = 0;
    for round in 0..5 {
        let threads: Vec<c_ulong> = (0..4)
            .map(|n| {
                let argument = Box::new((n..n + 50 + round).collect::<Vec<usize>>());
                let mut thread = 0;
                let argument = Box::into_raw(argument).cast();
                // SAFETY: `start` takes the argument.
                assert_eq!(unsafe { pthread_create(&mut thread, ptr::null(), start, argument) }, 0);
                thread
            })
            .collect();
        for thread in threads {
            let mut result = ptr::null_mut();
            // SAFETY: it is joined once.
            assert_eq!(unsafe { pthread_join(thread, &mut result) }, 0);
            // SAFETY: what `start` returns is a box.
            total += *unsafe { Box::from_raw(result.cast::<usize>()) };
        }
    }
    println!("{total} {DESTROYED:?} {}", COMPARED.load(Ordering::Relaxed) > 1000);
}
