//! The file that logs go to.
//!
//! A thread's block is mapped shared, so what is in it is in the file whatever becomes of the process, and the kernel writes
//! it out when it sees fit. Its disk space is taken before it is mapped: a full disk is an error here, not a signal in the
//! middle of an access.

use crate::modules::Modules;
use crate::{log, vm};
use deadheat_abi::spill::{self, BLOCK_HEADER, BlockHeader, MAGIC, STOPPED, UNIT, WIDE};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, AtomicU64, AtomicUsize, Ordering};

/// The file, or -1.
static FILE: AtomicI32 = AtomicI32::new(-1);
/// Its device and number: a program may close descriptors that are not its own, and open others.
static DEVICE: AtomicU64 = AtomicU64::new(0);
static NUMBER: AtomicU64 = AtomicU64::new(0);
/// Where the next block begins.
static NEXT: AtomicU64 = AtomicU64::new(UNIT);
/// Where its header is mapped, or 0.
static HEADER: AtomicUsize = AtomicUsize::new(0);
static TOLD: AtomicBool = AtomicBool::new(false);

/// The largest block.
const MOST: usize = 1 << 20;

/// Modules are told in blocks of this thread.
const MODULES: u32 = spill::MODULES;

/// Whether there is a file.
pub fn is_open() -> bool {
    HEADER.load(Ordering::Relaxed) != 0
}

/// Opens the file, which must be empty: one that is not belongs to the program that started this one. What is wrong, if
/// anything is.
pub fn open(path: &str) -> Result<(), String> {
    let failed = |what: &str| format!("cannot record to {path}: {what}");
    let name = std::ffi::CString::new(path).map_err(|_| failed("a path with a zero byte"))?;
    // SAFETY: a C string. Made directly: `open` may be intercepted.
    let fd = unsafe {
        libc::syscall(
            libc::SYS_openat,
            libc::AT_FDCWD,
            name.as_ptr(),
            libc::O_RDWR | libc::O_CLOEXEC,
        )
    };
    if fd < 0 {
        return Err(failed(&error()));
    }
    let fd = out_of_the_way(fd as i32);
    let status = status(fd).ok_or_else(|| failed(&error()))?;
    if status.st_size != 0 {
        close_descriptor(fd);
        return Ok(());
    }
    FILE.store(fd, Ordering::Relaxed);
    DEVICE.store(status.st_dev, Ordering::Relaxed);
    NUMBER.store(status.st_ino, Ordering::Relaxed);
    take(0, UNIT as usize).map_err(|why| failed(&why))?;
    let header = vm::map_file(0, vm::PAGE, fd, 0).map_err(|error| failed(&text(error)))?;
    // SAFETY: a page that was just mapped.
    unsafe { std::ptr::copy_nonoverlapping(MAGIC.as_ptr(), header, MAGIC.len()) };
    HEADER.store(header.expose_provenance(), Ordering::Release);
    Ok(())
}

/// Puts a descriptor where programs do not expect one.
fn out_of_the_way(fd: i32) -> i32 {
    for least in [900, 200] {
        // SAFETY: no memory is touched.
        let high = unsafe { libc::syscall(libc::SYS_fcntl, fd, libc::F_DUPFD_CLOEXEC, least) };
        if high >= 0 {
            close_descriptor(fd);
            return high as i32;
        }
    }
    fd
}

fn close_descriptor(fd: i32) {
    // SAFETY: our own descriptor.
    unsafe { libc::syscall(libc::SYS_close, fd) };
}

fn status(fd: i32) -> Option<libc::stat> {
    let mut status = std::mem::MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the kernel fills the structure in where it succeeds.
    unsafe { (libc::syscall(libc::SYS_fstat, fd, status.as_mut_ptr()) == 0).then(|| status.assume_init()) }
}

fn error() -> String {
    text(vm::errno())
}

fn text(error: i32) -> String {
    std::io::Error::from_raw_os_error(error).to_string()
}

/// Takes disk space.
fn take(offset: u64, len: usize) -> Result<i32, String> {
    let fd = FILE.load(Ordering::Relaxed);
    let ours = status(fd).is_some_and(|status| {
        (status.st_dev, status.st_ino) == (DEVICE.load(Ordering::Relaxed), NUMBER.load(Ordering::Relaxed))
    });
    if !ours {
        return Err("the program has closed its descriptor".to_owned());
    }
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the kernel fills the structure in. Beyond the limit it would send a signal.
    unsafe { libc::syscall(libc::SYS_prlimit64, 0, libc::RLIMIT_FSIZE, 0, &raw mut limit) };
    if offset + len as u64 > limit.rlim_cur {
        return Err(text(libc::EFBIG));
    }
    // SAFETY: no memory is touched.
    if unsafe { libc::syscall(libc::SYS_fallocate, fd, 0, offset, len) } == 0 {
        return Ok(fd);
    }
    match vm::errno() {
        // A file system that cannot promise space: then only the length is seen to.
        libc::EOPNOTSUPP => {
            let last = offset + len as u64 - 1;
            // SAFETY: writes a byte that is there.
            match unsafe { libc::syscall(libc::SYS_pwrite64, fd, c"".as_ptr(), 1, last) } {
                1 => Ok(fd),
                _ => Err(error()),
            }
        }
        error => Err(text(error)),
    }
}

