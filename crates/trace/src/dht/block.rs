//! Block headers, checksums and compression.

use super::{MAX_INDEX, MAX_RAW};
use crate::Result;
use std::io;

/// Bytes of a block header.
pub(super) const HEADER: usize = 44;

/// The first bytes of every block.
pub(super) const MARK: [u8; 4] = *b"DHB\x01";

/// The last bytes of a finished file.
pub(super) const FOOTER_MARK: [u8; 4] = *b"DHE\x01";

/// Bytes of the footer: offset of the index block, checksum, mark.
pub(super) const FOOTER: usize = 16;

/// `thread` of a block with events of several threads, or with none.
pub(super) const MIXED: u32 = u32::MAX;

/// What a block holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Events = 1,
    Strings = 2,
    Sites = 3,
    ObjectSets = 4,
    Names = 5,
    Index = 6,
}

impl Kind {
    pub(super) fn from_byte(byte: u8) -> Option<Kind> {
        [
            Kind::Events,
            Kind::Strings,
            Kind::Sites,
            Kind::ObjectSets,
            Kind::Names,
            Kind::Index,
        ]
        .into_iter()
        .find(|&kind| kind as u8 == byte)
    }

    /// Payloads of `raw` bytes are packed if they have fewer than this many bytes then. Unpacking events takes time whenever
    /// a trace is read, and what differs from event to event does not get much shorter: a third is the least for them.
    fn worth(self, raw: usize) -> usize {
        if self == Kind::Events { raw / 3 * 2 } else { raw }
    }

    fn max_raw(self) -> u32 {
        if self == Kind::Index { MAX_INDEX } else { MAX_RAW }
    }
}

/// How a payload is stored.
const STORED: u8 = 0;
const ZSTD: u8 = 1;

/// A block header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) kind: Kind,
    pub(super) codec: u8,
    /// Bytes of the payload in the file.
    pub(super) stored: u32,
    /// Bytes of the payload when unpacked.
    pub(super) raw: u32,
    /// Events or table entries.
    pub(super) count: u32,
    pub(super) thread: u32,
    /// Number of the first event.
    pub(super) first: u64,
    /// Number of the last event.
    pub(super) last: u64,
    pub(super) crc: u32,
}

impl Header {
    pub(super) fn to_bytes(self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[0..4].copy_from_slice(&MARK);
        bytes[4] = self.kind as u8;
        bytes[5] = self.codec;
        bytes[8..12].copy_from_slice(&self.stored.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.raw.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.count.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.thread.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.first.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.last.to_le_bytes());
        bytes[40..44].copy_from_slice(&self.crc.to_le_bytes());
        bytes
    }

    /// Reads a header and checks all that can be checked without the payload. The error says what is wrong.
    pub(super) fn from_bytes(bytes: &[u8; HEADER]) -> Result<Header, String> {
        if bytes[0..4] != MARK {
            return Err("there is no block here".to_owned());
        }
        let kind =
            Kind::from_byte(bytes[4]).ok_or_else(|| format!("a block of unknown kind {}", bytes[4]))?;
        let codec = bytes[5];
        if codec > ZSTD || bytes[6..8] != [0, 0] {
            return Err("a block in an unknown encoding".to_owned());
        }
        let header = Header {
            kind,
            codec,
            stored: u32_at(bytes, 8),
            raw: u32_at(bytes, 12),
            count: u32_at(bytes, 16),
            thread: u32_at(bytes, 20),
            first: u64_at(bytes, 24),
            last: u64_at(bytes, 32),
            crc: u32_at(bytes, 40),
        };
        // A payload that compression would lengthen is stored as it is.
        let most = kind.max_raw();
        if header.raw > most || header.stored > header.raw {
            return Err(format!(
                "a block of {} bytes, more than the {most} that are allowed",
                header.raw
            ));
        }
        // Everything counted takes at least a byte, and events have distinct numbers.
        if header.count > header.raw {
            return Err(format!(
                "a block that claims {} entries in {} bytes",
                header.count, header.raw
            ));
        }
        if kind == Kind::Events {
            let span = header.last.checked_sub(header.first);
            if header.count == 0 || span.is_none_or(|span| span < u64::from(header.count) - 1) {
                return Err("a block whose event numbers make no sense".to_owned());
            }
        }
        Ok(header)
    }

