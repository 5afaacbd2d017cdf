//! Calls as they are recorded: RDIT's `CallBegin`, with the objects that the call reaches.

use super::reach;
use crate::record;
use crate::thread::Thread;
use deadheat_abi::callee::Callee;

/// Records that the innermost call begins.
pub fn begin(t: &mut Thread) {
    let Some(call) = t.calls.open.last().filter(|_| t.log.on) else {
        return;
    };
    let (function, name) = match call.callee.is_null() {
        true => (0, None),
        // SAFETY: a variable of the program, and a string.
        false => unsafe {
            let Callee { function, name, .. } = &*call.callee;
            let name = (!name.is_null()).then(|| std::ffi::CStr::from_ptr(*name));
            (*function as usize, name)
        },
    };
    let keys = call.reached.as_ref().and_then(|reached| reached.keys.clone());
    let objects: Option<Vec<_>> = keys.map(|keys| keys.iter().map(|key| reach::object(t, *key)).collect());
    let recorded = record::call_begin(t, function, name, objects.as_deref());
    if let Some(call) = t.calls.open.last_mut() {
        call.recorded = recorded;
    }
}
