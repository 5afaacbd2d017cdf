//! Any bytes are read, or refused with an error; what is read can be validated.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = deadheat_trace::validate(&mut deadheat_trace::roadrunner::read(data, None));
});
