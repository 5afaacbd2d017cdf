//! The start: before any code of the program runs.

use crate::options::Options;
use crate::{channel, intercept, log, memory, owners, shadow, thread};
use deadheat_abi::shadow::{ADDRESS_MASK, BASE, GRANULE, LEN};
use std::ffi::CString;
use std::sync::atomic::Ordering;

/// The limit of the main thread's stack where the user has set none.
const STACK: u64 = 64 << 20;

/// Addresses from here on are the kernel's.
const KERNEL: usize = 1 << 47;

#[cfg(not(test))]
#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;

#[cfg_attr(test, allow(dead_code))]
extern "C" fn start() {
    thread::shut(|| {
        let text = std::env::var(deadheat_abi::options::VARIABLE).unwrap_or_default();
        let watched = match Options::parse(&text) {
            Ok(options) => {
                let watched = options.report_fd.is_some();
                channel::set_options(options);
                watched
            }
            Err(wrong) => {
                // More than one line, so not by `tell`, which cuts.
                eprintln!("deadheat: {wrong}");
                log::exit_now(2);
            }
        };
        std::panic::set_hook(Box::new(failed));
        let maps = std::fs::read_to_string("/proc/thread-self/maps").unwrap_or_default();
        let mapped = apart(&maps).map_err(str::to_owned).and_then(|()| {
            shadow::reserve().map_err(|error| {
                let error = std::io::Error::from_raw_os_error(error);
                format!("the shadow cannot be mapped: {error} (a limit of address space, `ulimit -v`, must not be set)")
            })
        });
        if let Err(why) = mapped {
            again_without_randomness();
            if watched {
                // Whoever watches wants to see something, and takes silence for good news.
                log::tell(format_args!("{why}"));
                log::exit_now(2);
            }
            thread::OFF.store(true, Ordering::Relaxed);
            log::tell(format_args!("{why}; this program runs UNCHECKED"));
            return;
        }
        owners::init();
        let stack = maps.lines().find(|line| line.ends_with("[stack]"));
        thread::start_main(stack.and_then(memory::span).unwrap_or_default());
        intercept::init();
    });
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

/// Whether all mappings have shadows of their own, and lie outside of the shadow.
fn apart(maps: &str) -> Result<(), &'static str> {
    let mut masked: Vec<(usize, usize)> = Vec::new();
    for (start, end) in maps.lines().filter_map(memory::span) {
        if start >= KERNEL {
            continue;
        }
        if start < (BASE + LEN) as usize && end > BASE as usize {
            return Err("a mapping lies where the shadow belongs");
        }
        let all = ADDRESS_MASK as usize + GRANULE as usize;
        masked.push((start % all, start % all + (end - start)));
    }
    masked.sort_unstable();
    match masked.windows(2).all(|pair| pair[0].1 <= pair[1].0) {
        true => Ok(()),
        false => Err("two mappings would share their shadow"),
    }
}

/// Starts the program again without address space randomisation and with a limited stack. Returns if it has both already.
fn again_without_randomness() {
    const ASK: usize = 0xffff_ffff;
    // SAFETY: system calls; the strings live until `execve` has taken them or failed.
    unsafe {
        let now = libc::syscall(libc::SYS_personality, ASK);
        let fixed = now | i64::from(libc::ADDR_NO_RANDOMIZE);
        // Without a limit to the stack, the kernel maps from below, where the shadow is.
        let mut stack: libc::rlimit = std::mem::zeroed();
        let endless =
            libc::getrlimit(libc::RLIMIT_STACK, &mut stack) == 0 && stack.rlim_cur == libc::RLIM_INFINITY;
        if endless {
            stack.rlim_cur = STACK;
            libc::setrlimit(libc::RLIMIT_STACK, &stack);
        }
        if (now != fixed || endless) && libc::syscall(libc::SYS_personality, fixed) >= 0 {
            let arguments: Vec<CString> = std::fs::read("/proc/thread-self/cmdline")
                .unwrap_or_default()
                .split_inclusive(|byte| *byte == 0)
                .filter_map(|argument| CString::from_vec_with_nul(argument.to_vec()).ok())
                .collect();
            let mut argv: Vec<_> = arguments.iter().map(|argument| argument.as_ptr()).collect();
            argv.push(std::ptr::null());
            libc::syscall(
                libc::SYS_execve,
                c"/proc/self/exe".as_ptr(),
                argv.as_ptr(),
                environ,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_must_not_share_a_shadow_or_lie_in_it() {
        let good = "00400000-00401000 r-xp 0 0 0 a\n555555554000-555555555000 r-xp 0 0 0 b\n\
                    7ffff7fc1000-7ffff7fc3000 r-xp 0 0 0 c\nffffffffff600000-ffffffffff601000 --xp 0 0 0 [vsyscall]";
        assert_eq!(apart(good), Ok(()));
        let shared = "055555554000-055555556000 r-xp 0 0 0 a\n555555555000-555555557000 r-xp 0 0 0 b";
        assert!(apart(shared).is_err());
        let inside = "100000000000-100000001000 rw-p 0 0 0";
        assert!(apart(inside).is_err());
    }
}

// SAFETY: libc's own variable, of this type.
unsafe extern "C" {
    static environ: *const *const std::ffi::c_char;
}
