//! OpenMP programs on LLVM's libomp (and Intel's, which is the same): what the library does to order threads it tells
//! itself, by OMPT, the interface for tools of the OpenMP standard (5.2, chapter 19).
//!
//! libomp looks for a function `ompt_start_tool` and calls it before it makes threads. From then on its functions are known
//! (`outside/library.rs`): what they order is what is told here, no more, so that functions which it runs side by side
//! are checked against each other. Where it tells nothing (another tool was faster, `OMP_TOOL=disabled`, gcc's libgomp) it is a
//! library like others, whose calls are ordered as observed.
//!
//! | OpenMP | happens before |
//! |---|---|
//! | `parallel` | what its thread did before it, before all implicit tasks; these, before what comes after it |
//! | barriers, explicit and implied | what a team did before it, with all tasks made before it, and what it does after |
//! | `critical`, locks, `ordered`, locked atomics | as locks |
//! | `task` | what was done before it was made, before it; it, before the end of `taskwait`, `taskgroup` and barrier |
//! | `depend` | tasks of one parent by their accesses to one variable; `ordered depend` as all that was posted |
//! | reductions | what those who are done have, before who adds it up |
//! | `flush` | a fence |
//!
//! Each of these is a send and a receive on a [`Token`]. **It can miss** races of two tasks that the same thread happened to run one
//! after the other, as nothing then tells that another could have run them.

mod tasks;

use crate::intercept::define::interpose;
use crate::intercept::{event, event_at};
use crate::locks::{self, LockKind};
use crate::spin::{Spin, Wait};
use crate::thread::Thread;
use crate::{memory, sync};
use core::ffi::{CStr, c_char, c_int, c_uint, c_void};
use deadheat_event::{Mode, Order};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tasks::{Dependence, Region, Task};

/// Whether a library tells us what it does.
static TELLS: AtomicBool = AtomicBool::new(false);

/// Whether the library in this file tells us what it orders.
pub fn tells(file: &str) -> bool {
    TELLS.load(Ordering::Relaxed)
        && ["libomp.so", "libiomp5.so"]
            .iter()
            .any(|name| file.starts_with(name))
}

/// Where threads meet: known to [`sync`] by its address, so it is used only where it stays.
#[derive(Debug, Default)]
#[repr(align(8))]
pub struct Token(u8);

impl Token {
    fn addr(&self) -> usize {
        (&raw const self.0).addr()
    }

    /// What the thread did happens before every later [`Token::receive`].
    pub fn send(&self, t: &mut Thread) {
        sync::send(t, self.addr());
    }

    /// Every [`Token::send`] so far happens before what the thread does next.
    pub fn receive(&self, t: &mut Thread) {
        sync::receive(t, self.addr());
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        event(|t| sync::forget(t, self.addr()));
    }
}

/// `ompt_data_t`: a word of ours for each parallel region and each task.
#[repr(C)]
pub union Data {
    value: u64,
    pointer: *const c_void,
}

/// What the word of a region or task is for: one count of it, kept there from its begin to its end.
///
/// # Safety
/// Null, or a word that only [`keep`] has put something of this type into.
unsafe fn kept<T>(data: *const Data) -> Option<Arc<T>> {
    // SAFETY: as the caller promises; the count stays in the word.
    unsafe {
        let pointer = data.as_ref()?.pointer.cast::<T>();
        if pointer.is_null() {
            return None;
        }
        Arc::increment_strong_count(pointer);
        Some(Arc::from_raw(pointer))
    }
}

/// # Safety
/// Null, or a word of the library's that is ours.
unsafe fn keep<T>(data: *mut Data, value: Arc<T>) {
    // SAFETY: as the caller promises.
    if let Some(data) = unsafe { data.as_mut() } {
        data.pointer = Arc::into_raw(value).cast();
    }
}

/// # Safety
/// As [`kept`], and nobody uses the word any more.
unsafe fn let_go<T>(data: *mut Data) {
    // SAFETY: as the caller promises.
    unsafe {
        if let Some(data) = data.as_mut()
            && !data.pointer.is_null()
        {
            drop(Arc::from_raw(data.pointer.cast::<T>()));
            data.pointer = std::ptr::null();
        }
    }
}

const BEGIN: c_int = 1;
const END: c_int = 2;

// SAFETY of calling it: the library does, as the standard says, with words of regions and tasks that are ours.
unsafe extern "C" fn parallel_begin(
    _task: *mut Data,
    _frame: *const c_void,
    region: *mut Data,
    _threads: c_uint,
    _flags: c_int,
    _pc: *const c_void,
) {
    let new = Arc::new(Region::default());
    event(|t| new.fork.send(t));
    // SAFETY: as the library promises.
    unsafe { keep(region, new) };
}

