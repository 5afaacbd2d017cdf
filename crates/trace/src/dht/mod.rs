//! `.dht`: deadheat's binary trace format.
//!
//! A file header, then blocks, then an index and a footer. Each block stands alone: a checksummed header that says what
//! is in it, and a payload, compressed with zstd where that makes it much shorter. Event blocks are written by many threads
//! at once, each into its own buffer; every event has a number in the order of the whole run, and the reader merges blocks
//! whose numbers overlap. A file without its end (the program crashed) is read by walking over the headers.
//!
//! Made for decoding speed: one byte tells the shape of a memory access completely, so that the decoder takes no
//! unpredictable branch for it, and the bounds are checked once for each event (see `codec.rs`). The bytes are described
//! in `docs/trace-format.md`, from which a reader can be written without looking here.

mod block;
mod codec;
mod decode;
mod encode;
mod merge;
mod read;
mod tables;
mod varint;
mod write;

pub use read::{BlockInfo, Reader, Recovery, Summary};
pub use write::{Numbering, ThreadWriter, Writer, WriterSink};

/// The first bytes of every file. Like PNG's: a byte that is no ASCII, and line ends that text transfers would break.
pub const MAGIC: [u8; 8] = *b"\x89DHT\r\n\x1a\n";

/// The version that is written. Readers refuse later ones.
pub const VERSION: u32 = 2;

/// Bytes of the file header: magic, version, flags.
const FILE_HEADER: usize = 16;

/// Flag in the file header: event numbers have no gaps, so a gap in a truncated file is a lost event.
const FLAG_DENSE: u32 = 1;

/// The most bytes a block may have before compression. Larger claims are refused before anything is allocated.
const MAX_RAW: u32 = 8 << 20;

/// The same for the index, which lists all other blocks.
const MAX_INDEX: u32 = 256 << 20;
