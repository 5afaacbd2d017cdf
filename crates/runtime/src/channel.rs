//! The way to the reporter: a file descriptor that was given, or a socket to a process started at the first race.
//!
//! Lines are those of `abi::wire`. A record is put together in memory and written at once. The channel must not disturb
//! the program: its descriptor is moved out of the way, is not there for the program to close (daemons close all there are),
//! and is looked at again before each write (there are other ways), no signal is raised if the reader has gone, and the reporter is nobody's child, so that the program's
//! `wait` does not meet it. It answers each race with a byte; the end of its answers is its end.

use crate::options::Options;
use crate::spin::Spin;
use crate::vm::errno;
use crate::{loss, reporter};
use deadheat_abi::wire;
use std::fmt::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

/// Descriptors of the runtime are at least this, where the program's limit allows.
const HIGH: i32 = 512;

/// Lines to be written at once.
#[derive(Default)]
pub struct Lines(pub Vec<u8>);

impl Write for Lines {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

impl Lines {
    /// Adds a line of a word and its fields.
    pub fn line(&mut self, fields: std::fmt::Arguments<'_>) {
        // Writing to memory does not fail.
        let _ = self.write_fmt(fields);
        self.0.push(b'\n');
    }

    /// Says who speaks.
    fn who(&mut self) {
        self.line(format_args!(
            "deadheat\t{}\t{}",
            wire::VERSION,
            std::process::id()
        ));
    }

    /// Adds a text as a field, without an end of line.
    pub fn text(&mut self, text: &str) {
        let _ = wire::escape(text, self);
    }
}

struct Channel {
    /// -1 while there is none.
    fd: i32,
    /// What the descriptor was when it was opened.
    file: (u64, u64),
    /// Whether it was said who speaks.
    greeted: bool,
    /// Whether the reader could not be reached, or has gone.
    lost: bool,
    /// Whether another was started in its place.
    again: bool,
    /// Whether this runtime started the reporter.
    own: bool,
    /// Races that count, as answered.
    counted: u64,
    /// Races answered.
    answered: u64,
}

impl Channel {
    const fn new() -> Channel {
        Channel {
            fd: -1,
            file: (0, 0),
            greeted: false,
            lost: false,
            again: false,
            own: false,
            counted: 0,
            answered: 0,
        }
    }
}

static CHANNEL: Spin<Channel> = Spin::new(Channel::new());

/// The channel's descriptor for who must not wait, -1 if there is none.
static DESCRIPTOR: AtomicI32 = AtomicI32::new(-1);

/// The descriptor that is not the program's, or -1.
pub fn descriptor() -> i32 {
    DESCRIPTOR.load(Ordering::Relaxed)
}

/// The program is about to use the channel's descriptor for something else: it gets out of the way.
pub fn make_way() {
    let mut channel = CHANNEL.lock();
    let old = channel.fd;
    if let Some(new) = copy(old, old.saturating_add(1)).or_else(|| copy(old, 0)) {
        channel.set(new);
        close(old);
    }
}

static OPTIONS: OnceLock<Options> = OnceLock::new();

/// The options of this run.
pub fn options() -> &'static Options {
    OPTIONS.get_or_init(Options::default)
}

/// Sets the options, once.
pub fn set_options(options: Options) {
    let _ = OPTIONS.set(options);
}

/// Takes the lock, before a `fork`.
pub fn hold() {
    CHANNEL.hold();
}

/// Gives it back, after it.
pub fn let_go() {
    CHANNEL.let_go();
}

/// After a `fork`, in the child: a reporter that runs already is told of a new process, one of the parent's own is not
/// this process's.
pub fn child() {
    let mut channel = CHANNEL.lock();
    if channel.own {
        close(channel.fd);
        *channel = Channel::new();
        channel.set(-1);
    }
    channel.greeted = false;
}

/// Whether another process may speak on the channel that was given.
static FORKED: AtomicBool = AtomicBool::new(false);

/// Before a `fork`. Whoever watches is to hear of this process first, whose end is the program's.
pub fn forks() {
    FORKED.store(true, Ordering::Relaxed);
    let mut channel = CHANNEL.lock();
    channel.take_given();
    if channel.fd >= 0 && !channel.own {
        channel.greet();
    }
}

/// A copy of a descriptor, not below `least`.
fn copy(fd: i32, least: i32) -> Option<i32> {
    // SAFETY: copies a descriptor.
    let new = unsafe { libc::syscall(libc::SYS_fcntl, fd, libc::F_DUPFD_CLOEXEC, least) } as i32;
    (new >= 0).then_some(new)
}

