//! What the runtime tells the reporter: lines of text through a pipe (or into a file).
//!
//! One record a line: a word and its fields, separated by tabs. Addresses, sizes, offsets, stack ids and race numbers are
//! hexadecimal without `0x`; PID, threads, TIMES, NUMBER, STATUS and signals are decimal. Text has `%`, tab and newline as
//! `%25`, `%09`, `%0a`. A reader skips words it does not know, and fields behind those it knows.
//! Records come before what refers to them, except that modules may be told again after a `dlopen`.
//!
//! Several processes may speak on one channel, if a program forks: whoever speaks next says `deadheat` first, and races go
//! out whole. What a process told stays told, until it says `command` again: another program has taken its place.
//!
//! ```text
//! deadheat  VERSION  PID                         first line, and where another process goes on
//! command   ARG  ARG …                           how the program was started
//! module    START  END  OFFSET  BUILDID|-  PATH  a mapping of a file: addresses START..END are the file at OFFSET
//! stack     ID  PC  PC …                         innermost first; all but stacks of accesses are return addresses:
//!                                                look up PC-1. The innermost PC of an access is one, too.
//! thread    ID  TID  PARENT|-  STACK|-  NAME     ID 0 is the main thread; STACK is where PARENT created it
//! race      N  ADDR  SIZE                        a new pair of places; its parts follow up to `end`
//! access    THREAD|-  read|write|free  plain|atomic  ADDR  SIZE  STACK|-    the present one first, then the earlier one
//! lock      KIND  ADDR  STACK|-                  held at the access just told; STACK is where it was taken;
//!                                                KIND is mutex, rwlock-read, rwlock-write, spin, …
//! memory    heap  START  SIZE  THREAD|-  STACK|-     the block, and who allocated it where
//! memory    freed START  SIZE  THREAD|-  STACK|-     the same for a block no longer there
//! memory    stack THREAD
//! memory    tls   THREAD
//! memory    map   START  SIZE
//! memory    global                               in a module: the reporter looks for the name
//! memory    unknown
//! end       N                                    the race is complete
//! count     N  TIMES                             told at exit: how often it was seen in all
//! loss      TEXT                                 something that may hide a race, or shorten a stack: told to the user
//! unchecked TEXT                                 the program cannot be checked, for this reason, and ends at once
//! stat      NAME  NUMBER                         told at exit, where asked for
//! exit      STATUS|signal N                      the end as the runtime saw it; without this line the process was killed
//! ```
//!
//! If the channel is a socket, the reporter answers each `end` with one byte: `1` if the race counts, `0` if a
//! suppression or the baseline has it. The runtime waits for it only with `halt_on_race`.

/// First line's version.
pub const VERSION: u32 = 1;

/// Writes `text` as a field.
pub fn escape(text: &str, out: &mut dyn core::fmt::Write) -> core::fmt::Result {
    for c in text.chars() {
        match c {
            '%' | '\t' | '\n' => write!(out, "%{:02x}", c as u32)?,
            c => out.write_char(c)?,
        }
    }
    Ok(())
}
