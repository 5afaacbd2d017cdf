//! The raw bytes of a block to events, as fast as it goes.

use super::codec::{ATOMIC_OPS, Lane, MAX_LANES, ORDERS, OTHERS, SHAPES, Successors, WINDOW, opcode};
use super::varint::{get, get32, unzigzag};
use deadheat_event::{
    Addr, ArrayId, Event, Indices, MAX_ACCESS, Mode, NameId, ObjectSetId, Op, SiteId, SyncId, ThreadId,
};
use std::hint::select_unpredictable;

/// Zeros that the raw block must have behind it, so that one check in front of each event is enough.
pub(super) const SLACK: usize = WINDOW;

/// Fills a vector up before it is overwritten.
const BLANK: Event = Event {
    thread: ThreadId(0),
    site: SiteId(0),
    op: Op::Begin,
};

/// Decodes one block, in as many steps as the caller likes.
pub(super) struct Decoder {
    /// The raw block, and [`SLACK`] zeros.
    raw: Vec<u8>,
    at: usize,
    /// Events not yet decoded.
    left: u32,
    /// The number of the next event, as far as it is known before its skips.
    next: u64,
    last: u64,
    lanes: Box<[Lane; MAX_LANES]>,
    lane: u8,
    successors: Successors,
}

/// Why a block whose checksum is right makes no sense: only a faulty or hostile writer makes such a block.
pub(super) type Malformed = &'static str;

impl Decoder {
    pub(super) fn new() -> Decoder {
        Decoder {
            raw: Vec::new(),
            at: 0,
            left: 0,
            next: 0,
            last: 0,
            lanes: Box::new([Lane::default(); MAX_LANES]),
            lane: 0,
            successors: Successors::new(),
        }
    }

    /// Where to unpack the next block to, with [`SLACK`] bytes behind it, before [`Decoder::start`].
    pub(super) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.raw
    }

    /// Bytes of the block.
    pub(super) fn raw_len(&self) -> usize {
        self.raw.len()
    }

    /// Begins with a block of `count` events with numbers `first..=last`.
    pub(super) fn start(&mut self, count: u32, first: u64, last: u64) -> Result<(), Malformed> {
        self.at = 0;
        let lanes = get(&self.raw, &mut self.at).ok_or("a block without threads")?;
        if lanes == 0 || lanes > MAX_LANES as u64 {
            return Err("a block with too many threads");
        }
        self.lanes.fill(Lane {
            unlisted: true,
            ..Lane::default()
        });
        for lane in &mut self.lanes[..lanes as usize] {
            lane.unlisted = false;
            lane.thread = get32(&self.raw, &mut self.at).ok_or("a thread number that is cut off")?;
        }
        self.successors.reset();
        (self.lane, self.left, self.next, self.last) = (0, count, first, last);
        Ok(())
    }

    pub(super) fn left(&self) -> u32 {
        self.left
    }

    /// Replaces the contents of `out` with up to `limit` of the next events.
    pub(super) fn decode(&mut self, limit: usize, out: &mut Vec<Event>) -> Result<(), Malformed> {
        self.run(limit, out, None)
    }

    /// [`Decoder::decode`], with the number of each event.
    pub(super) fn decode_numbered(
        &mut self,
        limit: usize,
        out: &mut Vec<Event>,
        numbers: &mut Vec<u64>,
    ) -> Result<(), Malformed> {
        numbers.clear();
        self.run(limit, out, Some(numbers))
    }

    #[inline(always)]
    fn run(
        &mut self,
        limit: usize,
        out: &mut Vec<Event>,
        mut numbers: Option<&mut Vec<u64>>,
    ) -> Result<(), Malformed> {
        let count = limit.min(self.left as usize);
        // What is there already will be overwritten: a reused vector is not filled anew.
        out.truncate(count);
        out.resize(count, BLANK);
        let raw = self.raw.as_slice();
        let lanes = &mut *self.lanes;
        let successors = &mut self.successors;
        let mut at = self.at;
        let mut lane_index = self.lane;
        let mut next = self.next;
        let mut done = 0;
        while done < count {
            let short = short_accesses(raw, &mut at, &mut lane_index, lanes, successors, &mut out[done..])?;
            if let Some(numbers) = numbers.as_deref_mut() {
                numbers.extend((0..short as u64).map(|n| next.wrapping_add(n)));
            }
            next = next.wrapping_add(short as u64);
            done += short;
            let (Some(slot), Some(&tag)) = (out.get_mut(done), raw.get(at)) else {
                break;
            };
            at += 1;
            if tag == OTHERS + opcode::SKIP {
                let skip = get(raw, &mut at).ok_or("a skip that is cut off")?;
                next = next
                    .checked_add(skip)
                    .ok_or("an event number that is too large")?;
                continue;
            }
            let lane = &mut lanes[usize::from(lane_index)];
            other(tag - OTHERS, raw, &mut at, lane, successors, slot)?;
            if let Some(numbers) = numbers.as_deref_mut() {
                numbers.push(next);
            }
            next = next.wrapping_add(1);
            done += 1;
        }
        self.left -= count as u32;
        (self.at, self.lane, self.next) = (at, lane_index, next);
        if self.left == 0 && (at != self.raw.len() - SLACK || next.wrapping_sub(1) != self.last) {
            return Err("a block that does not end where it should");
        }
        Ok(())
    }
}

