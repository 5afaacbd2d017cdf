//! Any bytes are read, or refused with an error; what is read can be validated.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Ok(mut reader) = deadheat_trace::dht::Reader::new(std::io::Cursor::new(data)) {
        let _ = deadheat_trace::validate(&mut reader);
    }
});
