//! Events to the raw bytes of a block.

use super::codec::{
    ADDRESSES, ATOMIC_OPS, Lane, MAX_LANES, ORDERS, OTHERS, SITE_BYTES, Successors, opcode, pushes, short_tag,
};
use super::varint::{put, zigzag};
use deadheat_event::{AtomicOp, Event, Indices, Mode, Op, Order, SiteId, ThreadId};
use rustc_hash::FxHashMap;

/// Builds one event block after the other.
pub(super) struct Encoder {
    body: Vec<u8>,
    lanes: Vec<Lane>,
    by_thread: FxHashMap<u32, u8>,
    /// The lane of the last event.
    lane: u8,
    successors: Successors,
    count: u32,
    first: u64,
    last: u64,
}

/// A finished block, not yet packed.
pub(super) struct Encoded {
    pub(super) count: u32,
    pub(super) first: u64,
    pub(super) last: u64,
    /// The only thread, if there is only one.
    pub(super) thread: Option<u32>,
}

impl Encoder {
    pub(super) fn new() -> Encoder {
        Encoder {
            body: Vec::new(),
            lanes: Vec::new(),
            by_thread: FxHashMap::default(),
            lane: 0,
            successors: Successors::new(),
            count: 0,
            first: 0,
            last: 0,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Bytes so far.
    pub(super) fn len(&self) -> usize {
        self.body.len()
    }

    /// Whether an event of this thread and number can go into this block.
    pub(super) fn takes(&self, thread: ThreadId, number: u64) -> bool {
        self.count == 0
            || (number > self.last
                && (self.lanes.len() < MAX_LANES || self.by_thread.contains_key(&thread.0)))
    }

    /// Puts the raw block into `raw` and starts a new one.
    pub(super) fn take(&mut self, raw: &mut Vec<u8>) -> Encoded {
        raw.clear();
        put(raw, self.lanes.len() as u64);
        for lane in &self.lanes {
            put(raw, u64::from(lane.thread));
        }
        raw.extend_from_slice(&self.body);
        let thread = if let [lane] = self.lanes.as_slice() {
            Some(lane.thread)
        } else {
            None
        };
        let encoded = Encoded {
            count: self.count,
            first: self.first,
            last: self.last,
            thread,
        };
        self.body.clear();
        self.lanes.clear();
        self.by_thread.clear();
        self.successors.reset();
        (self.lane, self.count) = (0, 0);
        encoded
    }

    /// Appends an event that [`Encoder::takes`] allows.
    pub(super) fn push(&mut self, number: u64, event: &Event) {
        if self.count == 0 {
            self.first = number;
        } else if number > self.last + 1 {
            self.body.push(OTHERS + opcode::SKIP);
            put(&mut self.body, number - self.last - 1);
        }
        self.last = number;
        self.count += 1;

        if self.select(event.thread) {
            self.body.extend_from_slice(&[OTHERS + opcode::SWITCH, self.lane]);
        }
        let lane = &mut self.lanes[usize::from(self.lane)];
        let (old_site, site) = (lane.site, event.site.0);
        lane.site = site;
        let predicted = self.successors.get(old_site) == site;
        self.successors.set(old_site, site);

        match event.op {
            Op::Read {
                addr,
                size,
                value: None,
            } if is_short(size) => {
                self.access(addr.0, size, false, old_site, event.site, predicted);
            }
            Op::Write {
                addr,
                size,
                value: None,
            } if is_short(size) => {
                self.access(addr.0, size, true, old_site, event.site, predicted);
            }
            op => {
                let code = if predicted { 0 } else { site_code(old_site, site) };
                self.other(op, code);
            }
        }
    }

    /// Makes the thread's lane the current one. Whether that has to be written.
    fn select(&mut self, thread: ThreadId) -> bool {
        if self
            .lanes
            .get(usize::from(self.lane))
            .is_some_and(|lane| lane.thread == thread.0)
        {
            return false;
        }
        let new = self.lanes.len();
        let lane = *self.by_thread.entry(thread.0).or_insert(new as u8);
        if usize::from(lane) == new {
            self.lanes.push(Lane {
                thread: thread.0,
                ..Lane::default()
            });
        }
        let switches = lane != self.lane;
        self.lane = lane;
        switches
    }

    fn access(&mut self, addr: u64, size: u32, write: bool, old_site: u32, site: SiteId, predicted: bool) {
        let lane = &mut self.lanes[usize::from(self.lane)];
        let from = [lane.addr, lane.second].map(|last| addr.wrapping_sub(last) as i64);
        let site_delta = i64::from(site.0) - i64::from(old_site);
        let address = ADDRESSES
            .iter()
            .position(|&(second, bytes)| fits(from[usize::from(second)], bytes));
        let site_class = if predicted {
            Some(0)
        } else {
            (1..3).find(|&n| fits(site_delta, SITE_BYTES[n]))
        };
        let (Some(address), Some(site_class)) = (address, site_class) else {
            let code = if predicted { 0 } else { site_code(old_site, site.0) };
            let addr = deadheat_event::Addr(addr);
            let op = match write {
                true => Op::Write {
                    addr,
                    size,
                    value: None,
                },
                false => Op::Read {
                    addr,
                    size,
                    value: None,
                },
            };
            return self.other(op, code);
        };
        if pushes(address) {
            lane.second = lane.addr;
        }
        lane.addr = addr;
        let size_log2 = size.trailing_zeros() as u8;
        let tag = short_tag(address as u8, site_class as u8, size_log2, write);
        let (second, bytes) = ADDRESSES[address];
        let delta = from[usize::from(second)];
        self.body.push(tag);
        self.body
            .extend_from_slice(&delta.to_le_bytes()[..usize::from(bytes)]);
        self.body
            .extend_from_slice(&site_delta.to_le_bytes()[..usize::from(SITE_BYTES[site_class])]);
    }

    fn other(&mut self, op: Op, site: u64) {
        let code = match op {
            Op::Read { .. } | Op::Write { .. } => opcode::ACCESS,
            Op::ArrayRead { indices, .. } if indices.is_one() => opcode::ARRAY_READ,
            Op::ArrayWrite { indices, .. } if indices.is_one() => opcode::ARRAY_WRITE,
            Op::ArrayRead { .. } => opcode::ARRAY_READ_RANGE,
            Op::ArrayWrite { .. } => opcode::ARRAY_WRITE_RANGE,
            Op::Acquire {
                mode: Mode::Exclusive,
                ..
            } => opcode::ACQUIRE,
            Op::Acquire {
                mode: Mode::Shared, ..
            } => opcode::ACQUIRE_SHARED,
            Op::Release { .. } => opcode::RELEASE,
            Op::Atomic { .. } => opcode::ATOMIC,
            Op::Fence { .. } => opcode::FENCE,
            Op::Fork { .. } => opcode::FORK,
            Op::Join { .. } => opcode::JOIN,
            Op::Begin => opcode::BEGIN,
            Op::End => opcode::END,
            Op::BarrierEnter { .. } => opcode::BARRIER_ENTER,
            Op::BarrierLeave { .. } => opcode::BARRIER_LEAVE,
            Op::Send { .. } => opcode::SEND,
            Op::Receive { .. } => opcode::RECEIVE,
            Op::Alloc { .. } => opcode::ALLOC,
            Op::Free { .. } => opcode::FREE,
            Op::NewArray { .. } => opcode::NEW_ARRAY,
            Op::CallBegin { .. } => opcode::CALL_BEGIN,
            Op::CallEnd => opcode::CALL_END,
        };
        self.body.push(OTHERS + code);
        let body = &mut self.body;
        put(body, site);
        let lane = &mut self.lanes[usize::from(self.lane)];
        match op {
            Op::Read { addr, size, value } | Op::Write { addr, size, value } => {
                body.push(u8::from(matches!(op, Op::Write { .. })) | u8::from(value.is_some()) << 1);
                put_delta(body, &mut lane.addr, addr.0);
                put(body, u64::from(size));
                if let Some(value) = value {
                    put(body, value);
                }
            }
            Op::ArrayRead { array, indices } | Op::ArrayWrite { array, indices } => {
                put_array(body, lane, array.0, indices);
            }
            Op::Acquire { lock: id, .. }
            | Op::Release { lock: id }
            | Op::BarrierEnter { barrier: id }
            | Op::BarrierLeave { barrier: id }
            | Op::Send { channel: id }
            | Op::Receive { channel: id } => put_delta(body, &mut lane.sync, id.0),
            Op::Atomic {
                addr,
                size,
                op,
                order,
                value,
            } => {
                let kind = ATOMIC_OPS.iter().position(|&of: &AtomicOp| of == op).unwrap_or(0) as u8;
                body.push(kind | order_code(order) << 2 | u8::from(value.is_some()) << 5);
                put_delta(body, &mut lane.addr, addr.0);
                put(body, u64::from(size));
                if let Some(value) = value {
                    put(body, value);
                }
            }
            Op::Fence { order } => body.push(order_code(order)),
            Op::Fork { child } | Op::Join { child } => put(body, u64::from(child.0)),
            Op::Alloc { addr, size } | Op::Free { addr, size } => {
                put_delta(body, &mut lane.addr, addr.0);
                put(body, u64::from(size));
            }
            Op::NewArray { array, len } => {
                put_array_id(body, lane, array.0);
                put(body, len);
            }
            Op::CallBegin { function, objects } => {
                put(body, u64::from(function.0));
                put(body, u64::from(objects.0));
            }
            Op::Begin | Op::End | Op::CallEnd => {}
        }
    }
}

fn is_short(size: u32) -> bool {
    matches!(size, 1 | 2 | 4 | 8)
}

/// Whether a signed number fits so many bytes.
fn fits(value: i64, bytes: u8) -> bool {
    if bytes == 0 {
        return value == 0;
    }
    let shift = 64 - 8 * u32::from(bytes);
    value << shift >> shift == value
}

/// 0 is left for "as predicted".
fn site_code(old: u32, site: u32) -> u64 {
    zigzag(i64::from(site) - i64::from(old)) + 1
}

fn order_code(order: Order) -> u8 {
    ORDERS.iter().position(|&of| of == order).unwrap_or(0) as u8
}

fn put_delta(body: &mut Vec<u8>, last: &mut u64, value: u64) {
    put(body, zigzag(value.wrapping_sub(*last) as i64));
    *last = value;
}

fn put_array_id(body: &mut Vec<u8>, lane: &mut Lane, array: u32) {
    put(body, zigzag(i64::from(array) - i64::from(lane.array)));
    lane.array = array;
}

fn put_array(body: &mut Vec<u8>, lane: &mut Lane, array: u32, indices: Indices) {
    put_array_id(body, lane, array);
    put_delta(body, &mut lane.index, indices.first());
    if !indices.is_one() {
        put(body, indices.len() - 1);
        put(body, u64::from(indices.stride()));
        lane.index = indices.last();
    }
}
