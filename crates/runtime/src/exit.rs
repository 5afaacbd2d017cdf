//! The end of the process: what was found is told to the end, and decides the exit status.

use crate::channel::{self, Ended, Lines};
use crate::intercept::cancel;
use crate::spin::Spin;
use crate::{ample, counts, log, partly, places, races, side, thread, tls};
use std::sync::atomic::{AtomicBool, Ordering};

/// Exit status of a run with races, unless an option says otherwise.
const RACES: i32 = 66;

static DECIDED: Spin<Option<i32>> = Spin::new(None);
/// Whether this process is the child of another that is watched.
static FORKED: AtomicBool = AtomicBool::new(false);

/// The process is about to end with `status`: tells the counts, waits for the reporter, and gives the status to use.
/// Later calls get the same answer.
///
/// Inside the runtime (a signal handler that has interrupted it ends the process) nothing is told: locks are held.
pub fn finish(status: i32) -> i32 {
    // SAFETY: the thread's own variable.
    if unsafe { (*tls::get()).inside } == 0 {
        quietly(|| {
            // What another thread is telling is told to the end, and counts.
            let _told = ample::patiently();
            finish_inside(status)
        })
    } else {
        status
    }
}

fn finish_inside(status: i32) -> i32 {
    quietly(|| {
        let mut decided = DECIDED.lock();
        *decided.get_or_insert_with(|| decide(status, |lines| lines.line(format_args!("exit\t{status}"))))
    })
}

/// The process is about to be killed by `signal`.
pub fn killed(signal: i32) {
    quietly(|| {
        let mut decided = DECIDED.lock();
        decided.get_or_insert_with(|| {
            decide(128 + signal, |lines| {
                lines.line(format_args!("exit\tsignal {signal}"));
            })
        });
    });
}

/// Ends the program now, because of a race.
pub fn halt() -> ! {
    log::exit_now(finish_inside(status_of_races()))
}

/// After a `fork`, in the child: its end is another one.
pub fn child() {
    FORKED.store(true, Ordering::Relaxed);
    *DECIDED.lock() = None;
}

/// Takes the lock, before a `fork`.
pub fn hold() {
    DECIDED.hold();
}

/// Gives it back, after it.
pub fn let_go() {
    DECIDED.let_go();
}

fn quietly<R>(f: impl FnOnce() -> R) -> R {
    thread::shut(|| cancel::uncancelled(f))
}

fn status_of_races() -> i32 {
    channel::options().exit_code.map_or(RACES, i32::from)
}

fn decide(status: i32, end: impl FnOnce(&mut Lines)) -> i32 {
    let options = channel::options();
    let found = races::count();
    // A child in which nothing was found has nothing to add.
    let always = (options.report_fd.is_some() || options.stats) && !FORKED.load(Ordering::Relaxed);
    let ended = channel::close_with(always, found, |lines| {
        races::tell_counts(lines);
        if options.stats {
            lines.line(format_args!("stat\tplaces\t{}", places::count()));
            lines.line(format_args!("stat\tchains-of-readers\t{}", places::chains()));
            lines.line(format_args!(
                "stat\tside-states\t{}",
                side::count() + partly::count()
            ));
            if options.count {
                for (name, count) in counts::totals() {
                    // Only programs that were built for it count their accesses.
                    if name == "accesses" && count == 0 {
                        continue;
                    }
                    lines.line(format_args!("stat\t{name}\t{count}"));
                }
            }
            if let Some(bytes) = counts::shadow_bytes() {
                lines.line(format_args!("stat\tshadow-bytes\t{bytes}"));
            }
            if let Some(states) = counts::shadow_states() {
                lines.line(format_args!("stat\tshadow-states\t{states}"));
            }
        }
        end(lines);
    });
    match ended {
        Ended::Printed(true) => status_of_races(),
        Ended::Lost(excused) if found > excused => {
            let s = if found == 1 { "" } else { "s" };
            log::tell(format_args!("{found} data race{s}"));
            status_of_races()
        }
        Ended::Printed(false) | Ended::NotOurs | Ended::Lost(_) => status,
    }
}