fn close(fd: i32) {
    // SAFETY: the runtime's own descriptor.
    unsafe { libc::syscall(libc::SYS_close, fd) };
}

/// Device and number of the file behind a descriptor.
fn file_of(fd: i32) -> Option<(u64, u64)> {
    // SAFETY: the kernel fills in the structure.
    unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        (libc::syscall(libc::SYS_fstat, fd, &raw mut stat) == 0).then_some((stat.st_dev, stat.st_ino))
    }
}

impl Channel {
    fn set(&mut self, fd: i32) {
        self.fd = fd;
        DESCRIPTOR.store(fd, Ordering::Relaxed);
    }

    /// Takes the descriptor that was given, if it is still what it was: where the program has closed it and started another,
    /// that has its own file there, or none.
    fn take_given(&mut self) {
        let (given, file) = (options().report_fd, options().report_file);
        if let Some(fd) = given
            && self.fd < 0
            && !self.lost
            && !self.again
            && file_of(fd).is_some_and(|(_, number)| file == 0 || file == number)
        {
            self.adopt(fd);
        }
    }

    fn adopt(&mut self, fd: i32) {
        self.set(copy(fd, HIGH).unwrap_or(fd));
        match file_of(self.fd) {
            Some(file) => self.file = file,
            None => self.lost = true,
        }
    }

    /// Opens the channel and says who we are.
    fn open(&mut self) {
        if self.lost {
            return;
        }
        self.take_given();
        if self.fd < 0 {
            match reporter::start(options().reporter.as_deref()) {
                Ok(fd) => {
                    self.own = true;
                    self.adopt(fd);
                    if self.fd != fd {
                        close(fd);
                    }
                }
                Err(why) => {
                    self.lost = true;
                    crate::log::tell(format_args!("reports have no names and lines: {why}"));
                    return;
                }
            }
        }
        self.greet();
    }

    fn greet(&mut self) {
        if std::mem::replace(&mut self.greeted, true) {
            return;
        }
        let mut lines = Lines::default();
        lines.who();
        lines.text("command");
        for argument in crate::init::arguments() {
            lines.0.push(b'\t');
            lines.text(&argument.to_string_lossy());
        }
        lines.0.push(b'\n');
        self.send(&lines.0);
    }

    fn send(&mut self, mut bytes: &[u8]) {
        if self.fd < 0 || self.lost {
            return;
        }
        if file_of(self.fd) != Some(self.file) {
            self.lost = true;
            crate::log::tell(format_args!(
                "the program closed the descriptor of the reports: from here on they have no names and lines"
            ));
            return;
        }
        while !bytes.is_empty() {
            // SAFETY: sends bytes that are there.
            let mut sent = unsafe {
                libc::syscall(
                    libc::SYS_sendto,
                    self.fd,
                    bytes.as_ptr(),
                    bytes.len(),
                    libc::MSG_NOSIGNAL,
                    0,
                    0,
                )
            };
            if sent < 0 && errno() == libc::ENOTSOCK {
                sent = write_quietly(self.fd, bytes);
            }
            match sent {
                1.. => bytes = &bytes[sent as usize..],
                _ if errno() == libc::EINTR => {}
                _ if errno() == libc::EAGAIN => wait_for(self.fd, libc::POLLOUT),
                _ => {
                    self.lost = true;
                    return;
                }
            }
        }
    }

    /// Reads the answers that are there; with `wait`, until the reporter has closed its end or `until` are answered.
    fn answers(&mut self, wait: bool, until: u64) {
        let mut answers = [0u8; 256];
        while self.fd >= 0 && !self.lost && self.answered < until {
            let flags = if wait { 0 } else { libc::MSG_DONTWAIT };
            // SAFETY: the kernel writes at most this many bytes.
            let got = unsafe {
                libc::syscall(
                    libc::SYS_recvfrom,
                    self.fd,
                    answers.as_mut_ptr(),
                    answers.len(),
                    flags,
                    0,
                    0,
                )
            };
            match got {
                1.. => {
                    let answers = &answers[..got as usize];
                    self.answered += answers.len() as u64;
                    self.counted += answers.iter().filter(|answer| **answer == b'1').count() as u64;
                }
                -1 if errno() == libc::EINTR => {}
                _ => return,
            }
        }
    }
}

fn wait_for(fd: i32, events: i16) {
    let mut poll = libc::pollfd {
        fd,
        events,
        revents: 0,
    };
    // SAFETY: one structure.
    unsafe { libc::syscall(libc::SYS_poll, &raw mut poll, 1, -1) };
}

