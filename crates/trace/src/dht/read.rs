//! Reading `.dht` files.

use super::block::{FOOTER, HEADER, Header, Kind, Unpacker, parse_footer};
use super::decode::{Decoder, SLACK};
use super::merge::Merge;
use super::tables::Collector;
use super::varint::{get, get32, unzigzag};
use super::{FILE_HEADER, FLAG_DENSE, MAGIC, VERSION};
use crate::{Error, Place, Position, Result, Source, Truncation};
use deadheat_event::{Event, Tables};
use std::io::{Read, Seek, SeekFrom};

/// Events in one block given to the caller: small enough to stay in the cache while they are worked on.
const CHUNK: usize = 512;

/// Where a block is and what it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockInfo {
    /// Bytes from the start of the file.
    pub offset: u64,
    /// Events in it.
    pub count: u32,
    /// Number of its first event.
    pub first: u64,
    /// Number of its last event.
    pub last: u64,
}

/// What to do with a file that was not finished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recovery {
    /// If the writer numbered events without gaps, stop at the first event that is missing: what is read is then exactly
    /// a prefix of the run. Files with gaps are read as far as they are whole.
    #[default]
    Prefix,
    /// Read all that is whole, even if events of one thread are missing between those of others.
    All,
}

/// What is known about a file without reading its events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Version of the format.
    pub version: u32,
    /// Event blocks.
    pub blocks: u64,
    /// Events in them.
    pub events: u64,
    /// Bytes of the file.
    pub bytes: u64,
    /// Whether the file has its end.
    pub finished: bool,
}

/// A `.dht` file to read.
pub struct Reader<R> {
    input: R,
    len: u64,
    version: u32,
    /// Event blocks by the number of their first event.
    blocks: Vec<BlockInfo>,
    /// The first one that has not been loaded.
    next: usize,
    collector: Collector,
    unpacker: Unpacker,
    payload: Vec<u8>,
    /// A block that overlaps with no other: decoded straight into the caller's vector.
    direct: Option<(Box<Decoder>, BlockInfo)>,
    merge: Merge,
    /// Decoders whose blocks have ended. Boxed because they move between here and the merge, and are large.
    #[allow(clippy::vec_box)]
    pool: Vec<Box<Decoder>>,
    /// Events with lower numbers are not wanted.
    from: u64,
    /// The number that the next event must have, if the file is truncated and a gap means a loss.
    expected: Option<u64>,
    given: u64,
    done: u64,
    /// Index of the first event of each run in the last block, and where its block is.
    places: Vec<(usize, u64)>,
    truncation: Option<Truncation>,
    /// What is wrong behind the events given out last.
    failed: Option<Error>,
    ended: bool,
}

impl<R: Read + Seek> Reader<R> {
    /// Opens a file. Unfinished ones are read as [`Recovery::Prefix`] says.
    pub fn new(input: R) -> Result<Reader<R>> {
        Reader::with_recovery(input, Recovery::default())
    }

    /// Opens a file and says what to do if it is not finished.
    pub fn with_recovery(mut input: R, recovery: Recovery) -> Result<Reader<R>> {
        let len = input.seek(SeekFrom::End(0))?;
        let (version, flags) = file_header(&mut input, len)?;
        let mut reader = Reader {
            input,
            len,
            version,
            blocks: Vec::new(),
            next: 0,
            collector: Collector::default(),
            unpacker: Unpacker::new()?,
            payload: Vec::new(),
            direct: None,
            merge: Merge::default(),
            pool: Vec::new(),
            from: 0,
            expected: None,
            given: 0,
            done: FILE_HEADER as u64,
            places: Vec::new(),
            truncation: None,
            failed: None,
            ended: false,
        };
        match reader.read_index()? {
            Some(tables) => {
                for offset in tables {
                    reader.table_block(offset)?;
                }
            }
            None => {
                reader.scan()?;
                if flags & FLAG_DENSE != 0 && recovery == Recovery::Prefix {
                    reader.expected = Some(0);
                }
            }
        }
        reader.blocks.sort_by_key(|block| (block.first, block.offset));
        Ok(reader)
    }

