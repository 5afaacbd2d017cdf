//! The placement's own checker (BigFoot §5): goes through what the threads of a run logged and sees whether every access is
//! covered and every check legitimate, byte by byte. `docs/placement.md` says why these are the rules.
//!
//! * An access is *covered* by a check of the same thread, as a write if it is one, that came before it with no release in
//!   between, or that comes after it with no acquire in between.
//! * A check is *legitimate* for a byte if the same thread accesses it, as a write if it is the check of one, and did so
//!   before with no release in between, or does so after with no acquire in between.
//!
//! The two are the same with accesses and checks changed for each other, and so is the code. Memory that is freed is forgotten,
//! and must not be waited for. A thread that the end of the process cuts off owes nothing. What it can miss: a place on the
//! stack that is used again counts as the same place.

use std::collections::HashMap;
use std::path::Path;

const ACCESS: u32 = 1;
const CHECK: u32 = 2;
const SYNC: u32 = 3;
const FREE: u32 = 4;
const END: u32 = 5;
const PRIVATE: u32 = 6;
const PUBLISHED: u32 = 7;
const BEGIN: u32 = 8;

const ACQUIRE: u32 = 1;
const RELEASE: u32 = 2;
const START: u32 = 4;

/// One entry of a log, as `log.c` writes it.
pub struct Event {
    kind: u32,
    what: u32,
    address: u64,
    count: u64,
    stride: u64,
    bytes: u64,
    /// In the order of all threads.
    stamp: u64,
}

const SIZE: usize = 48;

/// The entries of a thread's log.
pub fn read(path: &Path) -> Vec<Event> {
    let bytes = std::fs::read(path).expect("the log can be read");
    let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
    let event = |one: &[u8]| Event {
        kind: number(&one[..8]) as u32,
        what: (number(&one[..8]) >> 32) as u32,
        address: number(&one[8..16]),
        count: number(&one[16..24]),
        stride: number(&one[24..32]),
        bytes: number(&one[32..40]),
        stamp: number(&one[40..48]),
    };
    bytes.chunks_exact(SIZE).map(event).collect()
}

/// What was done to eight bytes, as masks of them: at all, and as writes.
#[derive(Clone, Copy, Default)]
struct Done {
    any: u8,
    write: u8,
}

impl Done {
    fn add(&mut self, mask: u8, write: bool) {
        self.any |= mask;
        if write {
            self.write |= mask;
        }
    }

    /// Takes away what something of this strength stands for.
    fn remove(&mut self, mask: u8, write: bool) {
        if write {
            (self.any, self.write) = (self.any & !mask, self.write & !mask);
        } else {
            // What was a write waits for one still.
            self.any &= !mask | self.write;
        }
    }

    /// Which of these bytes have none of this strength.
    fn lacks(self, mask: u8, write: bool) -> u8 {
        mask & !if write { self.write } else { self.any }
    }
}

/// Accesses or checks of a thread.
#[derive(Default)]
struct Side {
    /// Since the last release, whose number stands beside.
    made: HashMap<u64, (u64, Done)>,
    /// Those that have no counterpart yet.
    waiting: HashMap<u64, Done>,
}

/// How much was verified.
#[derive(Default)]
pub struct Seen {
    pub accesses: u64,
    pub checks: u64,
    /// Accesses that were left out because their memory is private or published.
    pub untold: u64,
}

/// Goes through one thread's log; what is wrong, if something is.
pub fn verify(events: &[Event], seen: &mut Seen) -> Result<(), String> {
    let mut sides = [Side::default(), Side::default()];
    let mut releases = 0;
    for (n, event) in events.iter().enumerate() {
        match event.kind {
            ACCESS | CHECK => {
                let one = usize::from(event.kind == CHECK);
                match one {
                    0 => seen.accesses += 1,
                    _ => seen.checks += 1,
                }
                let write = event.what != 0;
                for (granule, mask) in granules(event) {
                    let other = &mut sides[1 - one];
                    if let Some(waiting) = other.waiting.get_mut(&granule) {
                        waiting.remove(mask, write);
                        if waiting.any == 0 {
                            other.waiting.remove(&granule);
                        }
                    }
                    let made = match other.made.get(&granule) {
                        Some((when, made)) if *when == releases => *made,
                        _ => Done::default(),
                    };
                    let lacking = made.lacks(mask, write);
                    let own = &mut sides[one];
                    if lacking != 0 {
                        own.waiting.entry(granule).or_default().add(lacking, write);
                    }
                    let made = own.made.entry(granule).or_default();
                    if made.0 != releases {
                        *made = (releases, Done::default());
                    }
                    made.1.add(mask, write);
                }
            }
            SYNC => {
                if event.what & ACQUIRE != 0 {
                    nothing_waits(&sides, n, "something is acquired")?;
                }
                if event.what & RELEASE != 0 {
                    releases += 1;
                }
            }
            FREE => {
                for (granule, mask) in granules(event) {
                    for side in &mut sides {
                        if side
                            .waiting
                            .get(&granule)
                            .is_some_and(|done| done.any & mask != 0)
                        {
                            return nothing_waits(&sides, n, "it is freed");
                        }
                        side.made.remove(&granule);
                    }
                }
            }
            END => return nothing_waits(&sides, n, "the thread ends"),
            // See `unshared`.
            PRIVATE | PUBLISHED | BEGIN => {}
            kind => return Err(format!("entry {n} has kind {kind}")),
        }
    }
    Ok(())
}

