//! Where things are in the address space, and what is done where the shadow has no room.
//!
//! The shadow has a fixed place, and is found by the low bits of an address: programs must not be mapped there, and no two
//! mappings may share a shadow. With the kernel's usual layout that is so however much it randomises, up to `vm.mmap_rnd_bits`
//! of 32: then the program and the libraries may come to lie so that they share one, or would soon, which is seen here. Other layouts (a stack without a
//! limit, an old personality) put libraries where the shadow is. In all these cases the program is started again, with the
//! usual layout and without randomness.

use crate::modules::Modules;
use crate::{confined, init, limits, memory};
use deadheat_abi::shadow::{ADDRESS_MASK, BASE, GRANULE, LEN};
use std::ffi::CString;

/// The limit of the stack in a program that was started again because it had none. Like no other number: the program is told
/// that it has none. So far below the stack the kernel leaves room for it.
const STACK: u64 = (1 << 30) + 0x5000;

/// What the C library gives threads for a stack where there is no limit.
const THREAD_STACK: usize = 2 << 20;

/// Addresses from here on are the kernel's.
const KERNEL: usize = 1 << 47;

/// What is mapped: as the kernel says or, without `/proc`, what is known of it.
pub fn mappings(maps: &str) -> Vec<(usize, usize)> {
    if !maps.is_empty() {
        return maps.lines().filter_map(memory::span).collect();
    }
    let mut all = Modules::now().segments;
    let here = (&raw const all).addr();
    all.push((here, here + 1));
    all
}