/// Decodes short accesses, and changes of thread between them, up to the first event that is none, and returns how many
/// there are.
///
/// Most of a trace is decoded here. Everything else is kept out of the loop, so that all it needs stays in registers;
/// and nothing in an event can be guessed from the ones before it, so nothing about it is a branch.
#[inline(never)]
fn short_accesses(
    raw: &[u8],
    start: &mut usize,
    current: &mut u8,
    lanes: &mut [Lane; MAX_LANES],
    successors: &mut Successors,
    out: &mut [Event],
) -> Result<usize, Malformed> {
    // Nothing may take the address of these, or they would not stay in registers.
    let (mut at, mut lane_index) = (*start, *current);
    let Lane {
        mut addr,
        mut second,
        mut site,
        mut thread,
        ..
    } = lanes[usize::from(lane_index)];
    let mut count = 0;
    while count < out.len() {
        let window: &[u8; WINDOW] = raw
            .get(at..)
            .and_then(<[u8]>::first_chunk)
            .ok_or("a block that ends early")?;
        let tag = window[0];
        if tag >= OTHERS {
            if tag != OTHERS + opcode::SWITCH {
                break;
            }
            let old = &mut lanes[usize::from(lane_index)];
            (old.addr, old.second, old.site) = (addr, second, site);
            lane_index = window[1];
            let new = &lanes[usize::from(lane_index)];
            if new.unlisted {
                return Err("a thread that the block does not list");
            }
            (addr, second, site, thread) = (new.addr, new.second, new.site, new.thread);
            at += 2;
            continue;
        }
        let shape = &SHAPES[usize::from(tag)];
        let delta = (u64_in(window) << (shape.addr_left & 63)) as i64 >> (shape.addr_right & 63);
        let base = select_unpredictable(shape.second, second, addr);
        second = select_unpredictable(shape.pushes, addr, second);
        addr = base.wrapping_add(delta as u64);
        let shift = shape.site_shift & 31;
        let site_delta = (u32_in(window, shape.site_at) << shift) as i32 >> shift;
        let explicit = site.wrapping_add(site_delta as u32);
        let predicted = successors.get(site);
        let next = select_unpredictable(shape.site_shift == 0, predicted, explicit);
        successors.set(site, next);
        site = next;
        at += usize::from(shape.len);
        let (addr, size) = (Addr(addr), u32::from(shape.size));
        let slot = &mut out[count];
        slot.thread = ThreadId(thread);
        slot.site = SiteId(site);
        slot.op = if tag & 1 == 1 {
            Op::Write {
                addr,
                size,
                value: None,
            }
        } else {
            Op::Read {
                addr,
                size,
                value: None,
            }
        };
        count += 1;
    }
    let lane = &mut lanes[usize::from(lane_index)];
    (lane.addr, lane.second, lane.site) = (addr, second, site);
    (*start, *current) = (at, lane_index);
    Ok(count)
}

