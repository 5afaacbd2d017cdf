//! What can go wrong with a trace, said so that its owner knows where to look and what to do.

use crate::Format;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The result of reading or writing a trace.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a trace cannot be read or written.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The operating system said no.
    Io {
        /// The file, where it is known.
        path: Option<PathBuf>,
        /// What it said.
        source: io::Error,
    },
    /// A line of a text format does not fit its grammar.
    Syntax {
        /// Which grammar.
        format: Format,
        /// The line, counted from 1.
        line: u64,
        /// The column in characters, counted from 1, where it is known.
        column: Option<u64>,
        /// What was expected, and what was found.
        message: String,
    },
    /// A binary trace is damaged, or is not one.
    Corrupt {
        /// Bytes from the start of the file to the damage.
        offset: u64,
        /// What is wrong there.
        message: String,
    },
    /// The events cannot be said in the format that was asked for.
    Inexpressible {
        /// The format.
        format: Format,
        /// The number of the first such event, counted from 0.
        event: u64,
        /// What it is, and what to do instead.
        message: String,
    },
    /// Neither the name nor the content of a file says what format it is in.
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
}

impl Error {
    /// An I/O error on a file.
    pub fn io(path: &Path, source: io::Error) -> Error {
        Error::Io {
            path: Some(path.to_owned()),
            source,
        }
    }

    pub(crate) fn corrupt(offset: u64, message: impl Into<String>) -> Error {
        Error::Corrupt {
            offset,
            message: message.into(),
        }
    }
}

impl From<io::Error> for Error {
    fn from(source: io::Error) -> Error {
        Error::Io { path: None, source }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Io {
                path: Some(path),
                source,
            } => write!(f, "{}: {source}", path.display()),
            Error::Io { path: None, source } => write!(f, "{source}"),
            Error::Syntax {
                format,
                line,
                column: Some(column),
                message,
            } => {
                write!(f, "line {line}, column {column}: {message} ({format} trace)")
            }
            Error::Syntax {
                format,
                line,
                column: None,
                message,
            } => {
                write!(f, "line {line}: {message} ({format} trace)")
            }
            Error::Corrupt { offset, message } => write!(f, "byte {offset}: {message}"),
            Error::Inexpressible {
                format,
                event,
                message,
            } => {
                write!(f, "event {event} cannot be written as {format}: {message}")
            }
            Error::UnknownFormat { path } => write!(
                f,
                "{}: cannot tell the format of this trace; name it *.dht, *.std, *.rr or *.txt",
                path.display()
            ),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}