/// Whether all mappings have shadows of their own, and lie outside of the shadow.
pub fn apart(mappings: &[(usize, usize)]) -> Result<(), &'static str> {
    let mut masked: Vec<(usize, usize)> = Vec::new();
    for &(start, end) in mappings {
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

/// So much room is wanted for what is yet to be mapped.
const ROOM: usize = 1 << 40;

/// Whether what grows (the heap upwards, mappings downwards) will not come to share its shadow with something else soon. The stack
/// at the end of the address space has nothing behind it that grows.
pub fn roomy(mappings: &[(usize, usize)]) -> bool {
    let all = ADDRESS_MASK as usize + GRANULE as usize;
    let mut masked: Vec<_> = mappings
        .iter()
        .filter(|(start, _)| *start < KERNEL)
        .map(|&(start, end)| (start % all, start, end))
        .collect();
    masked.sort_unstable();
    let Some(&(_, first, first_end)) = masked.first() else {
        return true;
    };
    masked.push((first % all + all, first, first_end));
    masked.windows(2).all(|pair| {
        let ((low, start, end), (high, other, _)) = (pair[0], pair[1]);
        let neighbours = start.abs_diff(other) < ROOM;
        let last = start >= KERNEL - (1 << 35);
        neighbours || last || high.saturating_sub(low + (end - start)) >= ROOM
    })
}

/// Why the kernel would not map the shadow.
pub fn why_not(error: i32) -> String {
    let limited = limits::COUNTED
        .into_iter()
        .any(|resource| limits::get(resource).is_ok_and(|limit| limit.rlim_cur != libc::RLIM_INFINITY));
    let hint = match error {
        libc::ENOMEM if limited => " (a hard limit of address space, `ulimit -v` or `-d`, must not be set)",
        libc::ENOMEM => " (`vm.overcommit_memory` must not be 2)",
        _ => "",
    };
    format!(
        "the shadow cannot be mapped: {}{hint}",
        std::io::Error::from_raw_os_error(error)
    )
}

fn personality(new: usize) -> i64 {
    // SAFETY: touches no memory.
    unsafe { libc::syscall(libc::SYS_personality, new) }
}

/// Asks what it is.
fn present_personality() -> i64 {
    personality(0xffff_ffff)
}

/// Starts the program again without address space randomisation, in the usual layout and with a limited stack. Returns if it has
/// all that already, or may not.
pub fn again_without_randomness() {
    if confined::at_start()
        && !confined::survives(|| {
            personality(present_personality() as usize);
        })
    {
        return;
    }
    let now = present_personality();
    let usual = (now | i64::from(libc::ADDR_NO_RANDOMIZE)) & !i64::from(libc::ADDR_COMPAT_LAYOUT);
    // Without a limit to the stack, the kernel maps from below, where the shadow is.
    let mut stack = limits::kernel(libc::RLIMIT_STACK, None).ok();
    stack.take_if(|stack| stack.rlim_cur != libc::RLIM_INFINITY);
    if let Some(mut stack) = stack {
        stack.rlim_cur = STACK;
        let _ = limits::kernel(libc::RLIMIT_STACK, Some(&stack));
    }
    if (now == usual && stack.is_none()) || personality(usual as usize) < 0 {
        return;
    }
    let mut arguments: Vec<_> = init::arguments()
        .iter()
        .map(|argument| argument.as_ptr())
        .collect();
    arguments.push(std::ptr::null());
    let named = CString::new(init::program()).unwrap_or_default();
    for path in [c"/proc/self/exe", &named] {
        // SAFETY: the strings live until the kernel has taken them or said no.
        unsafe { libc::syscall(libc::SYS_execve, path.as_ptr(), arguments.as_ptr(), environ) };
    }
    // As it was.
    personality(now as usize);
    if let Some(stack) = stack {
        let _ = limits::kernel(libc::RLIMIT_STACK, Some(&stack));
    }
}

/// After [`again_without_randomness`]: the layout is decided, and the stack has no limit any more, as the user wanted.
pub fn stack_is_endless_again() {
    let Ok(mut stack) = limits::kernel(libc::RLIMIT_STACK, None) else {
        return;
    };
    if stack.rlim_cur != STACK {
        return;
    }
    stack.rlim_cur = libc::RLIM_INFINITY;
    if limits::kernel(libc::RLIMIT_STACK, Some(&stack)).is_ok() {
        // The C library has looked at the limit already.
        // SAFETY: attributes that are made here.
        unsafe {
            let mut attributes = std::mem::zeroed();
            if libc::pthread_attr_init(&mut attributes) == 0 {
                libc::pthread_attr_setstacksize(&mut attributes, THREAD_STACK);
                pthread_setattr_default_np(&attributes);
                libc::pthread_attr_destroy(&mut attributes);
            }
        }
    }
}

// SAFETY: libc's own variable and function, of these types.
unsafe extern "C" {
    static environ: *const *const std::ffi::c_char;
    fn pthread_setattr_default_np(attributes: *const libc::pthread_attr_t) -> i32;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_must_not_share_a_shadow_or_lie_in_it() {
        let apart = |maps| apart(&mappings(maps));
        let good = "00400000-00401000 r-xp 0 0 0 a\n555555554000-555555555000 r-xp 0 0 0 b\n\
                    7ffff7fc1000-7ffff7fc3000 r-xp 0 0 0 c\nffffffffff600000-ffffffffff601000 --xp 0 0 0 [vsyscall]";
        assert_eq!(apart(good), Ok(()));
        let shared = "055555554000-055555556000 r-xp 0 0 0 a\n555555555000-555555557000 r-xp 0 0 0 b";
        assert!(apart(shared).is_err());
        let inside = "100000000000-100000001000 rw-p 0 0 0";
        assert!(apart(inside).is_err());
    }

    #[test]
    fn what_grows_needs_room() {
        let roomy = |maps| roomy(&mappings(maps));
        let usual = "00400000-00401000 r-xp 0 0 0 a\n555555554000-555555555000 r-xp 0 0 0 b\n\
                     7ffff7fc1000-7ffff7fc3000 r-xp 0 0 0 c\n7ffffffde000-7ffffffff000 rw-p 0 0 0 [stack]";
        assert!(roomy(usual));
        // With 32 bits of randomness: the program just below the libraries, and just above them, across the end.
        let below = "615555554000-615555555000 r-xp 0 0 0 a\n71d555554000-71d555555000 r-xp 0 0 0 c\n\
                     7ffffffde000-7ffffffff000 rw-p 0 0 0 [stack]";
        assert!(!roomy(below));
        let across = "5f5555554000-5f5555555000 r-xp 0 0 0 a\n700000004000-700000005000 r-xp 0 0 0 c\n\
                      7ffffffde000-7ffffffff000 rw-p 0 0 0 [stack]";
        assert!(!roomy(across));
        let apart = "555555554000-555555555000 r-xp 0 0 0 a\n700000004000-700000005000 r-xp 0 0 0 c\n\
                     7ffffffde000-7ffffffff000 rw-p 0 0 0 [stack]";
        assert!(roomy(apart));
    }

    /// The kernel's layouts (`arch/x86/mm/mmap.c`): a program begins up to `bits` of pages above two thirds of the address
    /// space, mappings go down from up to as many below the stack, which has its own.
    #[test]
    fn however_much_is_randomised_nothing_is_mapped_where_the_shadow_is() {
        let third = (1usize << 47) / 3;
        for bits in [8, 28, 32] {
            let random = 1usize << (bits + 12);
            let lowest_program = 2 * third;
            let lowest_mapping = (1usize << 47) - random - (1 << 34) - (128 << 20);
            let shadow_end = (BASE + LEN) as usize;
            assert!(
                lowest_program > shadow_end && lowest_mapping > shadow_end,
                "{bits}"
            );
            // Up to here a program and its heap stay below all mappings.
            assert!(bits > 28 || lowest_program + random < lowest_mapping, "{bits}");
        }
    }

    #[test]
    fn what_is_known_without_proc_is_apart() {
        assert_eq!(apart(&mappings("")), Ok(()));
    }
}
