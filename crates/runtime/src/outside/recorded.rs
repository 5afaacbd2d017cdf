//! Calls as they are recorded: RDIT's `CallBegin`, with the objects that the call reaches.

use super::objects::{self, Calls, Given, Object};
use super::{From, Key, exact, library, variables};
use crate::rules::Action;
use crate::thread::Thread;
use crate::{channel, record};
use deadheat_abi::callee::Callee;
use std::ffi::CStr;

/// Recording begins while the thread is in a call, which was made where the stack was so high.
pub fn begin_open(t: &mut Thread, sp: usize) {
    if let Some(at) = t.calls.open.iter().position(|call| call.sp == sp) {
        begin(t, at);
    }
}

/// Records that an open call of code that is not instrumented begins.
pub fn begin(t: &mut Thread, at: usize) {
    let Some(call) = t.calls.open.get(at) else { return };
    if !t.log.on || call.recorded {
        return;
    }
    let (function, name) = match call.callee.is_null() {
        true => (0, None),
        // SAFETY: a variable of the program, and a string.
        false => unsafe {
            let Callee { function, name, .. } = &*call.callee;
            let name = (!name.is_null()).then(|| CStr::from_ptr(*name));
            (*function as usize, name)
        },
    };
    let From {
        roots,
        locals,
        library,
    } = call.from.clone();
    if channel::options().calls == Calls::None {
        return;
    }
    let data = name.map(|name| by_rule(function, name)).unwrap_or_default();
    let given = Given {
        roots: &roots,
        locals: &locals,
        data: &data,
    };
    let reached = objects::reached(t, given).map(|mut reached| {
        reached.extend(library.map(|key| (key.0 | 1 << 62, 1)));
        reached
    });
    objects::begin_unseen();
    let recorded = record::call_begin(t, function, name, reached.as_deref());
    match t.calls.open.get_mut(at) {
        Some(call) if recorded => call.recorded = true,
        _ => objects::end_unseen(),
    }
}

/// It ends.
pub fn end(t: &mut Thread) {
    objects::end_unseen();
    record::call_end(t);
}

/// What a call reaches that the user has left out: the inner answer is `None` if that is too much, the outer one if nobody
/// need be told. `usual` is what it orders if no rule says anything else.
pub fn objects(
    t: &mut Thread,
    roots: &[usize],
    (function, name): (usize, &CStr),
    usual: Action,
) -> Option<Option<Vec<Object>>> {
    let options = channel::options();
    let file = library::file_of(function);
    let rule = options.rules.action(&name.to_string_lossy(), &file);
    let action = rule.unwrap_or(usual);
    if action == Action::Ignore || options.calls == Calls::None {
        return None;
    }
    let exact = match action {
        Action::Objects => exact::used(function, name, roots),
        _ => None,
    };
    variables::look();
    let mut data = by_rule(function, name);
    if action == Action::Order {
        data.extend(variables::all_beside(function));
    }
    let given = Given {
        roots,
        data: &data,
        ..Given::default()
    };
    let reached = match exact {
        Some(used) => Some([&objects::exactly(t, &used)[..], &data].concat()),
        None => objects::reached(t, given),
    };
    let Some(mut reached) = reached else {
        return Some(None);
    };
    if rule.is_none() && action == Action::Objects {
        reached.extend(own_state(function, name));
    }
    if action == Action::Order {
        reached.push((Key::library(library::start_of(function)).0 | 1 << 62, 1));
    }
    Some(Some(reached))
}

/// What a function that is only called here uses besides its arguments, if no rule says anything: of libc, all that threads can tell each
/// other by way of the kernel is one thing; other libraries have state of their own, as where their calls are not left out.
fn own_state(function: usize, name: &CStr) -> Option<Object> {
    let key = if exact::talks(function, name) {
        Key::KERNEL
    } else {
        Key::library(library::with_state(function)?)
    };
    Some((key.0 | 1 << 62, 1))
}

/// The variables that a rule says a function uses.
fn by_rule(function: usize, name: &CStr) -> Vec<Object> {
    let rules = &channel::options().rules;
    match rules.variables(&name.to_string_lossy(), &library::file_of(function)) {
        None => Vec::new(),
        Some(patterns) => {
            variables::look();
            variables::named(|name| patterns.iter().any(|pattern| crate::rules::fits(pattern, name)))
        }
    }
}
