//! The start: before any code of the program runs.

use crate::options::Options;
use crate::{
    alloc, channel, counts, intercept, layout, limits, log, memory, owners, partly, places, record, shadow,
    side, stacks, steer, summary, thread,
};
use std::ffi::{CStr, CString, c_char};
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

#[cfg(not(test))]
#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn(i32, *const *const c_char) = start;

static ARGUMENTS: OnceLock<Vec<CString>> = OnceLock::new();
static PROGRAM: OnceLock<String> = OnceLock::new();

/// How the program was started.
pub fn arguments() -> &'static [CString] {
    ARGUMENTS.get().map_or(&[], Vec::as_slice)
}

/// The file that the program is.
pub fn program() -> &'static str {
    PROGRAM.get_or_init(file_of_program)
}

/// The file of the program: from the kernel's link, or where there is no `/proc`, as it was named when it was started.
fn file_of_program() -> String {
    if let Ok(path) = std::fs::read_link("/proc/thread-self/exe") {
        return path.display().to_string();
    }
    // SAFETY: the kernel's string, if there is one.
    let name = unsafe {
        let name = std::ptr::with_exposed_provenance::<c_char>(libc::getauxval(libc::AT_EXECFN) as usize);
        if name.is_null() {
            return String::new();
        }
        CStr::from_ptr(name).to_string_lossy().into_owned()
    };
    std::path::absolute(&name).map_or(name, |path| path.display().to_string())
}

#[cfg_attr(test, allow(dead_code))]
extern "C" fn start(count: i32, arguments: *const *const c_char) {
    thread::shut(|| {
        // SAFETY: the C library gives the arguments of `main`.
        let arguments = (0..count as usize).map(|n| unsafe { CStr::from_ptr(*arguments.add(n)) }.to_owned());
        let _ = ARGUMENTS.set(arguments.collect());
        // As long as it lies where it was.
        program();
        let text = std::env::var(deadheat_abi::options::VARIABLE).unwrap_or_default();
        match Options::parse(&text) {
            Ok(options) => {
                if options.count {
                    counts::begin();
                }
                channel::set_options(options);
            }
            Err(wrong) => {
                // More than one line, so not by `tell`, which cuts.
                eprintln!("deadheat: {wrong}");
                log::exit_now(2);
            }
        }
        std::panic::set_hook(Box::new(failed));
        limits::init();
        layout::stack_is_endless_again();
        let maps = std::fs::read_to_string("/proc/thread-self/maps").unwrap_or_default();
        let mappings = layout::mappings(&maps);
        if layout::apart(&mappings).is_ok() && !layout::roomy(&mappings) {
            layout::again_without_randomness();
        }
        let mapped = layout::apart(&mappings)
            .map_err(str::to_owned)
            .and_then(|()| reserve().map_err(layout::why_not));
        if let Err(why) = mapped {
            layout::again_without_randomness();
            // Whoever watches wants to see something, and takes silence for good news.
            if channel::unchecked(&why) {
                log::exit_now(2);
            }
            thread::OFF.store(true, Ordering::Relaxed);
            log::tell(format_args!("{why}; this program runs UNCHECKED"));
            return;
        }
        channel::early();
        owners::init();
        if let Some(path) = &channel::options().record
            && let Err(why) = record::open(path)
        {
            log::tell(format_args!("{why}"));
            log::exit_now(2);
        }
        if !channel::options().uncompressed && !record::is_wanted() {
            summary::begin();
        }
        if let Some(path) = &channel::options().steer
            && let Err(why) = steer::open(path)
        {
            log::tell(format_args!("{why}"));
            log::exit_now(2);
        }
        let stack = maps.lines().find(|line| line.ends_with("[stack]"));
        thread::start_main(stack.and_then(memory::span).unwrap_or_default());
        intercept::init();
    });
}

/// Reserves the shadow and all tables, so that no limit that is set later is in their way.
fn reserve() -> Result<(), i32> {
    shadow::reserve()?;
    owners::reserve()?;
    summary::reserve()?;
    memory::reserve()?;
    places::reserve()?;
    stacks::reserve()?;
    side::reserve()?;
    partly::reserve()?;
    alloc::put_by()
}

/// The runtime has failed: it says so, once, and lets everything through from here on ([`thread::Inside::run`]).
fn failed(panic: &std::panic::PanicHookInfo<'_>) {
    if !thread::OFF.swap(true, Ordering::Relaxed) {
        let what = panic.payload_as_str().unwrap_or("no message");
        let at = panic
            .location()
            .map_or_else(String::new, |at| format!(" at {}:{}", at.file(), at.line()));
        log::tell(format_args!(
            "internal error{at} ({what}), detection is off from here"
        ));
    }
}