/// Writes to what is no socket, without the signal that comes if nobody reads.
fn write_quietly(fd: i32, bytes: &[u8]) -> i64 {
    let pipe: u64 = 1 << (libc::SIGPIPE - 1);
    let (size, none) = (
        size_of::<u64>(),
        libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        },
    );
    let mut before = 0u64;
    // SAFETY: the kernel's signal sets are one word; the mask is put back as it was. A signal that was pending before is
    // left so.
    unsafe {
        let mut pending = 0u64;
        libc::syscall(libc::SYS_rt_sigpending, &raw mut pending, size);
        libc::syscall(
            libc::SYS_rt_sigprocmask,
            libc::SIG_BLOCK,
            &raw const pipe,
            &raw mut before,
            size,
        );
        let written = libc::syscall(libc::SYS_write, fd, bytes.as_ptr(), bytes.len());
        let error = errno();
        if written < 0 && error == libc::EPIPE && pending & pipe == 0 {
            libc::syscall(
                libc::SYS_rt_sigtimedwait,
                &raw const pipe,
                0,
                &raw const none,
                size,
            );
        }
        libc::syscall(
            libc::SYS_rt_sigprocmask,
            libc::SIG_SETMASK,
            &raw const before,
            0,
            size,
        );
        *libc::__errno_location() = error;
        written
    }
}

/// Takes the descriptor that was given, before the program can close it.
pub fn early() {
    CHANNEL.lock().take_given();
}

/// Tells whoever watches that the program cannot be checked, and why. False if nobody does.
pub fn unchecked(why: &str) -> bool {
    let mut channel = CHANNEL.lock();
    channel.take_given();
    if channel.fd < 0 {
        return false;
    }
    channel.greet();
    let mut lines = Lines::default();
    lines.text("unchecked");
    lines.0.push(b'\t');
    lines.text(why);
    lines.0.push(b'\n');
    channel.send(&lines.0);
    true
}

/// Sends what `make` makes: nobody else sends meanwhile. Opens the channel if need be. Whether it could be sent.
pub fn send(make: impl FnOnce(&mut Lines)) -> bool {
    let mut channel = CHANNEL.lock();
    channel.open();
    let mut lines = Lines::default();
    if FORKED.load(Ordering::Relaxed) && !channel.own {
        lines.who();
    }
    loss::tell(&mut lines);
    make(&mut lines);
    channel.send(&lines.0);
    channel.answers(false, u64::MAX);
    !channel.lost
}

/// The reporter has gone, or cannot be reached any more: whether another one is to be tried, which knows nothing yet. `race` is the
/// number of the one that could not be told.
pub fn again(race: u64) -> bool {
    let mut channel = CHANNEL.lock();
    if !channel.lost || channel.again || channel.fd < 0 {
        return false;
    }
    if file_of(channel.fd) == Some(channel.file) {
        close(channel.fd);
    }
    // What it has not answered counts.
    let answered = race.saturating_sub(1);
    let (counted, unanswered) = (channel.counted, answered.saturating_sub(channel.answered));
    *channel = Channel {
        again: true,
        counted: counted + unanswered,
        answered,
        ..Channel::new()
    };
    channel.set(-1);
    true
}

/// Waits for the answer to race number `answers`. Whether any race counts so far.
pub fn wait_for_answer(answers: u64) -> bool {
    let mut channel = CHANNEL.lock();
    channel.answers(true, answers);
    channel.counted > 0 || channel.answered < answers
}

/// How the reporter ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// There is nobody to ask: whoever gave the descriptor decides.
    NotOurs,
    /// It has printed all; whether any race counts.
    Printed(bool),
    /// It was never there, or has gone, after it had said of so many races that they do not count.
    Lost(u64),
}

/// Sends the last lines and waits until the reporter has printed everything, `races` of them. With `always`, also where nothing was told.
pub fn close_with(always: bool, races: u64, make: impl FnOnce(&mut Lines)) -> Ended {
    let mut channel = CHANNEL.lock();
    if always {
        channel.open();
    }
    if channel.fd < 0 {
        return Ended::Lost(0);
    }
    let mut lines = Lines::default();
    if FORKED.load(Ordering::Relaxed) && !channel.own {
        lines.who();
    }
    loss::tell(&mut lines);
    make(&mut lines);
    channel.send(&lines.0);
    if channel.lost {
        return Ended::Lost(channel.answered - channel.counted);
    }
    if !channel.own {
        return Ended::NotOurs;
    }
    // SAFETY: the runtime's own socket.
    unsafe { libc::syscall(libc::SYS_shutdown, channel.fd, libc::SHUT_WR) };
    channel.answers(true, u64::MAX);
    if channel.answered < races {
        // It was killed before it came to them.
        return Ended::Lost(channel.answered - channel.counted);
    }
    Ended::Printed(channel.counted > 0)
}
