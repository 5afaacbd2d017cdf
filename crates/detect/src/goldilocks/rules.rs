//! Synchronisation as rules on locksets (Goldilocks Figure 1, rules 2 to 7, made to cover our vocabulary).
//!
//! A [`Token`] is something that can know an access: a thread, what a thread's fences and relaxed loads hold back for
//! later, what a lock's writers or readers have released. A lockset is a set of tokens, and every synchronisation is a
//! few [`Rule`]s that copy knowledge from one token to another. They mirror [`hb`](crate::hb) step by step: there a
//! clock is joined or replaced, here a token is added ([`Rule::Add`]) or made equal to another ([`Rule::Set`]).
//!
//! Rules that cannot change any lockset are left out: acquiring what nobody released, or what the thread itself
//! released or acquired last. So a thread that spins on an atomic, or alone uses a lock, adds little to the update list.

use deadheat_event::{Mode, Order, SyncOp};
use std::rc::Rc;

/// Something that can know an access, named by a number of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Token {
    /// What the thread does next.
    Thread(u32),
    /// What the thread's last release fence released; its relaxed stores carry it.
    Fenced(u32),
    /// What the thread's relaxed loads have read; its next acquire fence makes it known.
    Loaded(u32),
    /// Released by an object's exclusive holders, stores, sends and calls.
    Writers(u32),
    /// Released by an object's readers since its last exclusive holder.
    Readers(u32),
    /// Released by those who have entered a barrier in one round.
    Round(u32),
}

/// A change to every lockset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// If `from` is in the lockset, add `to`: all of Figure 1's rules have this form.
    Add {
        /// Who learns.
        to: Token,
        /// What is already known here.
        from: Token,
    },
    /// If `from` is in the lockset, add `to`; else take `to` out.
    Set {
        /// Who forgets and learns.
        to: Token,
        /// What is already known here.
        from: Token,
    },
    /// Take `to` out.
    Clear {
        /// Who forgets.
        to: Token,
    },
}

impl Rule {
    /// Where the rule takes its knowledge from.
    #[inline]
    pub fn from(self) -> Option<Token> {
        match self {
            Rule::Add { from, .. } | Rule::Set { from, .. } => Some(from),
            Rule::Clear { .. } => None,
        }
    }
}

/// Numbers for threads, objects and rounds of barriers.
#[derive(Debug, Default)]
pub struct Names {
    threads: Numbers,
    objects: Numbers,
    rounds: u32,
    /// Rounds that are over: their tokens are in no lockset, so their numbers can be used again.
    free_rounds: Vec<u32>,
}

/// Numbers that are each used once, and which of them are in use.
#[derive(Debug, Default)]
struct Numbers {
    next: u32,
    /// Ascending. Whoever has a number holds a reference to it.
    used: Vec<Rc<u32>>,
    /// How many may be in `used` before those that are not used any more are looked for.
    sweep_at: usize,
}

/// The least value of [`Numbers::sweep_at`].
const SWEEP_AT: usize = 1024;

impl Numbers {
    fn new_number(&mut self) -> Rc<u32> {
        if self.used.len() >= self.sweep_at {
            self.sweep();
        }
        let number = Rc::new(self.next);
        self.next = self.next.saturating_add(1);
        self.used.push(Rc::clone(&number));
        number
    }

    fn sweep(&mut self) {
        self.used.retain(|number| Rc::strong_count(number) > 1);
        self.sweep_at = SWEEP_AT.max(2 * self.used.len());
    }

    fn contain(&self, number: u32) -> bool {
        self.used.binary_search_by_key(&number, |used| **used).is_ok()
    }
}

impl Names {
    /// Forgets the numbers of threads and objects whose states are gone.
    pub fn sweep(&mut self) {
        self.threads.sweep();
        self.objects.sweep();
    }

    /// Whether rules can still come that take from the token; exact after [`Names::sweep`].
    pub fn is_live(&self, token: Token) -> bool {
        match token {
            Token::Thread(name) | Token::Fenced(name) | Token::Loaded(name) => self.threads.contain(name),
            Token::Writers(name) | Token::Readers(name) => self.objects.contain(name),
            Token::Round(_) => true,
        }
    }

    /// Heap bytes.
    pub fn bytes(&self) -> usize {
        let numbers = self.threads.used.capacity() + self.objects.used.capacity();
        numbers * (size_of::<Rc<u32>>() + 3 * size_of::<usize>())
            + self.free_rounds.capacity() * size_of::<u32>()
    }
}

