//! From the logs of threads in a spill file (`abi::spill`) to a trace: a merge by time, in memory bounded by one block a thread.
//!
//! Nothing in the file is trusted: it may have been cut off anywhere.
//!
//! Besides, memory is replayed (`replay.rs`), as much as the recorded accesses touched: a read that no recorded write explains is told
//! without its value.

use super::objects::Known;
use super::replay::Memory;
use anyhow::{Context, Result, bail};
use deadheat_abi::spill::{
    self, BLOCK_HEADER, BlockHeader, Kind, MAGIC, MODULES, Reader, Record, UNIT, WIDE_ATOMIC,
};
use deadheat_event::{
    Addr, AtomicOp, Code, Event, MAX_ACCESS, Mode, NameId, Object, ObjectSetId, Op, Order, Site, SiteId,
    SyncId, ThreadId,
};
use deadheat_report::native::Addresses;
use deadheat_trace::{Interner, Sink};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet, VecDeque};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Events are written so many at once.
const BATCH: usize = 4096;

/// How it came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merged {
    /// Events in the trace.
    pub events: u64,
    /// Recording ended before the program did.
    pub stopped: bool,
}

/// Makes a trace of the logs at `path`. `command` runs the program again.
pub fn merge(path: &Path, command: &[String], sink: &mut dyn Sink) -> Result<Merged> {
    let file = File::open(path).context("cannot read what was recorded")?;
    let spill = Spill::open(&file)?;
    let mut trace = Trace::new(sink);
    for line in spill.modules.lines() {
        trace.addresses.line(line);
    }
    for (at, word) in (0..).zip(command) {
        let word = trace.tables.name(word);
        trace.tables.tables_mut().command.insert(at, word);
    }
    let mut streams: Vec<Stream<'_>> = spill
        .threads
        .into_iter()
        .map(|(thread, blocks)| Stream::new(&file, thread, blocks))
        .collect();
    let mut queue: BinaryHeap<Reverse<(u64, usize)>> = streams
        .iter()
        .enumerate()
        .filter_map(|(at, stream)| Some(Reverse((stream.blocks.front()?.time, at))))
        .collect();
    while let Some(Reverse((_, at))) = queue.pop() {
        let stream = &mut streams[at];
        let other = queue.peek().map_or((u64::MAX, 0), |Reverse(next)| *next);
        // As long as no other thread comes first. What is in the queue is at most the time of the next record.
        while stream.advance(&mut trace.names)? {
            let key = (stream.time, at);
            if key > other {
                queue.push(Reverse(key));
                break;
            }
            if stream.time > spill.stop {
                break;
            }
            let Some(record) = stream.next.take() else { break };
            trace.take(stream.thread, record)?;
        }
    }
    let events = trace.finish()?;
    Ok(Merged {
        events,
        stopped: spill.stop != u64::MAX,
    })
}

/// What is in a spill file.
struct Spill {
    threads: BTreeMap<u32, VecDeque<Block>>,
    modules: String,
    /// What comes later is not to be trusted.
    stop: u64,
}

#[derive(Clone, Copy)]
struct Block {
    number: u32,
    offset: u64,
    time: u64,
}

