//! The way to the reporter: a file descriptor that was given, or a socket to a process started at the first race.
//!
//! Lines are those of `abi::wire`. A record is put together in memory and written at once. The channel must not disturb
//! the program: its descriptor is moved out of the way and looked at again before each write (a program may close what it
//! does not know), no signal is raised if the reader has gone, and the reporter is nobody's child, so that the program's
//! `wait` does not meet it. It answers each race with a byte; the end of its answers is its end.

use crate::options::Options;
use crate::spin::Spin;
use crate::vm::errno;
use crate::{loss, reporter};
use deadheat_abi::wire;
use std::fmt::Write;
use std::sync::OnceLock;

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

    /// Adds a text as a field, without an end of line.
    pub fn text(&mut self, text: &str) {
        let _ = wire::escape(text, self);
    }
}

#[derive(Default)]
struct Channel {
    /// -1 while there is none.
    fd: i32,
    /// What the descriptor was when it was opened.
    file: (u64, u64),
    /// Whether the reader could not be reached, or has gone.
    lost: bool,
    /// Whether this runtime started the reporter.
    own: bool,
    /// Races that count, as answered.
    counted: u64,
    /// Races answered.
    answered: u64,
}

static CHANNEL: Spin<Channel> = Spin::new(Channel {
    fd: -1,
    file: (0, 0),
    lost: false,
    own: false,
    counted: 0,
    answered: 0,
});

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
        *channel = Channel {
            fd: -1,
            ..Channel::default()
        };
    }
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
    fn adopt(&mut self, fd: i32) {
        // SAFETY: copies a descriptor.
        let high = unsafe { libc::syscall(libc::SYS_fcntl, fd, libc::F_DUPFD_CLOEXEC, HIGH) } as i32;
        self.fd = if high >= 0 { high } else { fd };
        match file_of(self.fd) {
            Some(file) => self.file = file,
            None => self.lost = true,
        }
    }

    /// Opens the channel and says who we are.
    fn open(&mut self) {
        if self.fd >= 0 || self.lost {
            return;
        }
        match options().report_fd {
            Some(fd) => self.adopt(fd),
            None => match reporter::start(options().reporter.as_deref()) {
                Ok(fd) => {
                    self.own = true;
                    self.adopt(fd);
                    if self.fd != fd {
                        close(fd);
                    }
                }
                Err(why) => {
                    self.lost = true;
                    crate::log::tell(format_args!("races cannot be printed: {why}"));
                }
            },
        }
        let mut lines = Lines::default();
        lines.line(format_args!(
            "deadheat\t{}\t{}",
            wire::VERSION,
            std::process::id()
        ));
        lines.text("command");
        let command = std::fs::read("/proc/thread-self/cmdline").unwrap_or_default();
        for argument in command.split(|byte| *byte == 0).filter(|a| !a.is_empty()) {
            lines.0.push(b'\t');
            lines.text(&String::from_utf8_lossy(argument));
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
                "the program closed the descriptor of the reports: races from here on are not printed"
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

/// Sends what `make` makes: nobody else sends meanwhile. Opens the channel if need be.
pub fn send(make: impl FnOnce(&mut Lines)) {
    let mut channel = CHANNEL.lock();
    channel.open();
    let mut lines = Lines::default();
    loss::tell(&mut lines);
    make(&mut lines);
    channel.send(&lines.0);
    channel.answers(false, u64::MAX);
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
    /// It was never there, or has gone.
    Lost,
}

/// Sends the last lines and waits until the reporter has printed everything. With `always`, also where nothing was told.
pub fn close_with(always: bool, make: impl FnOnce(&mut Lines)) -> Ended {
    let mut channel = CHANNEL.lock();
    if channel.fd < 0 && always {
        channel.open();
    }
    if channel.fd < 0 {
        return Ended::Lost;
    }
    let mut lines = Lines::default();
    loss::tell(&mut lines);
    make(&mut lines);
    channel.send(&lines.0);
    if channel.lost {
        return Ended::Lost;
    }
    if !channel.own {
        return Ended::NotOurs;
    }
    // SAFETY: the runtime's own socket.
    unsafe { libc::syscall(libc::SYS_shutdown, channel.fd, libc::SHUT_WR) };
    channel.answers(true, u64::MAX);
    Ended::Printed(channel.counted > 0)
}