    /// What is known without reading events.
    pub fn summary(&self) -> Summary {
        Summary {
            version: self.version,
            blocks: self.blocks.len() as u64,
            events: self.blocks.iter().map(|block| u64::from(block.count)).sum(),
            bytes: self.len,
            finished: self.truncation.is_none(),
        }
    }

    /// The event blocks, by the number of their first event.
    pub fn blocks(&self) -> &[BlockInfo] {
        &self.blocks
    }

    /// Goes to the first event whose number is at least `number`, forward or back, without decoding what lies between.
    pub fn seek(&mut self, number: u64) {
        self.next = 0;
        self.from = number;
        self.direct = None;
        self.merge = Merge::default();
        self.expected = self.expected.map(|_| number);
        self.done = FILE_HEADER as u64;
        self.failed = None;
        self.ended = false;
    }

    /// Reads header and payload of the block at `offset`. `Ok(Err)` says what is wrong with it.
    fn block_at(&mut self, offset: u64) -> Result<Result<Header, String>> {
        let mut bytes = [0; HEADER];
        if offset.checked_add(HEADER as u64).is_none_or(|end| end > self.len) {
            return Ok(Err("the file ends inside a block".to_owned()));
        }
        self.input.seek(SeekFrom::Start(offset))?;
        self.input.read_exact(&mut bytes)?;
        let header = match Header::from_bytes(&bytes) {
            Ok(header) => header,
            Err(what) => return Ok(Err(what)),
        };
        if offset + HEADER as u64 + u64::from(header.stored) > self.len {
            return Ok(Err("the file ends inside a block".to_owned()));
        }
        self.payload.resize(header.stored as usize, 0);
        self.input.read_exact(&mut self.payload)?;
        Ok(Ok(header))
    }

    /// Reads the index. Returns the table blocks in it, or nothing if the file has no good index.
    fn read_index(&mut self) -> Result<Option<Vec<u64>>> {
        let Some(end) = self.len.checked_sub(FOOTER as u64) else {
            return Ok(None);
        };
        let mut footer = [0; FOOTER];
        self.input.seek(SeekFrom::Start(end))?;
        self.input.read_exact(&mut footer)?;
        let Some(offset) = parse_footer(&footer) else {
            return Ok(None);
        };
        let Ok(header) = self.block_at(offset)? else {
            return Ok(None);
        };
        if header.kind != Kind::Index || offset + HEADER as u64 + u64::from(header.stored) != end {
            return Ok(None);
        }
        let mut raw = Vec::new();
        if self.unpacker.unpack(&header, &self.payload, &mut raw, 0).is_err() {
            return Ok(None);
        }
        let Some((blocks, tables)) = parse_index(&raw, header.count, offset) else {
            return Ok(None);
        };
        self.blocks = blocks;
        Ok(Some(tables))
    }

    fn table_block(&mut self, offset: u64) -> Result<()> {
        let header = self
            .block_at(offset)?
            .map_err(|what| Error::corrupt(offset, what))?;
        self.add_table(&header, offset)
    }

    fn add_table(&mut self, header: &Header, offset: u64) -> Result<()> {
        let mut raw = Vec::new();
        let unpacked = self.unpacker.unpack(header, &self.payload, &mut raw, 0);
        unpacked
            .and_then(|()| self.collector.add(header.kind, header.count, &raw))
            .map_err(|what| Error::corrupt(offset, what))
    }

    /// Finds the blocks of a file without index, up to the first bad one.
    fn scan(&mut self) -> Result<()> {
        let mut offset = FILE_HEADER as u64;
        let mut reason = "the index at its end is missing".to_owned();
        while offset < self.len {
            let header = match self.block_at(offset)? {
                Ok(header) if header.checksum(&self.payload) == header.crc => header,
                Ok(_) => {
                    reason = "a block whose checksum is wrong".to_owned();
                    break;
                }
                Err(what) => {
                    reason = what;
                    break;
                }
            };
            let Header {
                kind,
                count,
                first,
                last,
                ..
            } = header;
            match kind {
                Kind::Events => self.blocks.push(BlockInfo {
                    offset,
                    count,
                    first,
                    last,
                }),
                Kind::Index => break,
                _ => self.add_table(&header, offset)?,
            }
            offset += HEADER as u64 + u64::from(header.stored);
        }
        self.truncation = Some(Truncation {
            offset,
            events: 0,
            reason,
        });
        Ok(())
    }