impl Spill {
    fn open(file: &File) -> Result<Spill> {
        let mut spill = Spill {
            threads: BTreeMap::new(),
            modules: String::new(),
            stop: u64::MAX,
        };
        let len = file.metadata().context("cannot read what was recorded")?.len();
        let mut header = [0; 64];
        if len == 0 {
            bail!(
                "the program has recorded nothing: it ended before its runtime was ready; what it printed may say why"
            );
        }
        read(file, &mut header, 0)?;
        if header[..8] != MAGIC {
            bail!("what was recorded is damaged; record again, to a directory with room for it");
        }
        if header[spill::STOPPED] != 0 {
            let inverted = header[spill::STOP_TIME..spill::STOP_TIME + 8].try_into();
            spill.stop = !inverted.map_or(0, u64::from_le_bytes);
        }
        for offset in (UNIT..len).step_by(UNIT as usize) {
            let mut header = [0; BLOCK_HEADER];
            read(file, &mut header, offset)?;
            // A block that its thread did not come to begin is empty.
            let Some(header) = BlockHeader::from_bytes(&header) else {
                continue;
            };
            if header.thread == MODULES {
                let mut text = vec![0; UNIT as usize - BLOCK_HEADER];
                read(file, &mut text, offset + BLOCK_HEADER as u64)?;
                let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
                spill.modules.push_str(&String::from_utf8_lossy(&text[..end]));
                continue;
            }
            let block = Block {
                number: header.number,
                offset,
                time: header.time,
            };
            spill.threads.entry(header.thread).or_default().push_back(block);
        }
        for blocks in spill.threads.values_mut() {
            let mut sorted = Vec::from(std::mem::take(blocks));
            sorted.sort_by_key(|block| (block.number, block.offset));
            // The second of one number was not written to its end.
            sorted.dedup_by_key(|block| block.number);
            *blocks = sorted.into();
        }
        Ok(spill)
    }
}

/// Fills `to` with the bytes at `offset`, and with zeros behind the end of the file.
fn read(file: &File, mut to: &mut [u8], mut offset: u64) -> Result<()> {
    while !to.is_empty() {
        let done = file
            .read_at(to, offset)
            .context("cannot read what was recorded")?;
        if done == 0 {
            to.fill(0);
            break;
        }
        (to, offset) = (&mut to[done..], offset + done as u64);
    }
    Ok(())
}

/// The log of a thread.
struct Stream<'f> {
    file: &'f File,
    thread: u32,
    blocks: VecDeque<Block>,
    bytes: Vec<u8>,
    at: usize,
    reader: Option<Box<Reader>>,
    /// Of the next record.
    time: u64,
    next: Option<Record>,
}

impl Stream<'_> {
    fn new(file: &File, thread: u32, blocks: VecDeque<Block>) -> Stream<'_> {
        Stream {
            file,
            thread,
            blocks,
            bytes: Vec::new(),
            at: 0,
            reader: None,
            time: 0,
            next: None,
        }
    }

    /// Sees to it that there is a next record. False at the end.
    fn advance(&mut self, names: &mut HashMap<u64, String>) -> Result<bool> {
        while self.next.is_none() {
            let reader = self.reader.get_or_insert_default();
            let Some((record, growth, at)) = reader.read(&self.bytes, self.at) else {
                let Some(block) = self.blocks.pop_front() else {
                    // Its memory is for others.
                    (self.bytes, self.reader) = (Vec::new(), None);
                    return Ok(false);
                };
                self.bytes.resize(UNIT as usize, 0);
                read(self.file, &mut self.bytes, block.offset)?;
                (self.at, self.time) = (BLOCK_HEADER, block.time);
                continue;
            };
            self.at = at;
            self.time = self.time.saturating_add(growth).saturating_add(1);
            if record.kind == Kind::Text as u8 {
                let len = record.value.unwrap_or(0) as usize;
                let text = self.bytes.get(at..at.saturating_add(len)).unwrap_or_default();
                names.insert(record.addr, String::from_utf8_lossy(text).into_owned());
                self.at += text.len();
            } else {
                self.next = Some(record);
            }
        }
        Ok(true)
    }
}

/// A trace in the making.
struct Trace<'s> {
    sink: &'s mut dyn Sink,
    tables: Interner,
    addresses: Addresses,
    batch: Vec<Event>,
    events: u64,
    /// Names of functions that are called, by what stands for them.
    names: HashMap<u64, String>,
    sites: HashMap<u64, SiteId>,
    /// Addresses whose variable was looked for.
    looked_at: HashSet<u64>,
    syncs: HashMap<u64, SyncId>,
    /// How often there was another object at an address.
    others: HashMap<u64, u64>,
    /// How often each thread holds a lock.
    held: HashMap<SyncId, HashMap<u32, u32>>,
    /// Locks that were given back by others than who took them: like channels.
    odd: HashSet<SyncId>,
    /// What the call that a thread begins next reaches.
    objects: HashMap<u32, Vec<Object>>,
    /// What the calls of a thread reached, in the order in which that was told.
    lists: HashMap<u32, Vec<ObjectSetId>>,
    known: Known,
    memory: Memory,
}