    /// The checksum over header fields and payload.
    pub(super) fn checksum(self, payload: &[u8]) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&self.to_bytes()[..HEADER - 4]);
        hasher.update(payload);
        hasher.finalize()
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes[at..]
        .first_chunk()
        .map_or(0, |chunk| u32::from_le_bytes(*chunk))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes[at..]
        .first_chunk()
        .map_or(0, |chunk| u64::from_le_bytes(*chunk))
}

/// The footer of a file whose index block starts at `index`.
pub(super) fn footer(index: u64) -> [u8; FOOTER] {
    let mut bytes = [0; FOOTER];
    bytes[0..8].copy_from_slice(&index.to_le_bytes());
    let crc = crc32fast::hash(&bytes[0..8]);
    bytes[8..12].copy_from_slice(&crc.to_le_bytes());
    bytes[12..16].copy_from_slice(&FOOTER_MARK);
    bytes
}

/// Where the index block is, if these are the last bytes of a finished file.
pub(super) fn parse_footer(bytes: &[u8; FOOTER]) -> Option<u64> {
    let good = bytes[12..16] == FOOTER_MARK && crc32fast::hash(&bytes[0..8]) == u32_at(bytes, 8);
    good.then(|| u64_at(bytes, 0))
}

/// Packs payloads. Kept from block to block: making a zstd context costs more than using it.
pub(super) struct Packer {
    zstd: zstd::bulk::Compressor<'static>,
    packed: Vec<u8>,
}

impl Packer {
    pub(super) fn new(level: i32) -> Result<Packer> {
        Ok(Packer {
            zstd: zstd::bulk::Compressor::new(level)?,
            packed: Vec::new(),
        })
    }

    /// Completes the header of `raw` and returns it with the payload to store.
    pub(super) fn pack<'a>(&'a mut self, mut header: Header, raw: &'a [u8]) -> Result<(Header, &'a [u8])> {
        let most = header.kind.max_raw();
        header.raw = u32::try_from(raw.len())
            .ok()
            .filter(|&len| len <= most)
            .ok_or_else(|| {
                let what = format!(
                    "a {:?} block of {} bytes is too large for the format",
                    header.kind,
                    raw.len()
                );
                io::Error::new(io::ErrorKind::InvalidData, what)
            })?;
        self.packed.clear();
        self.packed.reserve(zstd::zstd_safe::compress_bound(raw.len()));
        self.zstd.compress_to_buffer(raw, &mut self.packed)?;
        let (codec, payload) = if self.packed.len() < header.kind.worth(raw.len()) {
            (ZSTD, self.packed.as_slice())
        } else {
            (STORED, raw)
        };
        header.codec = codec;
        // Packed or not, the payload is no longer than `raw`, whose length fits.
        header.stored = payload.len() as u32;
        header.crc = header.checksum(payload);
        Ok((header, payload))
    }
}

/// Unpacks payloads.
pub(super) struct Unpacker {
    zstd: zstd::bulk::Decompressor<'static>,
}

impl Unpacker {
    pub(super) fn new() -> Result<Unpacker> {
        Ok(Unpacker {
            zstd: zstd::bulk::Decompressor::new()?,
        })
    }

    /// Replaces `raw` with the unpacked payload and `slack` zeros behind it. `Err` says what is wrong.
    pub(super) fn unpack(
        &mut self,
        header: &Header,
        payload: &[u8],
        raw: &mut Vec<u8>,
        slack: usize,
    ) -> Result<(), String> {
        if header.checksum(payload) != header.crc {
            return Err("a block whose checksum is wrong".to_owned());
        }
        let len = header.raw as usize;
        raw.clear();
        if header.codec == STORED {
            raw.extend_from_slice(payload);
        } else {
            raw.reserve_exact(len + slack);
            // Never writes more than there is room for.
            self.zstd
                .decompress_to_buffer(payload, raw)
                .map_err(|error| format!("a block that cannot be unpacked: {error}"))?;
        }
        if raw.len() != len {
            return Err(format!("a block of {} bytes that claims {len}", raw.len()));
        }
        raw.resize(len + slack, 0);
        Ok(())
    }
}