/// What happened to a byte since it is what it is.
#[derive(Clone, Copy, Default)]
struct Byte {
    /// The thread that accessed it, counted from 1.
    thread: usize,
    several: bool,
    written: bool,
    private: bool,
    published: bool,
    written_late: bool,
}

/// Goes through the logs of all threads at once, in the order of what happened: what is called private must be accessed by one
/// thread, or not written, from where it is allocated to where it is freed; what is called published must not be written once a
/// thread has been started.
pub fn unshared(logs: &[Vec<Event>], seen: &mut Seen) -> Result<(), String> {
    let mut bytes: HashMap<u64, [Byte; 8]> = HashMap::new();
    let untold = |event: &&Event| matches!(event.kind, PRIVATE | PUBLISHED);
    for event in logs.iter().flatten().filter(untold) {
        seen.untold += 1;
        bytes.extend(granules(event).map(|(granule, _)| (granule, Default::default())));
    }
    let mut all: Vec<(usize, &Event)> = Vec::new();
    for (n, log) in logs.iter().enumerate() {
        let matters = |event: &&Event| {
            event.kind == SYNC && event.what & START != 0
                || !matches!(event.kind, SYNC | CHECK | END)
                    && granules(event).any(|(granule, _)| bytes.contains_key(&granule))
        };
        all.extend(log.iter().filter(matters).map(|event| (n + 1, event)));
    }
    all.sort_by_key(|(_, event)| event.stamp);
    let mut started = false;
    for (thread, event) in all {
        if event.kind == SYNC {
            started = true;
            continue;
        }
        let write = event.what != 0;
        for (granule, mask) in granules(event) {
            let Some(these) = bytes.get_mut(&granule) else {
                continue;
            };
            for (i, byte) in these.iter_mut().enumerate().filter(|(i, _)| mask >> i & 1 != 0) {
                if matches!(event.kind, BEGIN | FREE) {
                    *byte = Byte::default();
                    continue;
                }
                byte.several |= byte.thread != 0 && byte.thread != thread;
                byte.thread = thread;
                byte.written |= write;
                byte.written_late |= write && started;
                byte.private |= event.kind == PRIVATE;
                byte.published |= event.kind == PUBLISHED;
                let address = granule * 8 + i as u64;
                if byte.private && byte.several && byte.written {
                    return Err(format!(
                        "{address:#x} is called private, and several threads access it"
                    ));
                }
                if byte.published && byte.written_late {
                    return Err(format!("{address:#x} is called published, and is written later"));
                }
            }
        }
    }
    Ok(())
}

fn nothing_waits(sides: &[Side; 2], entry: usize, what: &str) -> Result<(), String> {
    let mut wrong = Vec::new();
    for (side, name) in sides
        .iter()
        .zip(["access is not covered", "check is not legitimate"])
    {
        for (granule, done) in &side.waiting {
            let kind = if done.write != 0 { "write" } else { "read" };
            let address = granule * 8 + u64::from(done.any.trailing_zeros());
            wrong.push(format!(
                "{kind} of {address:#x} when {what} (entry {entry}): its {name}"
            ));
        }
    }
    wrong.sort();
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(format!("{} bytes or more: {}", wrong.len(), wrong[0])),
    }
}