impl<'s> Trace<'s> {
    fn new(sink: &'s mut dyn Sink) -> Trace<'s> {
        Trace {
            sink,
            tables: Interner::new(),
            addresses: Addresses::new(std::env::current_dir().unwrap_or_default()),
            batch: Vec::with_capacity(BATCH),
            events: 0,
            names: HashMap::new(),
            sites: HashMap::new(),
            looked_at: HashSet::new(),
            syncs: HashMap::new(),
            others: HashMap::new(),
            held: HashMap::new(),
            odd: HashSet::new(),
            objects: HashMap::new(),
            lists: HashMap::new(),
            known: Known::default(),
            memory: Memory::default(),
        }
    }

    /// Takes the next record, of `thread`.
    fn take(&mut self, thread: u32, record: Record) -> Result<()> {
        let Record { addr, mut value, .. } = record;
        let size = 1u32 << record.size;
        let number = value.unwrap_or(0);
        let reads =
            record.kind == Kind::Load as u8 || matches!(atomic(record.kind), Some((AtomicOp::Load, _)));
        if is_access(record.kind) {
            match value {
                Some(number) if !self.memory.set(addr, size, number) && reads => value = None,
                None if !reads => self.memory.forget(addr, 16),
                _ => {}
            }
        }
        let ops = match record.kind {
            kind if kind == Kind::Load as u8 => {
                self.access(addr, size, |addr, size| Op::Read { addr, size, value })
            }
            kind if kind == Kind::Store as u8 => {
                self.access(addr, size, |addr, size| Op::Write { addr, size, value })
            }
            kind if kind >= Kind::AtomicLoad as u8 => {
                let size = if kind >= Kind::AtomicLoad as u8 + WIDE_ATOMIC {
                    16
                } else {
                    size
                };
                let Some((op, order)) = atomic(kind) else {
                    return Ok(());
                };
                self.access(addr, size, |addr, size| Op::Atomic {
                    addr,
                    size,
                    op,
                    order,
                    value,
                })
            }
            kind => return self.take_other(thread, kind, record, number),
        };
        self.put(thread, record.pc, ops)
    }

    fn access(&mut self, addr: u64, size: u32, op: impl FnOnce(Addr, u32) -> Op) -> Op {
        self.name_variable(addr);
        op(Addr(addr), size)
    }

    fn take_other(&mut self, thread: u32, kind: u8, record: Record, number: u64) -> Result<()> {
        let Record { pc, addr, value, .. } = record;
        let is = |other: Kind| kind == other as u8;
        let op = if is(Kind::RangeRead) {
            return self.pieces(thread, pc, addr, number, |addr, size| Op::Read {
                addr,
                size,
                value: None,
            });
        } else if is(Kind::RangeWrite) {
            return self.pieces(thread, pc, addr, number, |addr, size| Op::Write {
                addr,
                size,
                value: None,
            });
        } else if is(Kind::Free) {
            return self.pieces(thread, pc, addr, number, |addr, size| Op::Free { addr, size });
        } else if is(Kind::Alloc) {
            self.known.forget(addr, number);
            return self.pieces(thread, pc, addr, number, |addr, size| Op::Alloc { addr, size });
        } else if is(Kind::Acquire) {
            self.acquire(thread, addr, Mode::Exclusive)
        } else if is(Kind::AcquireShared) {
            self.acquire(thread, addr, Mode::Shared)
        } else if is(Kind::Release) {
            self.release(thread, addr)
        } else if is(Kind::Send) {
            Op::Send {
                channel: self.sync(addr),
            }
        } else if is(Kind::Receive) {
            Op::Receive {
                channel: self.sync(addr),
            }
        } else if is(Kind::Enter) {
            Op::BarrierEnter {
                barrier: self.sync(addr),
            }
        } else if is(Kind::Leave) {
            Op::BarrierLeave {
                barrier: self.sync(addr),
            }
        } else if is(Kind::Forget) {
            if let Some(sync) = self.syncs.remove(&addr) {
                self.held.remove(&sync);
                self.odd.remove(&sync);
                *self.others.entry(addr).or_default() += 1;
            }
            return Ok(());
        } else if is(Kind::Fork) {
            Op::Fork {
                child: ThreadId(number as u32),
            }
        } else if is(Kind::Join) {
            Op::Join {
                child: ThreadId(number as u32),
            }
        } else if is(Kind::Begin) {
            Op::Begin
        } else if is(Kind::End) {
            for holders in self.held.values_mut() {
                holders.remove(&thread);
            }
            Op::End
        } else if is(Kind::Object) {
            let size = u32::try_from(number).unwrap_or(u32::MAX);
            let object = Object {
                addr: Addr(addr),
                size,
            };
            self.objects.entry(thread).or_default().push(object);
            return Ok(());
        } else if is(Kind::CallBegin) {
            let mut objects = self.objects.remove(&thread).unwrap_or_default();
            // Without a number of objects: it reaches too much to be told.
            if value.is_none() {
                objects.push(Object::EVERYTHING);
            }
            let objects = self.tables.objects(self.known.cut(&objects));
            self.lists.entry(thread).or_default().push(objects);
            self.call(addr, objects)
        } else if is(Kind::CallAgain) {
            let list = self
                .lists
                .get(&thread)
                .and_then(|lists| lists.get(number as usize));
            match list.copied() {
                Some(objects) => self.call(addr, objects),
                None => return Ok(()),
            }
        } else if is(Kind::CallEnd) {
            Op::CallEnd
        } else if is(Kind::Fence) {
            Op::Fence {
                order: order(number as u8).unwrap_or(Order::SeqCst),
            }
        } else {
            return Ok(());
        };
        self.put(thread, pc, op)
    }

    /// A call of the function that `addr` stands for.
    fn call(&mut self, addr: u64, objects: ObjectSetId) -> Op {
        let name = self.names.get(&addr).map_or("", String::as_str);
        Op::CallBegin {
            function: self.tables.name(name),
            objects,
        }
    }

    /// Memory of any length, as events that are not too large.
    fn pieces(
        &mut self,
        thread: u32,
        pc: u64,
        addr: u64,
        len: u64,
        op: impl Fn(Addr, u32) -> Op,
    ) -> Result<()> {
        self.name_variable(addr);
        if !matches!(op(Addr(addr), 1), Op::Read { .. }) {
            self.memory.forget(addr, len);
        }
        let mut done = 0;
        while done < len {
            let size = (len - done).min(MAX_ACCESS);
            self.put(thread, pc, op(Addr(addr.wrapping_add(done)), size as u32))?;
            done += size;
        }
        Ok(())
    }

    fn put(&mut self, thread: u32, pc: u64, op: Op) -> Result<()> {
        let site = self.site(pc);
        self.batch.push(Event {
            thread: ThreadId(thread),
            site,
            op,
        });
        self.events += 1;
        if self.batch.len() == BATCH {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        self.sink.write(&self.batch, self.tables.tables())?;
        self.batch.clear();
        Ok(())
    }

    fn finish(mut self) -> Result<u64> {
        self.flush()?;
        self.sink.finish(self.tables.tables())?;
        Ok(self.events)
    }

    fn site(&mut self, pc: u64) -> SiteId {
        if pc == 0 {
            return SiteId(0);
        }
        if let Some(site) = self.sites.get(&pc) {
            return *site;
        }
        let frame = self.addresses.place(pc);
        let mut name = |text: Option<String>| text.map_or(NameId(0), |text| self.tables.name(&text));
        let function = name(frame.function);
        let site = Site {
            function,
            file: name(frame.file.or(frame.module)),
            line: frame.line.unwrap_or(0),
            column: frame.column.unwrap_or(0),
        };
        let site = self.tables.site(site);
        self.sites.insert(pc, site);
        self.place(pc, site);
        site
    }

    /// Says where in the program's files a site is, for who wants to find it in another run.
    fn place(&mut self, pc: u64, site: SiteId) {
        let Some((file, offset)) = self.addresses.code(pc) else {
            return;
        };
        let Some(code) = Code::new(file as u64, offset) else {
            return;
        };
        // The program itself may be somewhere else then.
        if file > 0 {
            let path = self.tables.name(&self.addresses.paths()[file]);
            self.tables.tables_mut().modules.insert(file as u64, path);
        }
        self.tables.tables_mut().code.insert(code, site);
    }

    /// Gives a global variable its name, where one is touched first.
    fn name_variable(&mut self, addr: u64) {
        if self.looked_at.insert(addr)
            && let Some((name, start)) = self.addresses.variable(addr)
            && start == addr
        {
            let name = self.tables.name(&name);
            self.tables.tables_mut().variables.insert(Addr(start), name);
        }
    }

    /// The object at an address, as long as it is the same. Its number is an address within it: so it is known which missing
    /// calls reach it. (Of five objects one after another at an address the last two are taken for one.)
    fn sync(&mut self, addr: u64) -> SyncId {
        if let Some(sync) = self.syncs.get(&addr) {
            return *sync;
        }
        let others = self.others.get(&addr).copied().unwrap_or(0);
        let sync = SyncId(addr.wrapping_add(others.min(3)));
        self.syncs.insert(addr, sync);
        if let Some((name, start)) = self.addresses.variable(addr)
            && start == addr
        {
            let name = self.tables.name(&name);
            self.tables.tables_mut().syncs.insert(sync, name);
        }
        sync
    }

    /// A lock is taken. One that somebody else still has was not always given back by who had it.
    fn acquire(&mut self, thread: u32, addr: u64, mode: Mode) -> Op {
        let lock = self.sync(addr);
        let holders = self.held.entry(lock).or_default();
        let others = holders
            .iter()
            .any(|(holder, count)| *holder != thread && *count > 0);
        if others && mode == Mode::Exclusive {
            self.odd.insert(lock);
        }
        *holders.entry(thread).or_default() += 1;
        match self.odd.contains(&lock) {
            true => Op::Receive { channel: lock },
            false => Op::Acquire { lock, mode },
        }
    }

    fn release(&mut self, thread: u32, addr: u64) -> Op {
        let lock = self.sync(addr);
        let holders = self.held.entry(lock).or_default();
        match holders.get_mut(&thread).filter(|count| **count > 0) {
            Some(count) => *count -= 1,
            None => drop(self.odd.insert(lock)),
        }
        match self.odd.contains(&lock) {
            true => Op::Send { channel: lock },
            false => Op::Release { lock },
        }
    }
}

fn order(number: u8) -> Option<Order> {
    const ORDERS: [Order; 5] = [
        Order::Relaxed,
        Order::Acquire,
        Order::Release,
        Order::AcqRel,
        Order::SeqCst,
    ];
    ORDERS.get(usize::from(number)).copied()
}

/// Whether it is an access of a size of its own.
fn is_access(kind: u8) -> bool {
    kind == Kind::Load as u8 || kind == Kind::Store as u8 || kind >= Kind::AtomicLoad as u8
}

/// What an atomic does, from the kind of its record.
fn atomic(kind: u8) -> Option<(AtomicOp, Order)> {
    let number = kind.checked_sub(Kind::AtomicLoad as u8)? % WIDE_ATOMIC;
    let op = match number / 5 {
        0 => AtomicOp::Load,
        1 => AtomicOp::Store,
        2 => AtomicOp::Rmw,
        _ => return None,
    };
    Some((op, order(number % 5)?))
}
