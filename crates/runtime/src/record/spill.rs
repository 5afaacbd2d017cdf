//! The file that logs go to.
//!
//! A thread's block is mapped shared, so what is in it is in the file whatever becomes of the process. Its disk space is taken before
//! it is mapped: a full disk is an error here, not a signal in the middle of an access. A full block is copied to
//! another place of the file, and used again: that takes a tenth of the time of mapping new ones, whose pages the kernel would
//! have to find one by one. A thread that ends leaves its block to the next.

use crate::modules::Modules;
use crate::spin::Spin;
use crate::{log, vm};
use deadheat_abi::spill::{self, BLOCK_HEADER, BlockHeader, MAGIC, STOPPED, UNIT};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, AtomicU64, AtomicUsize, Ordering, compiler_fence};

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

/// Blocks that threads have left: where they are mapped.
static LEFT: Spin<Vec<usize>> = Spin::new(Vec::new());

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
    take(0).map_err(|why| failed(&why))?;
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

/// The file, if up to `end` there may be something in it.
fn file(end: u64) -> Result<i32, String> {
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
    if end > limit.rlim_cur {
        return Err(text(libc::EFBIG));
    }
    Ok(fd)
}

/// Takes disk space for a block.
fn take(offset: u64) -> Result<i32, String> {
    let fd = file(offset + UNIT)?;
    // SAFETY: no memory is touched.
    if unsafe { libc::syscall(libc::SYS_fallocate, fd, 0, offset, UNIT) } == 0 {
        return Ok(fd);
    }
    match vm::errno() {
        // A file system that cannot promise space: it is written to instead.
        libc::EOPNOTSUPP => put(&[0; UNIT as usize], offset).map(|()| fd),
        error => Err(text(error)),
    }
}

/// Writes to the file.
fn put(mut bytes: &[u8], mut offset: u64) -> Result<(), String> {
    let fd = file(offset + bytes.len() as u64)?;
    while !bytes.is_empty() {
        // SAFETY: reads bytes that are there.
        let done = unsafe { libc::syscall(libc::SYS_pwrite64, fd, bytes.as_ptr(), bytes.len(), offset) };
        match done {
            1.. => {
                bytes = &bytes[done as usize..];
                offset += done as u64;
            }
            0 => return Err(text(libc::ENOSPC)),
            _ if vm::errno() == libc::EINTR => {}
            _ => return Err(error()),
        }
    }
    Ok(())
}

/// Takes the lock, before a `fork`.
pub fn hold() {
    LEFT.hold();
}

/// Gives it back, after it.
pub fn let_go() {
    LEFT.let_go();
}

fn header(at: usize) -> Option<&'static AtomicU8> {
    let header = HEADER.load(Ordering::Acquire);
    // SAFETY: mapped for good, until `close` in a process that has one thread.
    (header != 0).then(|| unsafe { &*std::ptr::with_exposed_provenance::<AtomicU8>(header + at) })
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
    for (number, piece) in Modules::now().text().chunks(LEN - BLOCK_HEADER).enumerate() {
        let header = BlockHeader {
            thread: MODULES,
            number: number as u32,
            time: 0,
        };
        let block = [&header.to_bytes()[..], piece].concat();
        if let Err(why) = put(&block, next()) {
            return say(&why);
        }
    }
}

fn next() -> u64 {
    NEXT.fetch_add(UNIT, Ordering::Relaxed)
}

const LEN: usize = UNIT as usize;

/// The block that a thread writes to.
#[derive(Default)]
pub struct Block {
    /// Where it is mapped; 0 if there is none.
    start: usize,
    number: u32,
}

impl Block {
    /// Where it begins.
    pub fn start(&self) -> usize {
        self.start
    }

    /// Its bytes.
    #[inline(always)]
    pub fn bytes(&mut self) -> &mut [u8] {
        let len = if self.start == 0 { 0 } else { LEN };
        let start = std::ptr::with_exposed_provenance_mut(self.start.max(1));
        // SAFETY: mapped, and only this thread's.
        unsafe { std::slice::from_raw_parts_mut(start, len) }
    }

    /// Begins the next block, with a record of `time` behind it, when `used` bytes of the last are. False if there can be none, which
    /// is said.
    pub fn next(&mut self, thread: u32, used: usize, time: u64) -> bool {
        let done = if self.start == 0 {
            self.map()
        } else {
            put(&self.bytes()[..used], next())
        };
        if let Err(why) = done {
            say(&why);
            return false;
        }
        self.begin(thread, time);
        true
    }

    /// Whatever happens in between, what is found is the last block, or the next one without records.
    fn begin(&mut self, thread: u32, time: u64) {
        self.number += 1;
        let header = BlockHeader {
            thread,
            number: self.number,
            time,
        };
        let bytes = self.bytes();
        bytes[BLOCK_HEADER..BLOCK_HEADER + 4].fill(0);
        compiler_fence(Ordering::SeqCst);
        bytes[..BLOCK_HEADER].copy_from_slice(&header.to_bytes());
        compiler_fence(Ordering::SeqCst);
    }

    fn map(&mut self) -> Result<(), String> {
        if let Some(start) = LEFT.lock().pop() {
            self.start = start;
            return Ok(());
        }
        let offset = next();
        let fd = take(offset)?;
        let start = vm::map_file(0, LEN, fd, offset).map_err(text)?;
        vm::advise(start.addr(), LEN, libc::MADV_POPULATE_WRITE);
        self.start = start.expose_provenance();
        Ok(())
    }

    /// Goes on to memory that is in no file; what is in the block stays there. Whether there is such memory.
    pub fn lose(&mut self) -> bool {
        self.start = vm::map(LEN).expose_provenance();
        self.start != 0
    }

    /// Leaves it to others, when `used` bytes of it are; none if it is in no file. If they cannot be put anywhere else, it stays as
    /// it is.
    pub fn leave(&mut self, used: usize) {
        if self.start == 0 {
            return;
        }
        if used == 0 {
            // SAFETY: mapped by `lose`, and only this thread's.
            unsafe { vm::unmap(std::ptr::with_exposed_provenance_mut(self.start), LEN) };
            self.start = 0;
            return;
        }
        match put(&self.bytes()[..used], next()) {
            Ok(()) => {
                // No longer this thread's: the next one's header comes with a block that is not empty.
                self.bytes()[..BLOCK_HEADER].fill(0);
                LEFT.lock().push(self.start);
            }
            Err(why) => say(&why),
        }
        self.start = 0;
    }

    /// Lets go of it: it is somebody else's.
    pub fn forget(&mut self) {
        self.start = 0;
    }
}
