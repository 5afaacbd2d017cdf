//! How an event becomes bytes: what encoder and decoder share.
//!
//! A block starts with the list of its threads; events are of the thread that was named last, by its position there. The
//! first byte of an event, its *tag*, is either
//!
//! - below [`OTHERS`]: a plain access of 1, 2, 4 or 8 bytes without a recorded value. The tag then says all about
//!   what follows: how many bytes the address takes, as a difference from one of the two addresses that the thread
//!   remembers (programs go back and forth between a few places: most differences are 0), and how many the site takes (none
//!   if it is the one that followed the thread's last site before);
//! - or [`OTHERS`] ` + opcode`: anything else, with LEB128 numbers behind it, or a change of thread.
//!
//! Encoder and decoder keep the same predictions; both start afresh with every block.

/// Tags from here on are not short accesses.
pub(super) const OTHERS: u8 = 192;

/// Bytes that must be readable behind the start of any short access.
pub(super) const WINDOW: usize = 16;

/// The most threads in one block: they are named by a byte.
pub(super) const MAX_LANES: usize = 256;

/// How a short access can say its address: as a difference from the lane's second address or from its first, in so many
/// bytes. The shortest come first.
pub(super) const ADDRESSES: [(bool, u8); 8] = [
    (false, 0),
    (true, 0),
    (false, 1),
    (true, 1),
    (false, 2),
    (true, 2),
    (true, 4),
    (false, 6),
];

/// Whether the lane's first address becomes its second when another is said in this way: if it is from the second, which
/// changes places with it, or far from both.
pub(super) const fn pushes(address: usize) -> bool {
    ADDRESSES[address].0 || address == 7
}

/// Bytes that a short access can give to its site; 0 is "as predicted".
pub(super) const SITE_BYTES: [u8; 3] = [0, 1, 3];

/// Opcodes of everything that is not a short access.
pub(super) mod opcode {
    pub(crate) const ACCESS: u8 = 0;
    pub(crate) const ARRAY_READ: u8 = 1;
    pub(crate) const ARRAY_WRITE: u8 = 2;
    pub(crate) const ARRAY_READ_RANGE: u8 = 3;
    pub(crate) const ARRAY_WRITE_RANGE: u8 = 4;
    pub(crate) const ACQUIRE: u8 = 5;
    pub(crate) const ACQUIRE_SHARED: u8 = 6;
    pub(crate) const RELEASE: u8 = 7;
    pub(crate) const ATOMIC: u8 = 8;
    pub(crate) const FENCE: u8 = 9;
    pub(crate) const FORK: u8 = 10;
    pub(crate) const JOIN: u8 = 11;
    pub(crate) const BEGIN: u8 = 12;
    pub(crate) const END: u8 = 13;
    pub(crate) const BARRIER_ENTER: u8 = 14;
    pub(crate) const BARRIER_LEAVE: u8 = 15;
    pub(crate) const SEND: u8 = 16;
    pub(crate) const RECEIVE: u8 = 17;
    pub(crate) const ALLOC: u8 = 18;
    pub(crate) const FREE: u8 = 19;
    pub(crate) const NEW_ARRAY: u8 = 20;
    pub(crate) const CALL_BEGIN: u8 = 21;
    pub(crate) const CALL_END: u8 = 22;
    /// No event: another lane becomes current.
    pub(crate) const SWITCH: u8 = 30;
    /// No event: numbers that are left out.
    pub(crate) const SKIP: u8 = 31;
}

/// The orderings by their code.
pub(super) const ORDERS: [deadheat_event::Order; 6] = {
    use deadheat_event::Order::{AcqRel, Acquire, Relaxed, Release, SeqCst, Volatile};
    [Relaxed, Acquire, Release, AcqRel, SeqCst, Volatile]
};

/// The atomic operations by their code.
pub(super) const ATOMIC_OPS: [deadheat_event::AtomicOp; 3] = {
    use deadheat_event::AtomicOp::{Load, Rmw, Store};
    [Load, Store, Rmw]
};