/// The tokens of a thread.
#[derive(Debug)]
pub struct ThreadTokens {
    name: Rc<u32>,
    /// Whether [`Token::Fenced`] can be in a lockset.
    fenced: bool,
    /// Whether [`Token::Loaded`] can be in a lockset.
    loaded: bool,
    /// Who has waited for this thread to end.
    joined_by: Option<u32>,
}

impl ThreadTokens {
    /// The tokens of a new thread.
    pub fn new(names: &mut Names) -> ThreadTokens {
        ThreadTokens {
            name: names.threads.new_number(),
            fenced: false,
            loaded: false,
            joined_by: None,
        }
    }

    /// The thread's number.
    #[inline]
    pub fn name(&self) -> u32 {
        *self.name
    }

    /// The thread has accessed something. Only in an ill-formed trace does it do so after somebody waited for its end.
    #[inline]
    pub fn goes_on(&mut self) {
        self.joined_by = None;
    }

    /// Whether all accesses of this thread happen before those of a thread that `parent` forks now: if the parent itself
    /// has waited for it. That takes one comparison, where a less direct order would take a lockset.
    pub fn can_be_followed(&self, parent: &ThreadTokens) -> bool {
        self.joined_by == Some(parent.name())
    }

    /// The thread itself.
    #[inline]
    pub fn token(&self) -> Token {
        Token::Thread(self.name())
    }
}

/// The tokens of a lock, barrier, channel, atomic or object.
#[derive(Debug, Default)]
pub struct ObjectTokens {
    /// The object's number, given at its first use.
    name: Option<Rc<u32>>,
    /// Whether [`Token::Writers`] can be in a lockset.
    writers: bool,
    /// Whether [`Token::Readers`] can be in a lockset.
    readers: bool,
    /// A thread that is in every lockset in which [`Token::Writers`] is.
    known_to: Option<u32>,
    barrier: Option<Box<Barrier>>,
}

/// A barrier is used in rounds: a fast thread may enter the next one before a slow thread has left the last.
#[derive(Debug, Default)]
struct Barrier {
    /// The round that threads enter now, from the first of them on.
    gathering: Option<u32>,
    /// Who is inside, and in which round.
    inside: Vec<(u32, u32)>,
    /// Rounds that somebody has left and somebody has yet to leave.
    open: Vec<u32>,
}

impl ObjectTokens {
    /// The object's number.
    pub fn name(&mut self, names: &mut Names) -> u32 {
        **self.name.get_or_insert_with(|| names.objects.new_number())
    }

    /// Heap bytes.
    pub fn bytes(&self) -> usize {
        self.barrier.as_ref().map_or(0, |barrier| {
            size_of::<Barrier>()
                + barrier.inside.capacity() * size_of::<(u32, u32)>()
                + barrier.open.capacity() * size_of::<u32>()
        })
    }
}

/// `thread` synchronises on `object`: passes the rules for it to `emit`, in order.
pub fn sync(
    names: &mut Names,
    thread: &mut ThreadTokens,
    op: SyncOp,
    object: &mut ObjectTokens,
    emit: impl FnMut(Rule),
) {
    let me = thread.token();
    let mut on = On {
        name: object.name(names),
        thread: thread.name(),
        object,
        emit,
    };
    match op {
        SyncOp::Acquire(_, Mode::Exclusive) => {
            on.acquire_writers();
            on.acquire_readers();
        }
        SyncOp::Acquire(_, Mode::Shared) | SyncOp::Touch(true) | SyncOp::Receive(_) => on.acquire_writers(),
        SyncOp::Release(_, Mode::Exclusive) => {
            on.set_writers(me);
            on.clear_readers();
        }
        SyncOp::Release(_, Mode::Shared) | SyncOp::Touch(false) => on.add_readers(),
        SyncOp::Load(order) if order.acquires() => on.acquire_writers(),
        SyncOp::Load(_) => {
            if on.object.writers {
                on.add(Token::Loaded(on.thread), Token::Writers(on.name));
                thread.loaded = true;
            }
        }
        SyncOp::Store(Order::Volatile) | SyncOp::Send(_) => on.add_writers(me),
        SyncOp::Store(order) => match thread.released(order) {
            Some(released) => on.set_writers(released),
            None => on.clear_writers(),
        },
        SyncOp::Update(order) => {
            if let Some(released) = thread.released(order) {
                on.add_writers(released);
            }
        }
        SyncOp::Enter(_) => on.enter(names),
        SyncOp::Leave(_) => on.leave(names),
        SyncOp::Call(..) => {
            on.acquire_writers();
            on.acquire_readers();
            on.set_writers(me);
            on.clear_readers();
        }
    }
}