// SAFETY of calling it: the library does, as the standard says, with words of regions and tasks that are ours.
unsafe extern "C" fn parallel_end(region: *mut Data, _task: *mut Data, _flags: c_int, _pc: *const c_void) {
    // SAFETY: as the library promises.
    if let Some(region) = unsafe { kept::<Region>(region) } {
        event(|t| region.join(t));
    }
    // SAFETY: as the library promises, and the region is over.
    unsafe { let_go::<Region>(region) };
}

// SAFETY of calling it: the library does, as the standard says, with words of regions and tasks that are ours.
unsafe extern "C" fn implicit_task(
    endpoint: c_int,
    region: *mut Data,
    task: *mut Data,
    _threads: c_uint,
    _index: c_uint,
    _flags: c_int,
) {
    if endpoint == BEGIN {
        // SAFETY: as the library promises. The initial task's region is none that has begun.
        let region = unsafe { kept::<Region>(region) }.unwrap_or_default();
        event(|t| region.fork.receive(t));
        // SAFETY: as the library promises.
        unsafe { keep(task, Arc::new(Task::implicit(region))) };
    } else if endpoint == END {
        // SAFETY: as the library promises.
        unsafe { let_go::<Task>(task) };
    }
}

// SAFETY of calling it: the library does, as the standard says, with words of regions and tasks that are ours.
unsafe extern "C" fn sync_region(
    kind: c_int,
    endpoint: c_int,
    _region: *mut Data,
    task: *mut Data,
    _pc: *const c_void,
) {
    const TASKWAIT: c_int = 5;
    const TASKGROUP: c_int = 6;
    const REDUCTION: c_int = 7;
    // SAFETY: as the library promises.
    let Some(task) = (unsafe { kept::<Task>(task) }) else {
        return;
    };
    event(|t| match (kind, endpoint) {
        (TASKWAIT, END) => task.children.receive(t),
        (TASKWAIT, _) => {}
        (TASKGROUP, BEGIN) => task.begin_group(),
        (TASKGROUP, END) => task.end_group(t),
        (REDUCTION, BEGIN) => task.begin_reduction(t),
        (REDUCTION, END) => task.end_reduction(t),
        (_, BEGIN) => task.enter_barrier(t),
        (_, END) => task.leave_barrier(t),
        _ => {}
    });
}

// SAFETY of calling it: the library does, as the standard says, with words of regions and tasks that are ours.
unsafe extern "C" fn task_create(
    parent: *mut Data,
    _frame: *const c_void,
    task: *mut Data,
    _flags: c_int,
    _has_dependences: c_int,
    _pc: *const c_void,
) {
    // SAFETY: as the library promises.
    let parent = unsafe { kept::<Task>(parent) };
    let parent = parent.unwrap_or_else(|| Arc::new(Task::implicit(Arc::default())));
    let new = Arc::new(Task::explicit(parent));
    event(|t| new.start.send(t));
    // SAFETY: as the library promises.
    unsafe { keep(task, new) };
}

// SAFETY of calling it: the library does, as the standard says, with words of regions and tasks that are ours.
unsafe extern "C" fn task_schedule(prior: *mut Data, status: c_int, next: *mut Data) {
    const COMPLETE: c_int = 1;
    const CANCEL: c_int = 3;
    const LATE_FULFILL: c_int = 6;
    const TASKWAIT_COMPLETE: c_int = 8;
    // SAFETY: as the library promises.
    let (task, following) = unsafe { (kept::<Task>(prior), kept::<Task>(next)) };
    event(|t| {
        if let Some(task) = &task {
            match status {
                COMPLETE | CANCEL | LATE_FULFILL => task.complete(t),
                TASKWAIT_COMPLETE => task.begin(t),
                // Another thread may go on with it.
                _ => task.start.send(t),
            }
        }
        if let Some(following) = &following {
            following.begin(t);
        }
    });
    let over = matches!(status, COMPLETE | CANCEL | LATE_FULFILL | TASKWAIT_COMPLETE);
    if over && task.is_some_and(|task| task.is_explicit()) {
        // SAFETY: as the library promises, and the task is over.
        unsafe { let_go::<Task>(prior) };
    }
}

// SAFETY of calling it: the library does, as the standard says, with words of regions and tasks that are ours.
unsafe extern "C" fn dependences(task: *mut Data, all: *const Dependence, count: c_int) {
    // SAFETY: as the library promises.
    let Some(task) = (unsafe { kept::<Task>(task) }) else {
        return;
    };
    if !all.is_null() && count > 0 {
        // SAFETY: so many, says the library.
        let all = unsafe { std::slice::from_raw_parts(all, count as usize) };
        event(|t| task.depends(t, all));
    }
}

/// A lock of the program's. The library tells of its release when others may have it already: who has taken it waits here until
/// the one before has told us.
#[derive(Default)]
struct Lock {
    taken: AtomicBool,
}

static LOCKS: Spin<Option<FxHashMap<u64, &'static Lock>>> = Spin::new(None);