/// The eight-byte granules that an event is of, with masks.
fn granules(event: &Event) -> impl Iterator<Item = (u64, u8)> + use<> {
    let (address, stride, bytes) = (event.address, event.stride, event.bytes);
    let places = (0..event.count).map(move |n| address.wrapping_add(n.wrapping_mul(stride)));
    places.filter(move |_| bytes > 0).flat_map(move |start| {
        let end = start + bytes;
        (start / 8..=(end - 1) / 8).map(move |granule| {
            let (from, to) = (start.max(granule * 8), end.min(granule * 8 + 8));
            let ones = (1u16 << (to - from)) - 1;
            (granule, (ones << (from % 8)) as u8)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(kind: u32, what: u32, address: u64, count: u64, stride: u64, bytes: u64) -> Event {
        Event {
            kind,
            what,
            address,
            count,
            stride,
            bytes,
            stamp: 0,
        }
    }

    fn is_right(events: &[Event]) -> bool {
        verify(events, &mut Seen::default()).is_ok()
    }

    const READ: u32 = 0;
    const WRITE: u32 = 1;

    #[test]
    fn a_check_stands_for_accesses_on_the_right_side_of_synchronisation_only() {
        let access = || at(ACCESS, WRITE, 100, 1, 0, 4);
        let check = || at(CHECK, WRITE, 100, 1, 0, 4);
        let sync = |what| at(SYNC, what, 0, 0, 0, 0);
        let end = || at(END, 0, 0, 0, 0, 0);
        assert!(is_right(&[check(), access(), end()]));
        assert!(is_right(&[access(), check(), end()]));
        // After a release the check before it stands for nothing; after an acquire it does.
        assert!(is_right(&[check(), access(), sync(ACQUIRE), access(), end()]));
        assert!(!is_right(&[check(), access(), sync(RELEASE), access(), end()]));
        // A check that is still to come stands for what is before a release, not before an acquire.
        assert!(is_right(&[access(), sync(RELEASE), check(), access(), end()]));
        assert!(!is_right(&[access(), sync(ACQUIRE), check(), access(), end()]));
        // A check must be of something.
        assert!(!is_right(&[check(), end()]));
        assert!(!is_right(&[check(), sync(ACQUIRE), access(), end()]));
        assert!(!is_right(&[access(), end()]));
        assert!(is_right(&[access()]), "the end of the process cut it off");
    }

    #[test]
    fn every_byte_counts_and_reads_are_no_writes() {
        let end = || at(END, 0, 0, 0, 0, 0);
        let sweep = |what, address, count| at(CHECK, what, address, count, 8, 4);
        let access = |what, address| at(ACCESS, what, address, 1, 0, 4);
        let all = || [access(WRITE, 96), access(WRITE, 104), access(WRITE, 112)];
        let with = |check: Event| is_right(&all().into_iter().chain([check, end()]).collect::<Vec<_>>());
        assert!(with(sweep(WRITE, 96, 3)));
        assert!(with(at(CHECK, WRITE, 112, 3, 8u64.wrapping_neg(), 4)));
        assert!(!with(sweep(WRITE, 96, 2)), "the last is not covered");
        assert!(!with(sweep(WRITE, 96, 4)), "there is none for the last");
        assert!(!with(at(CHECK, WRITE, 96, 1, 0, 20)), "nor for the gaps");
        assert!(!with(sweep(READ, 96, 3)), "they are writes");
        assert!(is_right(&[
            access(READ, 96),
            access(WRITE, 96),
            sweep(WRITE, 96, 1),
            end()
        ]));
        assert!(!is_right(&[access(READ, 96), sweep(WRITE, 96, 1), end()]));
    }

    #[test]
    fn what_is_called_private_or_published_must_be() {
        let right = |threads: &[&[(u64, u32, u32, u64)]]| {
            let event = |&(stamp, kind, what, address): &(u64, u32, u32, u64)| Event {
                stamp,
                ..at(kind, what, address, 1, 0, 8)
            };
            let logs: Vec<Vec<Event>> = threads
                .iter()
                .map(|events| events.iter().map(event).collect())
                .collect();
            unshared(&logs, &mut Seen::default()).is_ok()
        };
        let mine = (1, PRIVATE, WRITE, 96);
        assert!(right(&[&[mine], &[(2, ACCESS, WRITE, 104)]]));
        assert!(!right(&[&[mine], &[(2, ACCESS, READ, 96)]]));
        assert!(!right(&[&[mine], &[(2, PRIVATE, READ, 100)]]));
        assert!(!right(&[&[(3, PRIVATE, READ, 96)], &[(2, ACCESS, WRITE, 96)]]));
        assert!(right(&[&[(3, PRIVATE, READ, 96)], &[(2, ACCESS, READ, 96)]]));
        for again in [FREE, BEGIN] {
            assert!(right(&[&[mine], &[(2, again, 0, 96), (3, ACCESS, WRITE, 96)]]));
        }
        let (read, start) = ((5, PUBLISHED, READ, 96), (3, SYNC, START | RELEASE, 0));
        assert!(right(&[&[(2, ACCESS, WRITE, 96), start], &[read]]));
        assert!(!right(&[&[start, (4, ACCESS, WRITE, 96)], &[read]]));
        assert!(!right(&[&[start, (6, ACCESS, WRITE, 96)], &[read]]));
    }

    #[test]
    fn what_is_freed_must_have_been_checked() {
        let (access, check) = (at(ACCESS, WRITE, 100, 1, 0, 4), at(CHECK, WRITE, 100, 1, 0, 4));
        let free = at(FREE, 0, 96, 1, 0, 64);
        assert!(!is_right(&[access, free, check, at(END, 0, 0, 0, 0, 0)]));
    }
}
