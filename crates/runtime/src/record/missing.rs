//! Code that is not to be recorded though it could be (`instrument::select`): RDIT's missing calls. And when threads are called back, out of those and
//! out of code that is not instrumented ([`outside`]).
//!
//! A thread is in a stack of calls that are left out, of calls of code that is not instrumented, and of callbacks from both. In a call that is left out nothing is
//! recorded but what memory comes into being and which threads are created, begin, end and are waited for. Around it are `CallBegin`,
//! with the objects that it reaches, and `CallEnd`.
//!
//! Such code may have heard from others, and may tell others, while it is open: what is done in a callback comes later than all that others have done
//! before it, and what others do after it comes later than that. The same holds for what code that is not instrumented has libc do, which is recorded.

use crate::outside;
use crate::rules::Action;
use crate::thread::Thread;
use crate::tls;
use deadheat_abi::callee::{self, Callee, POINTERS};
use deadheat_abi::tls::{ELSEWHERE, LEFT_OUT};
use std::ffi::CStr;
use std::sync::atomic::Ordering;

/// A call or callback that a thread is in.
pub struct Frame {
    /// How high the stack was.
    sp: usize,
    of: Of,
}

enum Of {
    /// Code that is left out.
    Call(Call),
    /// Code that is not instrumented.
    Elsewhere,
    /// What either of them has called.
    Callback,
}

struct Call {
    callee: *const Callee,
    roots: Vec<usize>,
    /// Whether its begin was recorded.
    recorded: bool,
}

/// Code that is not to be recorded begins.
pub fn begin(t: &mut Thread, callee: &Callee, pointers: [usize; POINTERS], sp: usize) {
    outside::arguments(t, pointers);
    let roots = outside::take_arguments(t);
    if !super::is_wanted() {
        return;
    }
    leave_unwound(t, sp);
    // Told by the caller: then it is over when the caller's frame is reached.
    let sp = match callee.state.load(Ordering::Relaxed) {
        callee::EXCLUDED_ARGUMENTS => sp - 8,
        _ => sp,
    };
    let mut call = Call {
        callee,
        roots,
        recorded: false,
    };
    if t.log.on {
        tell(t, &mut call);
    }
    t.log.frames.push(Frame {
        sp,
        of: Of::Call(call),
    });
    settle(t);
}

/// Code that is not instrumented begins.
pub fn begin_elsewhere(t: &mut Thread, sp: usize) {
    if super::is_wanted() {
        leave_unwound(t, sp);
        // Told by the caller, as above.
        let (sp, of) = (sp - 8, Of::Elsewhere);
        t.log.frames.push(Frame { sp, of });
        settle(t);
    }
}

/// It ends.
pub fn end_elsewhere(t: &mut Thread, sp: usize) {
    let is_it = |frame: &Frame| frame.sp == sp - 8 && matches!(frame.of, Of::Elsewhere);
    if let Some(at) = t.log.frames.iter().rposition(is_it) {
        leave_from(t, at);
    }
}

/// Records that a call begins.
fn tell(t: &mut Thread, call: &mut Call) {
    // SAFETY: a variable of the program.
    let callee = unsafe { &*call.callee };
    // SAFETY: a string of the program.
    let name = unsafe { CStr::from_ptr(callee.name) };
    let function = callee.function.addr();
    let arguments_only = callee.state.load(Ordering::Relaxed) == callee::EXCLUDED_ARGUMENTS;
    let usual = if arguments_only {
        Action::Objects
    } else {
        Action::Order
    };
    let objects = outside::recorded::objects(t, &call.roots, (function, name), usual);
    call.recorded = match objects {
        Some(objects) => super::call_begin(t, function, Some(name), objects.as_deref()),
        None => false,
    };
}

/// It ends.
pub fn end(t: &mut Thread, callee: *const Callee) {
    let is_it = |frame: &Frame| matches!(&frame.of, Of::Call(call) if call.callee == callee);
    if let Some(at) = t.log.frames.iter().rposition(is_it) {
        leave_from(t, at);
    }
}

/// A function that is recorded was called by code that is not.
pub fn begin_callback(t: &mut Thread, sp: usize) {
    leave_unwound(t, sp);
    let last = t.log.frames.last();
    if last.is_some_and(|frame| !matches!(frame.of, Of::Callback)) {
        t.log.frames.push(Frame { sp, of: Of::Callback });
        settle(t);
        super::raise_learned(t);
    }
}

/// It returns.
pub fn end_callback(t: &mut Thread, sp: usize) {
    leave_unwound(t, sp);
    let is_it = |frame: &Frame| matches!(frame.of, Of::Callback);
    if let Some(at) = t.log.frames.iter().rposition(is_it) {
        leave_from(t, at);
    }
}

/// The stack was unwound, or jumped over, up to here. (A function may have made room on its stack since it was entered, so its own
/// frame is not below.)
pub fn leave_unwound(t: &mut Thread, sp: usize) {
    /// Stack pointers that are further apart belong to different stacks.
    const STACK: usize = 8 << 20;
    let gone = |frame: &Frame| frame.sp < sp && sp - frame.sp < STACK;
    if let Some(first) = t.log.frames.iter().position(gone) {
        leave_from(t, first);
    }
}

/// The thread ends.
pub fn end_thread(t: &mut Thread) {
    leave_from(t, 0);
}

/// Leaves calls and callbacks, the innermost first.
fn leave_from(t: &mut Thread, first: usize) {
    while t.log.frames.len() > first {
        let Some(frame) = t.log.frames.pop() else { return };
        settle(t);
        match frame.of {
            Of::Call(call) if call.recorded => super::call_end(t),
            // What the thread did in the callback the code around it may tell others from now on.
            Of::Callback => super::raise_calls(t),
            _ => {}
        }
    }
}

/// Recording begins: the calls that the thread is in begin.
pub fn begin_open(t: &mut Thread) {
    let mut frames = std::mem::take(&mut t.log.frames);
    for frame in &mut frames {
        match &mut frame.of {
            Of::Call(call) => tell(t, call),
            Of::Elsewhere => outside::recorded::begin_open(t, frame.sp + 8),
            Of::Callback => {}
        }
    }
    t.log.frames = frames;
    settle(t);
}

/// Whether anything is recorded depends on where the thread is.
fn settle(t: &mut Thread) {
    let frames = &t.log.frames;
    // What is called by code that is left out is left out.
    let mut known = frames
        .iter()
        .rev()
        .filter(|frame| !matches!(frame.of, Of::Elsewhere));
    let missing = known.next().is_some_and(|frame| matches!(frame.of, Of::Call(_)));
    let elsewhere = frames
        .last()
        .is_some_and(|frame| matches!(frame.of, Of::Elsewhere));
    let mut state = (frames.len() as u64) << 2;
    if missing {
        state |= LEFT_OUT;
    } else if elsewhere {
        state |= ELSEWHERE;
    }
    t.log.mute(missing);
    // SAFETY: the thread's own variable.
    unsafe { (*tls::get()).missing = state };
}
