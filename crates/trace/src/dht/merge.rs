//! Puts events of blocks whose numbers overlap into one order. In memory are only the blocks that overlap at one time.

use super::decode::{Decoder, Malformed};
use super::read::BlockInfo;
use crate::{Error, Result};
use deadheat_event::Event;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Events that are decoded ahead for each block.
const AHEAD: usize = 512;

/// The most raw bytes of blocks that overlap: some ten thousand threads. More is refused as hostile.
const MAX_OVERLAP: usize = 1 << 30;

/// A block that is being read.
struct Active {
    decoder: Box<Decoder>,
    block: BlockInfo,
    events: Vec<Event>,
    numbers: Vec<u64>,
    /// What of `events` has been given out.
    at: usize,
}

impl Active {
    /// Decodes more if all that was decoded has been given out. `false` at the end of the block.
    fn refill(&mut self) -> Result<bool, Malformed> {
        if self.at < self.events.len() {
            return Ok(true);
        }
        if self.decoder.left() == 0 {
            return Ok(false);
        }
        self.decoder
            .decode_numbered(AHEAD, &mut self.events, &mut self.numbers)?;
        self.at = 0;
        Ok(true)
    }
}

/// The blocks that overlap.
#[derive(Default)]
pub(super) struct Merge {
    /// `None` where a block has ended.
    active: Vec<Option<Active>>,
    free: Vec<usize>,
    /// The number of each active block's next event.
    heap: BinaryHeap<Reverse<(u64, usize)>>,
    overlap: usize,
}

/// A run of events from one block.
pub(super) struct Run<'a> {
    pub(super) events: &'a [Event],
    pub(super) numbers: &'a [u64],
    pub(super) offset: u64,
}

impl Merge {
    pub(super) fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// The number of the next event.
    pub(super) fn next_number(&self) -> Option<u64> {
        self.heap.peek().map(|Reverse((number, _))| *number)
    }

    /// Adds a block that has been started and has at least one event.
    pub(super) fn add(&mut self, decoder: Box<Decoder>, block: BlockInfo) -> Result<()> {
        self.overlap += decoder.raw_len();
        if self.overlap > MAX_OVERLAP {
            return Err(Error::corrupt(
                block.offset,
                "too many blocks with overlapping event numbers",
            ));
        }
        let mut active = Active {
            decoder,
            block,
            events: Vec::new(),
            numbers: Vec::new(),
            at: 0,
        };
        let some = active
            .refill()
            .map_err(|what| Error::corrupt(block.offset, what))?;
        debug_assert!(some, "headers of event blocks have a count");
        let slot = self.free.pop().unwrap_or_else(|| {
            self.active.push(None);
            self.active.len() - 1
        });
        if let Some(&number) = active.numbers.first() {
            self.heap.push(Reverse((number, slot)));
        }
        self.active[slot] = Some(active);
        Ok(())
    }

    /// Gives `take` the next run of events with numbers below `bound` (at least one event, at most `limit`), and returns
    /// the decoder of a block that ended with it.
    pub(super) fn run<T>(
        &mut self,
        bound: u64,
        limit: usize,
        take: impl FnOnce(Run<'_>) -> T,
    ) -> Result<Option<(T, Option<Box<Decoder>>)>> {
        let Some(Reverse((_, slot))) = self.heap.pop() else {
            return Ok(None);
        };
        let bound = self.next_number().map_or(bound, |number| number.min(bound));
        let Some(active) = self.active[slot].as_mut() else {
            return Ok(None);
        };
        let window = &active.numbers[active.at..];
        let mut len = 1;
        while len < window.len().min(limit) && window[len] < bound {
            len += 1;
        }
        let (from, to) = (active.at, active.at + len);
        let run = Run {
            events: &active.events[from..to],
            numbers: &window[..len],
            offset: active.block.offset,
        };
        let taken = take(run);
        active.at = to;
        let more = active
            .refill()
            .map_err(|what| Error::corrupt(active.block.offset, what))?;
        if more {
            self.heap.push(Reverse((active.numbers[active.at], slot)));
            return Ok(Some((taken, None)));
        }
        let ended = self.active[slot].take().map(|active| active.decoder);
        self.free.push(slot);
        if let Some(decoder) = &ended {
            self.overlap -= decoder.raw_len();
        }
        Ok(Some((taken, ended)))
    }
}
