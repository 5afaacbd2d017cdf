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

/// Something that can know an access, named by a number of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Token {
    /// What the thread does next.
    Thread(u32),
    /// What the thread's last release fence released; its relaxed stores carry it.
    Fenced(u32),
    /// What the thread's relaxed loads have read; its next acquire fence makes it known.
    Loaded(u32),
    /// Released by exclusive holders, stores, sends and calls; for a barrier, by those who have entered.
    Writers(u32),
    /// Released by readers since the last exclusive holder; for a barrier, what the leaving ones acquire.
    Readers(u32),
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

/// Numbers for threads and objects, each used once.
#[derive(Debug, Default)]
pub struct Names {
    threads: u32,
    objects: u32,
}

/// The tokens of a thread.
#[derive(Debug)]
pub struct ThreadTokens {
    name: u32,
    /// Whether [`Token::Fenced`] can be in a lockset.
    fenced: bool,
    /// Whether [`Token::Loaded`] can be in a lockset.
    loaded: bool,
}

impl ThreadTokens {
    /// The tokens of a new thread.
    pub fn new(names: &mut Names) -> ThreadTokens {
        let name = names.threads;
        names.threads = name.saturating_add(1);
        ThreadTokens {
            name,
            fenced: false,
            loaded: false,
        }
    }

    /// The thread's number.
    #[inline]
    pub fn name(&self) -> u32 {
        self.name
    }

    /// The thread itself.
    #[inline]
    pub fn token(&self) -> Token {
        Token::Thread(self.name)
    }
}

/// The tokens of a lock, barrier, channel, atomic or object.
#[derive(Debug, Default)]
pub struct ObjectTokens {
    /// The object's number, given at its first use.
    name: Option<u32>,
    /// Whether [`Token::Writers`] can be in a lockset.
    writers: bool,
    /// Whether [`Token::Readers`] can be in a lockset.
    readers: bool,
    /// A thread that is in every lockset in which [`Token::Writers`] is.
    known_to: Option<u32>,
    /// Barrier: how many have entered since it last opened.
    entered: u32,
    /// Barrier: how many have yet to leave since it last opened.
    leaving: u32,
}

impl ObjectTokens {
    /// The object's number.
    pub fn name(&mut self, names: &mut Names) -> u32 {
        *self.name.get_or_insert_with(|| {
            let name = names.objects;
            names.objects = name.saturating_add(1);
            name
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
        thread: thread.name,
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
                on.add(Token::Loaded(thread.name), Token::Writers(on.name));
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
        SyncOp::Enter(_) => {
            on.add_writers(me);
            on.object.entered = on.object.entered.saturating_add(1);
        }
        SyncOp::Leave(_) => {
            if on.object.leaving == 0 {
                on.open_barrier();
            }
            on.object.leaving = on.object.leaving.saturating_sub(1);
            on.acquire_readers();
        }
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
    let (me, fenced, loaded) = (
        thread.token(),
        Token::Fenced(thread.name),
        Token::Loaded(thread.name),
    );
    if order.acquires() && std::mem::take(&mut thread.loaded) {
        emit(Rule::Add {
            to: me,
            from: loaded,
        });
        emit(Rule::Clear { to: loaded });
    }
    if order.releases() {
        emit(Rule::Set { to: fenced, from: me });
        thread.fenced = true;
    }
}

/// The rule for `to` learning all that `from` knows: a fork or a join.
pub fn hand_over(from: &ThreadTokens, to: &ThreadTokens) -> Rule {
    Rule::Add {
        to: to.token(),
        from: from.token(),
    }
}

impl ThreadTokens {
    /// What a store of this ordering releases.
    fn released(&self, order: Order) -> Option<Token> {
        if order.releases() {
            Some(self.token())
        } else {
            self.fenced.then_some(Token::Fenced(self.name))
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

    /// The first one leaves: who enters from now on belongs to the next round.
    fn open_barrier(&mut self) {
        self.object.leaving = std::mem::take(&mut self.object.entered);
        if self.object.writers {
            let (to, from) = (Token::Readers(self.name), Token::Writers(self.name));
            (self.emit)(Rule::Set { to, from });
            self.object.readers = true;
        } else {
            self.clear_readers();
        }
        self.clear_writers();
    }
}
