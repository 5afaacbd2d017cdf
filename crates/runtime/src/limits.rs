//! Limits of memory (`ulimit -v`, `ulimit -d`): they are the program's. What the runtime takes comes on top of them, so that
//! the program runs out of memory where it would without the runtime, and is told the limit that it was given.
//!
//! The kernel counts reserved address space, of which the shadow takes a lot. A limit that may be raised is raised by what the
//! runtime maps. Where it may not (a hard limit, without privileges), mapping fails: at the start the program cannot be checked
//! then, later the runtime goes on with what it has put by ([`crate::alloc`]).

use crate::spin::Spin;
use crate::vm;

/// The limits that count mappings.
pub const COUNTED: [u32; 2] = [libc::RLIMIT_AS, libc::RLIMIT_DATA];

/// So much room a hard limit is given for what the runtime has yet to map: it cannot be raised again.
const AHEAD: u64 = 1 << 46;

const ENDLESS: u64 = libc::RLIM_INFINITY;

/// How far a limit is above what the program knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Added {
    /// Whether there is a limit.
    limited: bool,
    soft: u64,
    hard: u64,
}

static ADDED: Spin<[Added; 2]> = Spin::new(
    [Added {
        limited: false,
        soft: 0,
        hard: 0,
    }; 2],
);

/// Takes the lock, before a `fork`.
pub fn hold() {
    ADDED.hold();
}

/// Gives it back, after it.
pub fn let_go() {
    ADDED.let_go();
}

fn more(limit: u64, by: u64) -> u64 {
    if limit == ENDLESS {
        ENDLESS
    } else {
        limit.saturating_add(by)
    }
}

fn less(limit: u64, by: u64) -> u64 {
    if limit == ENDLESS {
        ENDLESS
    } else {
        limit.saturating_sub(by)
    }
}

/// The kernel's limit, which `new` replaces. An error number if it does not.
pub fn kernel(resource: u32, new: Option<&libc::rlimit64>) -> Result<libc::rlimit64, i32> {
    let mut old = libc::rlimit64 {
        rlim_cur: 0,
        rlim_max: 0,
    };
    let new = new.map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: whole structures, of this process. Made directly: the functions of libc are intercepted.
    let result = unsafe { libc::syscall(libc::SYS_prlimit64, 0, resource, new, &raw mut old) };
    if result == 0 { Ok(old) } else { Err(vm::errno()) }
}

/// Looks at the limits that the program was started with.
pub fn init() {
    let mut all = ADDED.lock();
    for (resource, added) in COUNTED.into_iter().zip(all.iter_mut()) {
        added.limited = kernel(resource, None).is_ok_and(|limit| limit.rlim_cur != ENDLESS);
    }
}

/// The runtime is about to map `len` bytes.
pub fn widen(len: usize) {
    let mut all = ADDED.lock();
    for (resource, added) in COUNTED.into_iter().zip(all.iter_mut()) {
        if !added.limited {
            continue;
        }
        let Ok(now) = kernel(resource, None) else { continue };
        let soft = more(now.rlim_cur, len as u64);
        // Raised only by who may, or the call fails and nothing has changed.
        let hard = now.rlim_max.max(soft);
        let new = libc::rlimit64 {
            rlim_cur: soft,
            rlim_max: hard,
        };
        if kernel(resource, Some(&new)).is_ok() {
            added.soft += len as u64;
            added.hard += hard - now.rlim_max;
        }
    }
}

fn index(resource: u32) -> Option<usize> {
    COUNTED.iter().position(|counted| *counted == resource)
}

/// A limit as the program knows it, or an error number.
pub fn get(resource: u32) -> Result<libc::rlimit64, i32> {
    Ok(shown(resource, kernel(resource, None)?))
}

fn shown(resource: u32, limit: libc::rlimit64) -> libc::rlimit64 {
    let Some(index) = index(resource) else {
        return limit;
    };
    let added = ADDED.lock()[index];
    libc::rlimit64 {
        rlim_cur: less(limit.rlim_cur, added.soft),
        rlim_max: less(limit.rlim_max, added.hard),
    }
}

/// The program sets a limit that counts mappings: what it was, as the program knows it, or an error number.
pub fn set(resource: u32, asked: libc::rlimit64) -> Result<libc::rlimit64, i32> {
    let before = get(resource)?;
    let Some(index) = index(resource) else {
        return kernel(resource, Some(&asked));
    };
    if asked.rlim_cur > asked.rlim_max {
        return Err(libc::EINVAL);
    }
    let mut all = ADDED.lock();
    let own = vm::mapped() as u64;
    let real = kernel(resource, None)?;
    let wide = libc::rlimit64 {
        rlim_cur: more(asked.rlim_cur, own),
        rlim_max: more(asked.rlim_max, own + AHEAD),
    };
    // A hard limit from before stays where it is.
    let within = libc::rlimit64 {
        rlim_cur: wide.rlim_cur.min(real.rlim_max),
        rlim_max: real.rlim_max,
    };
    let set = match kernel(resource, Some(&wide)) {
        Err(libc::EPERM) if asked.rlim_max <= before.rlim_max => {
            kernel(resource, Some(&within))?;
            within
        }
        result => {
            result?;
            wide
        }
    };
    all[index] = Added {
        limited: asked.rlim_cur != ENDLESS,
        soft: set.rlim_cur.saturating_sub(asked.rlim_cur),
        hard: set.rlim_max.saturating_sub(asked.rlim_max),
    };
    Ok(before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endless_stays_endless() {
        assert_eq!(more(ENDLESS, 5), ENDLESS);
        assert_eq!(less(ENDLESS, 5), ENDLESS);
        assert_eq!(less(more(7, 5), 5), 7);
    }
}
