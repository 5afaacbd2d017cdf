//! What the runtime itself has to say on stderr: one line at a time, without allocating.

use std::fmt::Write;

/// A line being made. What does not fit is cut.
pub struct Line {
    bytes: [u8; 1024],
    len: usize,
}

impl Line {
    /// A line that begins with the tool's name.
    pub fn new() -> Line {
        let mut line = Line {
            bytes: [0; 1024],
            len: 0,
        };
        line.push("deadheat: ");
        line
    }

    fn push(&mut self, text: &str) {
        let room = self.bytes.len() - 1 - self.len;
        let taken = text.len().min(room);
        self.bytes[self.len..self.len + taken].copy_from_slice(&text.as_bytes()[..taken]);
        self.len += taken;
    }

    /// Writes it to stderr.
    pub fn tell(mut self) {
        self.bytes[self.len] = b'\n';
        // SAFETY: writes bytes that are there. The system call is made directly because `write` is intercepted.
        unsafe { libc::syscall(libc::SYS_write, 2, self.bytes.as_ptr(), self.len + 1) };
    }
}

impl Default for Line {
    fn default() -> Self {
        Line::new()
    }
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.push(text);
        Ok(())
    }
}

/// Tells one line.
pub fn tell(text: std::fmt::Arguments<'_>) {
    let mut line = Line::new();
    // Cut rather than failed: `Line` takes what fits.
    let _ = line.write_fmt(text);
    line.tell();
}

/// Says what went wrong at the start and ends the program with the status of a wrong command line.
pub fn die(what: &str, error: i32) -> ! {
    tell(format_args!(
        "{what}: {}",
        std::io::Error::from_raw_os_error(error)
    ));
    exit_now(2)
}

/// Ends the process without running any handler.
pub fn exit_now(status: i32) -> ! {
    loop {
        // SAFETY: does not return.
        unsafe { libc::syscall(libc::SYS_exit_group, status) };
    }
}