    /// Loads the next block and starts to decode it.
    fn load(&mut self, block: BlockInfo) -> Result<Box<Decoder>> {
        let bad = |what: &str| Error::corrupt(block.offset, what);
        let header = self.block_at(block.offset)?.map_err(|what| bad(&what))?;
        let BlockInfo {
            offset,
            count,
            first,
            last,
        } = block;
        if (header.kind, header.count, header.first, header.last) != (Kind::Events, count, first, last) {
            return Err(bad("a block that is not what the index says"));
        }
        let mut decoder = self.pool.pop().unwrap_or_else(|| Box::new(Decoder::new()));
        let unpacked = self
            .unpacker
            .unpack(&header, &self.payload, decoder.buffer(), SLACK);
        unpacked.map_err(|what| Error::corrupt(offset, what))?;
        decoder.start(count, first, last).map_err(bad)?;
        self.next += 1;
        self.done += HEADER as u64 + u64::from(header.stored);
        Ok(decoder)
    }

    /// The next block that has wanted events, if it is not loaded.
    fn upcoming(&mut self) -> Option<BlockInfo> {
        while let Some(block) = self.blocks.get(self.next) {
            if block.last >= self.from {
                return Some(*block);
            }
            self.next += 1;
        }
        None
    }

    /// Loads a block while no other is being read.
    fn begin(&mut self, block: BlockInfo) -> Result<()> {
        let decoder = self.load(block)?;
        let overlaps = self.upcoming().is_some_and(|next| next.first <= block.last);
        if overlaps || block.first < self.from || self.expected.is_some() {
            return self.merge.add(decoder, block);
        }
        self.direct = Some((decoder, block));
        Ok(())
    }

    /// Replaces the contents of `out` with the next events. After an error, `out` has the good events in front of it.
    fn fill(&mut self, out: &mut Vec<Event>) -> Result<bool> {
        self.places.clear();
        if self.direct.is_none() && self.merge.is_empty() {
            let Some(block) = self.upcoming() else {
                return Ok(false);
            };
            if let Err(error) = self.begin(block) {
                out.clear();
                return Err(error);
            }
        }
        if let Some((decoder, block)) = &mut self.direct {
            if let Err(what) = decoder.decode(CHUNK, out) {
                // The checksum was right, so whoever wrote the block is not to be trusted with any of it.
                out.clear();
                return Err(Error::corrupt(block.offset, what));
            }
            self.places.push((0, block.offset));
            if decoder.left() == 0 {
                self.pool.extend(self.direct.take().map(|(decoder, _)| decoder));
            }
            return Ok(true);
        }
        out.clear();
        self.fill_merged(out)?;
        Ok(!out.is_empty())
    }

    /// Appends merged events until there are enough, or until a block can be decoded directly.
    fn fill_merged(&mut self, out: &mut Vec<Event>) -> Result<()> {
        while out.len() < CHUNK {
            let Some(number) = self.merge.next_number() else {
                if out.is_empty() && self.upcoming().is_some() {
                    // All that was merged was unwanted: begin again with the next block.
                    self.fill(out)?;
                }
                return Ok(());
            };
            let upcoming = self.upcoming();
            if let Some(block) = upcoming.filter(|block| block.first <= number) {
                let decoder = self.load(block)?;
                self.merge.add(decoder, block)?;
                continue;
            }
            let bound = upcoming.map_or(u64::MAX, |block| block.first);
            let (from, places) = (self.from, &mut self.places);
            let mut expected = self.expected;
            let taken = self.merge.run(bound, CHUNK - out.len(), |run| {
                let unwanted = run.numbers.iter().take_while(|&&number| number < from).count();
                let mut end = run.numbers.len();
                if let Some(expected) = &mut expected {
                    let good = run.numbers[unwanted..].iter().take_while(|&&number| {
                        let fits = number == *expected;
                        *expected += u64::from(fits);
                        fits
                    });
                    end = unwanted + good.count();
                }
                if places.last().is_none_or(|&(_, offset)| offset != run.offset) {
                    places.push((out.len(), run.offset));
                }
                out.extend_from_slice(&run.events[unwanted..end]);
                end == run.numbers.len()
            })?;
            let Some((whole, ended)) = taken else {
                return Ok(());
            };
            self.expected = expected;
            self.pool.extend(ended);
            if !whole {
                self.lost(number);
                return Ok(());
            }
        }
        Ok(())
    }