/// The tag of a short access. `address` and `site` index [`ADDRESSES`] and [`SITE_BYTES`].
pub(super) const fn short_tag(address: u8, site: u8, size_log2: u8, write: bool) -> u8 {
    ((address * 3 + site) * 4 + size_log2) * 2 + write as u8
}

/// What the tag of a short access says, ready for the decoder. Eight bytes, to be found without a multiplication.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    /// Bytes in all.
    pub(super) len: u8,
    /// Where the site starts.
    pub(super) site_at: u8,
    /// How far left the eight bytes from the tag on must be shifted to put the address difference at the top …
    pub(super) addr_left: u8,
    /// … and then back right, sign included. Without a difference there is the tag at the top, of which nothing is left.
    pub(super) addr_right: u8,
    /// The same for the four bytes at `site_at`, left and right. 0 if the site is not written but predicted.
    pub(super) site_shift: u8,
    /// The address is a difference from the lane's second.
    pub(super) second: bool,
    /// The lane's first address becomes its second.
    pub(super) pushes: bool,
    pub(super) size: u8,
}

const _: () = assert!(size_of::<Shape>() == 8);

/// The shape of each tag below [`OTHERS`].
pub(super) static SHAPES: [Shape; 256] = shapes();

const fn shapes() -> [Shape; 256] {
    let empty = Shape {
        len: 0,
        site_at: 0,
        addr_left: 0,
        addr_right: 0,
        site_shift: 0,
        second: false,
        pushes: false,
        size: 0,
    };
    let mut table = [empty; 256];
    let mut tag = 0;
    while tag < OTHERS {
        let size_log2 = tag / 2 % 4;
        let site = SITE_BYTES[(tag / 8 % 3) as usize];
        let address = (tag / 24) as usize;
        let (second, addr) = ADDRESSES[address];
        // Arithmetic shifts of the tag by 63 bits give 0 because its top bit is 0.
        assert!(addr > 0 || tag < 128);
        table[tag as usize] = Shape {
            len: 1 + addr + site,
            site_at: 1 + addr,
            addr_left: 56 - 8 * addr,
            addr_right: if addr == 0 { 63 } else { 64 - 8 * addr },
            site_shift: if site == 0 { 0 } else { 32 - 8 * site },
            second,
            pushes: pushes(address),
            size: 1 << size_log2,
        };
        tag += 1;
    }
    table
}

// The decoder reads the site with one four-byte load at `site_at`, which is at most 7.
const _: () = assert!(7 + 4 <= WINDOW);
const _: () = assert!(short_tag(7, 2, 3, true) == OTHERS - 1);

/// What is predicted for one thread of a block.
#[derive(Clone, Copy, Default)]
pub(super) struct Lane {
    /// The last address.
    pub(super) addr: u64,
    /// An address before it, usually in another part of memory.
    pub(super) second: u64,
    pub(super) sync: u64,
    pub(super) index: u64,
    pub(super) site: u32,
    pub(super) array: u32,
    pub(super) thread: u32,
    /// The block's list of threads is too short for it. Only the decoder sets it.
    pub(super) unlisted: bool,
}

/// Entries of the table that predicts sites.
const SITES: usize = 1 << 12;

/// Predicts the site of an access: the one that came after the last site when that was last seen.
pub(super) struct Successors(Box<[u32; SITES]>);

impl Successors {
    pub(super) fn new() -> Successors {
        Successors(Box::new([0; SITES]))
    }

    pub(super) fn reset(&mut self) {
        self.0.fill(0);
    }

    /// The predicted successor of `site`.
    #[inline(always)]
    pub(super) fn get(&self, site: u32) -> u32 {
        self.0[site as usize % SITES]
    }

    #[inline(always)]
    pub(super) fn set(&mut self, site: u32, next: u32) {
        self.0[site as usize % SITES] = next;
    }
}
