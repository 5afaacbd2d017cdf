//! Writing `.dht` files, from one thread or from many.

use super::block::{Header, Kind, MIXED, Packer, footer};
use super::encode::{Encoded, Encoder};
use super::tables::Written;
use super::varint::{put, zigzag};
use super::{FILE_HEADER, FLAG_DENSE, MAGIC, VERSION};
use crate::{Interner, Result, Sink};
use deadheat_event::{Event, Tables, ThreadId};
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// zstd level. Delta-coded bytes leave it little to find, and unpacking takes time whenever a trace is read.
const LEVEL: i32 = -7;

/// Raw bytes at which the block of a [`ThreadWriter`] is full. All threads have one in memory, in writer and reader.
const THREAD_BLOCK: usize = 64 << 10;

/// Raw bytes at which the block of a [`WriterSink`] is full.
const SINK_BLOCK: usize = 512 << 10;

/// Where the numbers of events come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbering {
    /// From the writer's own counter, every number once. If the file is truncated, a gap then means a lost event, and
    /// the reader gives exactly a prefix of the run.
    Dense,
    /// From the caller ([`ThreadWriter::push_at`]), with gaps as he likes.
    Sparse,
}

/// One block as the index lists it.
struct Entry {
    kind: Kind,
    offset: u64,
    count: u32,
    first: u64,
    last: u64,
}

/// The file itself.
struct Output<W> {
    to: W,
    offset: u64,
    index: Vec<Entry>,
    written: Written,
    packer: Packer,
    finished: bool,
}

impl<W: Write> Output<W> {
    fn new(mut to: W, numbering: Numbering) -> Result<Output<W>> {
        let flags = if numbering == Numbering::Dense {
            FLAG_DENSE
        } else {
            0
        };
        to.write_all(&MAGIC)?;
        to.write_all(&VERSION.to_le_bytes())?;
        to.write_all(&flags.to_le_bytes())?;
        Ok(Output {
            to,
            offset: FILE_HEADER as u64,
            index: Vec::new(),
            written: Written::default(),
            packer: Packer::new(LEVEL)?,
            finished: false,
        })
    }

    fn block(&mut self, header: &Header, payload: &[u8]) -> Result<()> {
        if self.finished {
            return Err(io::Error::other("events were written to a trace that is finished").into());
        }
        append(&mut self.to, &mut self.offset, &mut self.index, header, payload)
    }

    fn tables(&mut self, tables: &Tables, all: bool) -> Result<()> {
        let Output {
            to,
            offset,
            index,
            written,
            packer,
            ..
        } = self;
        written.update(tables, all, |block| {
            let header = header(block.kind, block.count);
            let (header, payload) = packer.pack(header, &block.raw)?;
            append(to, offset, index, &header, payload)
        })
    }

    fn finish(&mut self, tables: &Tables) -> Result<()> {
        if self.finished {
            return Ok(());
        }
        self.tables(tables, true)?;
        let mut raw = Vec::new();
        let (mut offset, mut first) = (0, 0);
        for entry in &self.index {
            raw.push(entry.kind as u8);
            put(&mut raw, entry.offset - offset);
            put(&mut raw, u64::from(entry.count));
            if entry.kind == Kind::Events {
                put(&mut raw, zigzag(entry.first.wrapping_sub(first) as i64));
                put(&mut raw, entry.last - entry.first);
                first = entry.first;
            }
            offset = entry.offset;
        }
        let count = u32::try_from(self.index.len()).unwrap_or(u32::MAX);
        let at = self.offset;
        let (header, payload) = self.packer.pack(header(Kind::Index, count), &raw)?;
        append(&mut self.to, &mut self.offset, &mut self.index, &header, payload)?;
        self.to.write_all(&footer(at))?;
        self.to.flush()?;
        self.finished = true;
        Ok(())
    }
}

fn append<W: Write>(
    to: &mut W,
    offset: &mut u64,
    index: &mut Vec<Entry>,
    header: &Header,
    payload: &[u8],
) -> Result<()> {
    let bytes = header.to_bytes();
    to.write_all(&bytes)?;
    to.write_all(payload)?;
    let Header {
        kind,
        count,
        first,
        last,
        ..
    } = *header;
    index.push(Entry {
        kind,
        offset: *offset,
        count,
        first,
        last,
    });
    *offset += (bytes.len() + payload.len()) as u64;
    Ok(())
}

fn header(kind: Kind, count: u32) -> Header {
    Header {
        kind,
        codec: 0,
        stored: 0,
        raw: 0,
        count,
        thread: MIXED,
        first: 0,
        last: 0,
        crc: 0,
    }
}

fn event_header(encoded: &Encoded) -> Header {
    let Encoded {
        count,
        first,
        last,
        thread,
    } = *encoded;
    // A lone thread whose number is that of "mixed" is still decoded right: the block lists it.
    Header {
        thread: thread.unwrap_or(MIXED),
        first,
        last,
        ..header(Kind::Events, count)
    }
}

/// A trace written by many threads at once.
///
/// Each thread encodes and compresses into buffers of its own ([`Writer::thread`]); only appending a finished block to
/// the file takes a lock. Events are numbered by one shared counter, so the order of the trace is the order of the
/// [`ThreadWriter::push`] calls.
pub struct Writer<W: Write> {
    /// Taken for each finished block, and to intern.
    shared: Mutex<Shared<W>>,
    /// The number of the next event.
    next: AtomicU64,
}

struct Shared<W> {
    output: Output<W>,
    interner: Interner,
}