#[inline(always)]
fn u64_in(window: &[u8; WINDOW]) -> u64 {
    window.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

#[inline(always)]
fn u32_in(window: &[u8; WINDOW], at: u8) -> u32 {
    let at = usize::from(at & 7);
    u32::from_le_bytes([window[at], window[at + 1], window[at + 2], window[at + 3]])
}

/// Everything that is not a short access.
///
/// Every arm writes its event in place: built aside and then copied, events would stall on half-written words.
#[inline(never)]
fn other(
    code: u8,
    raw: &[u8],
    at: &mut usize,
    lane: &mut Lane,
    successors: &mut Successors,
    slot: &mut Event,
) -> Result<(), Malformed> {
    const CUT: Malformed = "an event that is cut off";
    let old = lane.site;
    let site = match get(raw, at).ok_or(CUT)? {
        0 => successors.get(old),
        code => {
            let site = i64::from(old)
                .checked_add(unzigzag(code - 1))
                .and_then(|site| u32::try_from(site).ok());
            site.ok_or("a site that is out of range")?
        }
    };
    successors.set(old, site);
    lane.site = site;
    slot.thread = ThreadId(lane.thread);
    slot.site = SiteId(site);
    let byte = |at: &mut usize| {
        let byte = raw.get(*at).copied().ok_or(CUT);
        *at += 1;
        byte
    };
    match code {
        opcode::ACCESS => {
            let flags = byte(at)?;
            let addr = Addr(delta(raw, at, &mut lane.addr).ok_or(CUT)?);
            let size = size(raw, at)?;
            let value = value(flags & 2 != 0, raw, at)?;
            match flags {
                0 | 2 => slot.op = Op::Read { addr, size, value },
                1 | 3 => slot.op = Op::Write { addr, size, value },
                _ => return Err("an access of unknown kind"),
            }
        }
        opcode::ARRAY_READ => {
            let array = array(raw, at, lane)?;
            slot.op = Op::ArrayRead {
                array,
                indices: index(raw, at, lane)?,
            };
        }
        opcode::ARRAY_WRITE => {
            let array = array(raw, at, lane)?;
            slot.op = Op::ArrayWrite {
                array,
                indices: index(raw, at, lane)?,
            };
        }
        opcode::ARRAY_READ_RANGE => {
            let array = array(raw, at, lane)?;
            slot.op = Op::ArrayRead {
                array,
                indices: range(raw, at, lane)?,
            };
        }
        opcode::ARRAY_WRITE_RANGE => {
            let array = array(raw, at, lane)?;
            slot.op = Op::ArrayWrite {
                array,
                indices: range(raw, at, lane)?,
            };
        }
        opcode::ACQUIRE => {
            slot.op = Op::Acquire {
                lock: sync(raw, at, lane).ok_or(CUT)?,
                mode: Mode::Exclusive,
            };
        }
        opcode::ACQUIRE_SHARED => {
            slot.op = Op::Acquire {
                lock: sync(raw, at, lane).ok_or(CUT)?,
                mode: Mode::Shared,
            };
        }
        opcode::RELEASE => {
            slot.op = Op::Release {
                lock: sync(raw, at, lane).ok_or(CUT)?,
            }
        }
        opcode::ATOMIC => {
            let flags = byte(at)?;
            let op = ATOMIC_OPS.get(usize::from(flags & 3)).copied();
            let order = ORDERS.get(usize::from(flags >> 2 & 7)).copied();
            let (Some(op), Some(order), true) = (op, order, flags < 64) else {
                return Err("an atomic access of unknown kind");
            };
            let addr = Addr(delta(raw, at, &mut lane.addr).ok_or(CUT)?);
            let size = size(raw, at)?;
            let value = value(flags & 32 != 0, raw, at)?;
            slot.op = Op::Atomic {
                addr,
                size,
                op,
                order,
                value,
            };
        }
        opcode::FENCE => {
            let order = ORDERS.get(usize::from(byte(at)?)).copied();
            slot.op = Op::Fence {
                order: order.ok_or("a fence of unknown ordering")?,
            };
        }
        opcode::FORK => {
            slot.op = Op::Fork {
                child: ThreadId(get32(raw, at).ok_or(CUT)?),
            }
        }
        opcode::JOIN => {
            slot.op = Op::Join {
                child: ThreadId(get32(raw, at).ok_or(CUT)?),
            }
        }
        opcode::BEGIN => slot.op = Op::Begin,
        opcode::END => slot.op = Op::End,
        opcode::BARRIER_ENTER => {
            slot.op = Op::BarrierEnter {
                barrier: sync(raw, at, lane).ok_or(CUT)?,
            }
        }
        opcode::BARRIER_LEAVE => {
            slot.op = Op::BarrierLeave {
                barrier: sync(raw, at, lane).ok_or(CUT)?,
            }
        }
        opcode::SEND => {
            slot.op = Op::Send {
                channel: sync(raw, at, lane).ok_or(CUT)?,
            }
        }
        opcode::RECEIVE => {
            slot.op = Op::Receive {
                channel: sync(raw, at, lane).ok_or(CUT)?,
            }
        }
        opcode::ALLOC => {
            let addr = Addr(delta(raw, at, &mut lane.addr).ok_or(CUT)?);
            slot.op = Op::Alloc {
                addr,
                size: size(raw, at)?,
            };
        }
        opcode::FREE => {
            let addr = Addr(delta(raw, at, &mut lane.addr).ok_or(CUT)?);
            slot.op = Op::Free {
                addr,
                size: size(raw, at)?,
            };
        }
        opcode::NEW_ARRAY => {
            slot.op = Op::NewArray {
                array: array(raw, at, lane)?,
                len: get(raw, at).ok_or(CUT)?,
            };
        }
        opcode::CALL_BEGIN => {
            let function = NameId(get32(raw, at).ok_or(CUT)?);
            slot.op = Op::CallBegin {
                function,
                objects: ObjectSetId(get32(raw, at).ok_or(CUT)?),
            };
        }
        opcode::CALL_END => slot.op = Op::CallEnd,
        _ => return Err("an event of unknown kind"),
    }
    Ok(())
}

#[inline]
fn delta(raw: &[u8], at: &mut usize, last: &mut u64) -> Option<u64> {
    *last = last.wrapping_add(unzigzag(get(raw, at)?) as u64);
    Some(*last)
}

#[inline]
fn sync(raw: &[u8], at: &mut usize, lane: &mut Lane) -> Option<SyncId> {
    delta(raw, at, &mut lane.sync).map(SyncId)
}

fn size(raw: &[u8], at: &mut usize) -> Result<u32, Malformed> {
    let size = get32(raw, at).ok_or("a size that is cut off")?;
    if u64::from(size) > MAX_ACCESS {
        return Err("an event that spans more bytes than one may");
    }
    Ok(size)
}

fn value(present: bool, raw: &[u8], at: &mut usize) -> Result<Option<u64>, Malformed> {
    if present {
        get(raw, at).map(Some).ok_or("a value that is cut off")
    } else {
        Ok(None)
    }
}

#[inline]
fn array(raw: &[u8], at: &mut usize, lane: &mut Lane) -> Result<ArrayId, Malformed> {
    let change = unzigzag(get(raw, at).ok_or("an array that is cut off")?);
    let array = i64::from(lane.array)
        .checked_add(change)
        .and_then(|array| u32::try_from(array).ok());
    lane.array = array.ok_or("an array that is out of range")?;
    Ok(ArrayId(lane.array))
}

const CUT_INDEX: Malformed = "an index that is cut off";

#[inline]
fn index(raw: &[u8], at: &mut usize, lane: &mut Lane) -> Result<Indices, Malformed> {
    delta(raw, at, &mut lane.index).map(Indices::one).ok_or(CUT_INDEX)
}

fn range(raw: &[u8], at: &mut usize, lane: &mut Lane) -> Result<Indices, Malformed> {
    let first = delta(raw, at, &mut lane.index).ok_or(CUT_INDEX)?;
    let steps = get(raw, at).ok_or(CUT_INDEX)?;
    let stride = get32(raw, at).ok_or(CUT_INDEX)?;
    let last = steps
        .checked_mul(u64::from(stride))
        .and_then(|span| first.checked_add(span));
    let indices = last
        .and_then(|last| Indices::new(first, last, stride))
        .ok_or("an impossible index range")?;
    lane.index = indices.last();
    Ok(indices)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dht::encode::Encoder;
    use crate::recipe::{Config, traces};
    use proptest::prelude::*;

    /// Encodes events into one raw block with gaps in their numbers.
    fn encode(events: &[Event], gap: u64) -> (Vec<u8>, u32, u64, u64) {
        let (mut encoder, mut raw) = (Encoder::new(), Vec::new());
        for (n, event) in events.iter().enumerate() {
            encoder.push(n as u64 * gap, event);
        }
        let encoded = encoder.take(&mut raw);
        (raw, encoded.count, encoded.first, encoded.last)
    }

    fn decode(
        raw: &[u8],
        count: u32,
        first: u64,
        last: u64,
        step: usize,
    ) -> Result<Vec<(u64, Event)>, Malformed> {
        let mut decoder = Decoder::new();
        decoder.buffer().extend_from_slice(raw);
        decoder.buffer().extend_from_slice(&[0; SLACK]);
        decoder.start(count, first, last)?;
        let (mut all, mut events, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
        while decoder.left() > 0 {
            decoder.decode_numbered(step, &mut events, &mut numbers)?;
            all.extend(numbers.iter().copied().zip(events.iter().copied()));
        }
        Ok(all)
    }

    fn config() -> Config {
        Config {
            min_choices: 1,
            ..Config::all()
        }
    }

    /// Accesses far apart, of odd sizes and with large values, which recipes do not make.
    fn wild() -> impl Strategy<Value = Vec<Event>> {
        let far = prop_oneof![
            Just(0_u64),
            0..512_u64,
            any::<u64>(),
            Just(u64::MAX),
            any::<u32>().prop_map(u64::from)
        ];
        let event = (
            any::<u8>(),
            far.clone(),
            0..12_u32,
            any::<u32>(),
            proptest::option::of(far),
            any::<bool>(),
        );
        let event = event.prop_map(|(thread, addr, size, site, value, write)| {
            let (addr, site) = (Addr(addr), SiteId(if site % 3 == 0 { site } else { site % 300 }));
            let op = if write {
                Op::Write { addr, size, value }
            } else {
                Op::Read { addr, size, value }
            };
            Event {
                thread: ThreadId(u32::from(thread) << (thread % 25)),
                site,
                op,
            }
        });
        proptest::collection::vec(event, 1..200)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn a_block_comes_back_in_steps_of_any_size(
            trace in prop_oneof![traces(config()).prop_map(|trace| trace.events), wild()],
            gap in 1..4_u64,
            step in 1..50_usize,
        ) {
            prop_assume!(!trace.is_empty());
            let (raw, count, first, last) = encode(&trace, gap);
            let numbered: Vec<_> = trace.iter().enumerate().map(|(n, event)| (n as u64 * gap, *event)).collect();
            prop_assert_eq!(decode(&raw, count, first, last, step), Ok(numbered));
        }

        /// The checksum is no help against someone who computes it: the decoder itself must stand anything.
        #[test]
        fn damaged_blocks_are_refused_or_give_that_many_events(
            trace in traces(config()),
            damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
            count_change in -2..3_i64,
        ) {
            prop_assume!(!trace.events.is_empty());
            let (mut raw, count, first, last) = encode(&trace.events, 1);
            for (at, byte) in damage {
                let at = at.index(raw.len());
                raw[at] = byte;
            }
            let count = (i64::from(count) + count_change).max(1) as u32;
            if let Ok(events) = decode(&raw, count, first, last, 16) {
                prop_assert_eq!(events.len(), count as usize);
            }
        }

        #[test]
        fn noise_is_refused_or_decoded_without_a_panic(raw in proptest::collection::vec(any::<u8>(), 0..200), count in 1..100_u32) {
            let _ = decode(&raw, count, 0, u64::from(count) - 1, 7);
            let _ = decode(&raw, count, u64::MAX - 3, u64::MAX, 7);
        }
    }
}