/// Each is made once and stays: programs have few.
fn lock_of(id: u64) -> &'static Lock {
    let mut locks = LOCKS.lock();
    let found = locks.get_or_insert_default().entry(id);
    found.or_insert_with(|| Box::leak(Box::default()))
}

// SAFETY of calling it: the library does, as the standard says, with words of regions and tasks that are ours.
unsafe extern "C" fn mutex_acquired(_kind: c_int, id: u64, pc: *const c_void) {
    event_at(pc.addr(), |t| {
        let lock = lock_of(id);
        let mut wait = Wait::default();
        while lock.taken.swap(true, Ordering::Acquire) {
            wait.once();
        }
        sync::acquire(t, id as usize, Mode::Exclusive);
        locks::took(t, LockKind::Mutex, id as usize, pc.addr());
    });
}

// SAFETY of calling it: the library does, as the standard says, with words of regions and tasks that are ours.
unsafe extern "C" fn mutex_released(_kind: c_int, id: u64, pc: *const c_void) {
    event_at(pc.addr(), |t| {
        locks::gave(t, id as usize);
        sync::release(t, id as usize, Mode::Exclusive);
        lock_of(id).taken.store(false, Ordering::Release);
    });
}

// SAFETY of calling it: the library does, as the standard says, with words of regions and tasks that are ours.
unsafe extern "C" fn flush(_thread: *mut Data, _pc: *const c_void) {
    event(|t| sync::fence(t, Order::SeqCst));
}

interpose! {
    /// Memory for a task, from a store of the library's own: what tasks did that had it before is over.
    fn __kmpc_omp_task_alloc[_, real](
        location: *mut c_void,
        thread: c_int,
        flags: c_int,
        size: usize,
        shareds: usize,
        entry: *mut c_void,
    ) -> *mut c_void {
        // SAFETY: the caller's arguments.
        let task = unsafe { real(location, thread, flags, size, shareds, entry) };
        if !task.is_null() && TELLS.load(Ordering::Relaxed) {
            event(|t| memory::mapped(t, task.addr(), size.next_multiple_of(8) + shareds));
        }
        task
    }
}

// SAFETY of calling either: with a name that ends in a zero, and with the number of a callback and a function of its type.
type Lookup = unsafe extern "C" fn(*const c_char) -> Option<unsafe extern "C" fn()>;
type SetCallback = unsafe extern "C" fn(c_int, *const c_void) -> c_int;

/// What the library calls next, and when it ends.
#[repr(C)]
pub struct StartToolResult {
    // SAFETY of calling either: the library does, once each.
    initialize: unsafe extern "C" fn(Lookup, c_int, *mut Data) -> c_int,
    finalize: unsafe extern "C" fn(*mut Data),
    data: u64,
}

// SAFETY of calling it: the library does, as the standard says, with words of regions and tasks that are ours.
unsafe extern "C" fn initialize(lookup: Lookup, _device: c_int, _data: *mut Data) -> c_int {
    const NAME: &CStr = c"ompt_set_callback";
    // SAFETY: the name of a function of this type.
    let set: SetCallback = unsafe {
        match lookup(NAME.as_ptr()) {
            Some(found) => std::mem::transmute::<unsafe extern "C" fn(), SetCallback>(found),
            None => return 0,
        }
    };
    let callbacks: [(c_int, *const c_void); 11] = [
        (3, parallel_begin as *const c_void),
        (4, parallel_end as *const c_void),
        (5, task_create as *const c_void),
        (6, task_schedule as *const c_void),
        (7, implicit_task as *const c_void),
        (17, mutex_released as *const c_void),
        (18, dependences as *const c_void),
        (23, sync_region as *const c_void),
        (27, mutex_acquired as *const c_void),
        (29, flush as *const c_void),
        (31, sync_region as *const c_void),
    ];
    // `ompt_set_never` and less: some of what orders threads would not be told.
    const NEVER: c_int = 1;
    // SAFETY: numbers of callbacks and functions of their types.
    let told = callbacks.map(|(which, function)| unsafe { set(which, function) });
    // All but flushes, which libomp has not always told.
    let enough = told
        .iter()
        .zip(&callbacks)
        .all(|(told, (which, _))| *told > NEVER || *which == 29);
    TELLS.store(enough, Ordering::Relaxed);
    c_int::from(enough)
}

// SAFETY of calling it: the library does, as the standard says, with words of regions and tasks that are ours.
unsafe extern "C" fn finalize(_data: *mut Data) {}

static RESULT: StartToolResult = StartToolResult {
    initialize,
    finalize,
    data: 0,
};

/// libomp asks whether there is a tool.
///
/// # Safety
/// Called by libomp.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn ompt_start_tool(
    _version: c_uint,
    _runtime: *const c_char,
) -> *const StartToolResult {
    // A program that is recorded has its calls as they are.
    match crate::thread::with(|t| !t.log.on) {
        Some(true) => &raw const RESULT,
        _ => std::ptr::null(),
    }
}
