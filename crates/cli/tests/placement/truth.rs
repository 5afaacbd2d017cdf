//! What races in a scenario, whatever the schedule: by all pairs of accesses and all ways that one step can come before another.

use std::collections::BTreeMap;

/// Whether a byte races.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Truth {
    /// In no schedule.
    Never,
    /// In some.
    Maybe,
    /// In all.
    Always,
}

/// One byte of an array.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Access {
    pub var: usize,
    pub byte: usize,
    pub write: bool,
}

/// A step of a thread.
pub enum Node {
    /// Accesses, under a lock.
    Accesses(Vec<Access>, Option<usize>),
    Barrier,
    Send(usize),
    Receive(usize),
    /// Something that orders as it happens: its number, whether it releases, whether it acquires.
    Maybe(usize, bool, bool),
    Nothing,
}

/// Each byte that two threads access, and what is true of it.
pub fn of(threads: &[Vec<Node>]) -> Vec<(Access, Truth)> {
    let steps: Vec<(usize, usize)> = threads
        .iter()
        .enumerate()
        .flat_map(|(thread, steps)| (0..steps.len()).map(move |step| (thread, step)))
        .collect();
    let node = |n: usize| &threads[steps[n].0][steps[n].1];
    let next = |from: usize, to: usize, maybe: bool| {
        let ((one, a), (other, b)) = (steps[from], steps[to]);
        if one == other {
            return b == a + 1;
        }
        // The same barrier is the one with the same number of barriers before it.
        let barriers = |thread: usize, step: usize| {
            let before = &threads[thread][..step];
            before.iter().filter(|node| matches!(node, Node::Barrier)).count()
        };
        match (node(from), node(to)) {
            (Node::Barrier, Node::Barrier) => barriers(one, a) == barriers(other, b),
            (Node::Send(sent), Node::Receive(received)) => sent == received,
            (Node::Maybe(one, releases, _), Node::Maybe(other, _, acquires)) => {
                maybe && one == other && *releases && *acquires
            }
            (Node::Accesses(_, Some(one)), Node::Accesses(_, Some(other))) => maybe && one == other,
            _ => false,
        }
    };
    let reach = |maybe: bool| {
        let mut reach: Vec<Vec<bool>> = (0..steps.len())
            .map(|from| (0..steps.len()).map(|to| next(from, to, maybe)).collect())
            .collect();
        for via in 0..steps.len() {
            for from in 0..steps.len() {
                for to in 0..steps.len() {
                    reach[from][to] |= reach[from][via] && reach[via][to];
                }
            }
        }
        reach
    };
    let (always, ever) = (reach(false), reach(true));
    // For each byte which steps read and write it.
    let mut bytes: BTreeMap<(usize, usize), BTreeMap<(usize, bool), ()>> = BTreeMap::new();
    for n in 0..steps.len() {
        if let Node::Accesses(accesses, _) = node(n) {
            for access in accesses {
                let place = bytes.entry((access.var, access.byte)).or_default();
                place.insert((n, access.write), ());
            }
        }
    }
    let lock = |n: usize| match node(n) {
        Node::Accesses(_, lock) => *lock,
        _ => None,
    };
    let mut found = Vec::new();
    for ((var, byte), users) in bytes {
        let mut truth = Truth::Never;
        for &(a, writes) in users.keys() {
            for &(b, also) in users.keys() {
                if steps[a].0 >= steps[b].0 || !(writes || also) {
                    continue;
                }
                let locked = lock(a).is_some() && lock(a) == lock(b);
                if locked || always[a][b] || always[b][a] {
                    continue;
                }
                let ordered = ever[a][b] || ever[b][a];
                truth = truth.max(if ordered { Truth::Maybe } else { Truth::Always });
            }
        }
        let access = Access {
            var,
            byte,
            write: true,
        };
        found.push((access, truth));
    }
    found
}