fn header(at: usize) -> Option<&'static AtomicU8> {
    let header = HEADER.load(Ordering::Acquire);
    // SAFETY: mapped for good, until `close` in a process that has one thread.
    (header != 0).then(|| unsafe { &*std::ptr::with_exposed_provenance::<AtomicU8>(header + at) })
}

/// A call reached too much to be told.
pub fn wide() {
    if let Some(byte) = header(WIDE) {
        byte.store(1, Ordering::Relaxed);
    }
}

/// A thread could not record what it did after `time`: what others did after it is not to be trusted.
pub fn stopped(time: u64) {
    let Some(byte) = header(STOPPED) else { return };
    byte.store(1, Ordering::Relaxed);
    let word = HEADER.load(Ordering::Relaxed) + spill::STOP_TIME;
    // SAFETY: as in `header`, and aligned.
    let word = unsafe { &*std::ptr::with_exposed_provenance::<AtomicU64>(word) };
    // Inverted, so that none is zero.
    word.fetch_max(!time, Ordering::Relaxed);
}

fn say(why: &str) {
    if !TOLD.swap(true, Ordering::Relaxed) {
        log::tell(format_args!("recording ends here ({why}); the program goes on"));
    }
}

/// In the child of a `fork`: the file is the parent's.
pub fn close() {
    HEADER.store(0, Ordering::Relaxed);
    let fd = FILE.swap(-1, Ordering::Relaxed);
    if fd >= 0 {
        close_descriptor(fd);
    }
}

/// Tells what is loaded where.
pub fn tell_modules() {
    let modules = Modules::now();
    let mut block = Block::default();
    for piece in modules.text().chunks(UNIT as usize - BLOCK_HEADER) {
        block.blocks = 0;
        if !block.next(MODULES, 0) {
            return;
        }
        block.bytes()[BLOCK_HEADER..BLOCK_HEADER + piece.len()].copy_from_slice(piece);
    }
    block.give_back();
}

/// The block that a thread writes to.
#[derive(Default)]
pub struct Block {
    /// Where the thread's blocks are mapped, one in the place of another; 0 before the first.
    start: usize,
    len: usize,
    blocks: u32,
}

impl Block {
    /// How many bytes it has.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Its bytes.
    #[inline(always)]
    pub fn bytes(&mut self) -> &mut [u8] {
        if self.len == 0 {
            return &mut [];
        }
        // SAFETY: mapped, and only this thread's.
        unsafe { std::slice::from_raw_parts_mut(std::ptr::with_exposed_provenance_mut(self.start), self.len) }
    }

    /// Goes on to the next. False if there can be none, which is said.
    pub fn next(&mut self, thread: u32, time: u64) -> bool {
        let len = (UNIT as usize) << self.blocks.min(4);
        let offset = NEXT.fetch_add(len as u64, Ordering::Relaxed);
        let mapped = take(offset, len).and_then(|fd| self.map(fd, offset, len));
        if let Err(why) = mapped {
            say(&why);
            return false;
        }
        self.blocks += 1;
        vm::advise(self.start, len, libc::MADV_POPULATE_WRITE);
        let header = BlockHeader {
            thread,
            len: len as u32,
            time,
        };
        self.bytes()[..BLOCK_HEADER].copy_from_slice(&header.to_bytes());
        true
    }

    fn map(&mut self, fd: i32, offset: u64, len: usize) -> Result<(), String> {
        if self.start == 0 {
            let window = vm::reserve(0, MOST).map_err(text)?;
            self.start = window.expose_provenance();
        }
        vm::map_file(self.start, len, fd, offset).map_err(text)?;
        self.len = len;
        Ok(())
    }

    /// Unmaps it. What was written stays.
    pub fn give_back(&mut self) {
        if self.start != 0 {
            // SAFETY: mapped by `map`; the thread writes no more.
            unsafe { vm::unmap(std::ptr::with_exposed_provenance_mut(self.start), MOST) };
            *self = Block::default();
        }
    }
}