impl<W: Write> Writer<W> {
    /// Starts a file.
    pub fn new(to: W, numbering: Numbering) -> Result<Arc<Writer<W>>> {
        let shared = Shared {
            output: Output::new(to, numbering)?,
            interner: Interner::new(),
        };
        Ok(Arc::new(Writer {
            shared: Mutex::new(shared),
            next: AtomicU64::new(0),
        }))
    }

    fn lock(&self) -> MutexGuard<'_, Shared<W>> {
        // A panic elsewhere leaves the file whole up to its last block: go on from there.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A writer for one thread of the traced program (or several: events carry their thread).
    pub fn thread(self: &Arc<Self>) -> Result<ThreadWriter<W>> {
        Ok(ThreadWriter {
            writer: Arc::clone(self),
            encoder: Encoder::new(),
            packer: Packer::new(LEVEL)?,
            raw: Vec::new(),
        })
    }

    /// Interns names, sites and sets. They reach the file before the events that are pushed afterwards.
    pub fn intern<T>(&self, with: impl FnOnce(&mut Interner) -> T) -> T {
        with(&mut self.lock().interner)
    }

    /// The next number of the shared counter, for [`ThreadWriter::push_at`].
    pub fn next_number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Events numbered so far.
    pub fn numbered(&self) -> u64 {
        self.next.load(Ordering::Relaxed)
    }

    /// Writes the index. All [`ThreadWriter`]s must have been flushed or dropped: what they write later is refused.
    pub fn finish(&self) -> Result<()> {
        let Shared { output, interner } = &mut *self.lock();
        output.finish(interner.tables())
    }

    /// Hands the underlying file to `with`, after whole blocks only.
    pub fn with_output<T>(&self, with: impl FnOnce(&mut W) -> T) -> T {
        with(&mut self.lock().output.to)
    }
}

/// One thread's end of a [`Writer`]. Dropping it writes what is left; [`ThreadWriter::flush`] also says if that failed.
pub struct ThreadWriter<W: Write> {
    writer: Arc<Writer<W>>,
    encoder: Encoder,
    packer: Packer,
    raw: Vec<u8>,
}

impl<W: Write> ThreadWriter<W> {
    /// Appends an event with the next number of the whole trace.
    pub fn push(&mut self, event: &Event) -> Result<()> {
        let number = self.writer.next_number();
        self.push_at(number, event)
    }

    /// Appends an event with a given number. Numbers must rise from call to call for the blocks to be long, and must
    /// not be used twice in a trace.
    pub fn push_at(&mut self, number: u64, event: &Event) -> Result<()> {
        if !self.encoder.takes(event.thread, number) {
            self.flush()?;
        }
        self.encoder.push(number, event);
        if self.encoder.len() >= THREAD_BLOCK {
            self.flush()
        } else {
            Ok(())
        }
    }

    /// Writes the events so far as a block.
    ///
    /// After a crash everything is lost behind the first event that was not flushed, so threads that fall silent
    /// (before they block, say) should flush.
    pub fn flush(&mut self) -> Result<()> {
        if self.encoder.is_empty() {
            return Ok(());
        }
        let encoded = self.encoder.take(&mut self.raw);
        let (header, payload) = self.packer.pack(event_header(&encoded), &self.raw)?;
        let Shared { output, interner } = &mut *self.writer.lock();
        output.tables(interner.tables(), false)?;
        output.block(&header, payload)
    }
}

impl<W: Write> Drop for ThreadWriter<W> {
    fn drop(&mut self) {
        // Nobody is left to tell; the reader will see the gap.
        let _ = self.flush();
    }
}

/// A trace written by one thread, event after event: for converters and generators.
pub struct WriterSink<W> {
    output: Output<W>,
    encoder: Encoder,
    packer: Packer,
    raw: Vec<u8>,
    next: u64,
    block_size: usize,
}

impl<W: Write> WriterSink<W> {
    /// Starts a file.
    pub fn new(to: W) -> Result<WriterSink<W>> {
        Ok(WriterSink {
            output: Output::new(to, Numbering::Dense)?,
            encoder: Encoder::new(),
            packer: Packer::new(LEVEL)?,
            raw: Vec::new(),
            next: 0,
            block_size: SINK_BLOCK,
        })
    }

    /// Cuts blocks at so many raw bytes. Small blocks lose less in a crash, large ones compress better.
    pub fn set_block_size(&mut self, bytes: usize) {
        self.block_size = bytes.min(SINK_BLOCK);
    }

    fn flush(&mut self, tables: &Tables) -> Result<()> {
        if self.encoder.is_empty() {
            return Ok(());
        }
        self.output.tables(tables, false)?;
        let encoded = self.encoder.take(&mut self.raw);
        let (header, payload) = self.packer.pack(event_header(&encoded), &self.raw)?;
        self.output.block(&header, payload)
    }

    /// The underlying file.
    pub fn into_inner(self) -> W {
        self.output.to
    }

    fn takes(&self, thread: ThreadId) -> bool {
        self.encoder.takes(thread, self.next)
    }
}

impl<W: Write> Sink for WriterSink<W> {
    fn write(&mut self, events: &[Event], tables: &Tables) -> Result<()> {
        for event in events {
            if !self.takes(event.thread) || self.encoder.len() >= self.block_size {
                self.flush(tables)?;
            }
            self.encoder.push(self.next, event);
            self.next += 1;
        }
        Ok(())
    }

    fn finish(&mut self, tables: &Tables) -> Result<()> {
        self.flush(tables)?;
        self.output.finish(tables)
    }
}