/// `thread` issues a fence.
pub fn fence(thread: &mut ThreadTokens, order: Order, mut emit: impl FnMut(Rule)) {
    let me = thread.token();
    let (fenced, loaded) = (Token::Fenced(thread.name()), Token::Loaded(thread.name()));
    if order.acquires() && std::mem::take(&mut thread.loaded) {
        emit(Rule::Add { to: me, from: loaded });
        emit(Rule::Clear { to: loaded });
    }
    if order.releases() {
        emit(Rule::Set { to: fenced, from: me });
        thread.fenced = true;
    }
}

/// The rule for `parent` creating `child`.
pub fn fork(parent: &ThreadTokens, child: &ThreadTokens) -> Rule {
    Rule::Add {
        to: child.token(),
        from: parent.token(),
    }
}

/// The rule for `thread` having waited for `child` to end.
pub fn join(thread: &ThreadTokens, child: &mut ThreadTokens) -> Rule {
    child.joined_by = Some(thread.name());
    Rule::Add {
        to: thread.token(),
        from: child.token(),
    }
}

impl ThreadTokens {
    /// What a store of this ordering releases.
    fn released(&self, order: Order) -> Option<Token> {
        if order.releases() {
            Some(self.token())
        } else {
            self.fenced.then_some(Token::Fenced(self.name()))
        }
    }
}

/// One synchronisation on one object.
struct On<'a, E> {
    name: u32,
    thread: u32,
    object: &'a mut ObjectTokens,
    emit: E,
}

impl<E: FnMut(Rule)> On<'_, E> {
    fn add(&mut self, to: Token, from: Token) {
        (self.emit)(Rule::Add { to, from });
    }

    fn acquire_writers(&mut self) {
        if self.object.writers && self.object.known_to != Some(self.thread) {
            self.add(Token::Thread(self.thread), Token::Writers(self.name));
            self.object.known_to = Some(self.thread);
        }
    }

    fn acquire_readers(&mut self) {
        if self.object.readers {
            self.add(Token::Thread(self.thread), Token::Readers(self.name));
        }
    }

    /// `from` is the thread itself or its fenced token, which it knows.
    fn set_writers(&mut self, from: Token) {
        let to = Token::Writers(self.name);
        (self.emit)(Rule::Set { to, from });
        self.object.writers = true;
        self.object.known_to = Some(self.thread);
    }

    fn add_writers(&mut self, from: Token) {
        self.add(Token::Writers(self.name), from);
        if !self.object.writers {
            self.object.known_to = Some(self.thread);
        } else if self.object.known_to != Some(self.thread) {
            self.object.known_to = None;
        }
        self.object.writers = true;
    }

    fn clear_writers(&mut self) {
        if std::mem::take(&mut self.object.writers) {
            let to = Token::Writers(self.name);
            (self.emit)(Rule::Clear { to });
        }
        self.object.known_to = None;
    }

    fn add_readers(&mut self) {
        self.add(Token::Readers(self.name), Token::Thread(self.thread));
        self.object.readers = true;
    }

    fn clear_readers(&mut self) {
        if std::mem::take(&mut self.object.readers) {
            let to = Token::Readers(self.name);
            (self.emit)(Rule::Clear { to });
        }
    }

    fn enter(&mut self, names: &mut Names) {
        let barrier = self.object.barrier.get_or_insert_default();
        let round = *barrier.gathering.get_or_insert_with(|| {
            names.free_rounds.pop().unwrap_or_else(|| {
                names.rounds = names.rounds.saturating_add(1);
                names.rounds
            })
        });
        barrier.inside.retain(|(inside, _)| *inside != self.thread);
        barrier.inside.push((self.thread, round));
        self.add(Token::Round(round), Token::Thread(self.thread));
    }

    fn leave(&mut self, names: &mut Names) {
        let Some(barrier) = &mut self.object.barrier else {
            return;
        };
        let Some(place) = barrier.inside.iter().position(|(i, _)| *i == self.thread) else {
            return;
        };
        let (_, round) = barrier.inside.swap_remove(place);
        if barrier.gathering == Some(round) {
            // The first to leave: who enters from now on belongs to the next round.
            barrier.gathering = None;
            barrier.open.push(round);
        }
        (self.emit)(Rule::Add {
            to: Token::Thread(self.thread),
            from: Token::Round(round),
        });
        barrier.open.retain(|open| {
            let awaited = barrier.inside.iter().any(|(_, inside)| inside == open);
            if !awaited {
                (self.emit)(Rule::Clear {
                    to: Token::Round(*open),
                });
                names.free_rounds.push(*open);
            }
            awaited
        });
    }
}