    /// An event is missing in a truncated file: what comes behind it is not read.
    fn lost(&mut self, number: u64) {
        self.next = self.blocks.len();
        self.merge = Merge::default();
        if let Some(truncation) = &mut self.truncation {
            let expected = self.expected.unwrap_or(number);
            truncation.reason += &format!("; event {expected} was not written any more");
        }
    }
}

impl<R: Read + Seek> Source for Reader<R> {
    fn next_block(&mut self, out: &mut Vec<Event>) -> Result<bool> {
        // What is in `out` is not cleared: decoding into a used vector is faster.
        let filled = if self.ended { Ok(false) } else { self.fill(out) };
        let good = match filled {
            Ok(more) => more,
            Err(error) => {
                self.failed = Some(error);
                self.ended = true;
                !out.is_empty()
            }
        };
        if good {
            self.given += out.len() as u64;
            return Ok(true);
        }
        out.clear();
        self.ended = true;
        if let Some(truncation) = &mut self.truncation {
            truncation.events = self.given;
        }
        self.failed.take().map_or(Ok(false), Err)
    }

    fn tables(&self) -> &Tables {
        &self.collector.tables
    }

    fn position(&self) -> Position {
        let done = if self.ended { self.len } else { self.done };
        Position {
            done,
            total: Some(self.len),
        }
    }

    fn locate(&self, index: usize) -> Place {
        let run = self.places.partition_point(|&(first, _)| first <= index);
        Place::Offset(run.checked_sub(1).map_or(0, |run| self.places[run].1))
    }

    fn truncation(&self) -> Option<&Truncation> {
        self.truncation.as_ref()
    }
}

fn file_header<R: Read + Seek>(input: &mut R, len: u64) -> Result<(u32, u32)> {
    let mut header = [0; FILE_HEADER];
    input.seek(SeekFrom::Start(0))?;
    if len < FILE_HEADER as u64 {
        return Err(Error::corrupt(
            len,
            "this is no .dht trace: it is too short for a header",
        ));
    }
    input.read_exact(&mut header)?;
    let [magic @ .., v0, v1, v2, v3, f0, f1, f2, f3] = header;
    if magic != MAGIC {
        return Err(Error::corrupt(
            0,
            "this is no .dht trace: it does not start like one",
        ));
    }
    let version = u32::from_le_bytes([v0, v1, v2, v3]);
    if version != VERSION {
        let message =
            format!("this trace has version {version} of the format; this deadheat reads version {VERSION}");
        return Err(Error::corrupt(8, message));
    }
    Ok((version, u32::from_le_bytes([f0, f1, f2, f3])))
}

/// Event blocks and table blocks of an index that stands at `end`, or nothing if it makes no sense.
fn parse_index(raw: &[u8], count: u32, end: u64) -> Option<(Vec<BlockInfo>, Vec<u64>)> {
    let (mut blocks, mut tables) = (Vec::new(), Vec::new());
    let at = &mut 0;
    let (mut offset, mut first) = (0_u64, 0_u64);
    for n in 0..count {
        let kind = Kind::from_byte(*raw.get(*at)?)?;
        *at += 1;
        let step = get(raw, at)?;
        // Blocks do not overlap, and the first one stands behind the file header.
        let least = if n == 0 { FILE_HEADER } else { HEADER };
        offset = offset
            .checked_add(step)
            .filter(|&offset| step >= least as u64 && offset < end)?;
        let count = get32(raw, at)?;
        if kind == Kind::Events {
            first = first.wrapping_add(unzigzag(get(raw, at)?) as u64);
            let last = first.checked_add(get(raw, at)?)?;
            blocks.push(BlockInfo {
                offset,
                count,
                first,
                last,
            });
        } else {
            tables.push(offset);
        }
    }
    (*at == raw.len()).then_some((blocks, tables))
}
