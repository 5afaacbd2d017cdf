//! Tree clocks (Mathur, Tunç, Pavlogiannis and Viswanathan, ASPLOS 2022): a vector clock that remembers from whom each
//! entry was learned, so that a join can skip what the learner must know already.

/// "No node".
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Node {
    /// Time of the node's thread.
    time: u64,
    /// Time of the parent's thread when the entry was attached.
    attached: u64,
    parent: u32,
    /// Children form a list, the latest attached first.
    first_child: u32,
    next: u32,
    previous: u32,
}

const EMPTY: Node = Node {
    time: 0,
    attached: 0,
    parent: NONE,
    first_child: NONE,
    next: NONE,
    previous: NONE,
};

/// A tree clock. Nodes are indexed by thread.
#[derive(Clone)]
pub struct TreeClock {
    nodes: Vec<Node>,
    root: u32,
}

impl TreeClock {
    /// The clock of a lock, before its first release.
    pub fn empty() -> TreeClock {
        TreeClock {
            nodes: Vec::new(),
            root: NONE,
        }
    }

    /// The clock of a thread.
    pub fn of_thread(thread: u32, threads: usize) -> TreeClock {
        let mut clock = TreeClock {
            nodes: vec![EMPTY; threads],
            root: thread,
        };
        clock.nodes[thread as usize].time = 1;
        clock
    }

    /// The known time of a thread.
    pub fn get(&self, thread: u32) -> u64 {
        self.nodes.get(thread as usize).map_or(0, |node| node.time)
    }

    /// The owner's next time.
    pub fn tick(&mut self) {
        self.nodes[self.root as usize].time += 1;
    }

    /// Learns all that `other` knows.
    pub fn join(&mut self, other: &TreeClock, stack: &mut Vec<u32>) {
        if other.root == NONE || other.get(other.root) <= self.get(other.root) {
            return;
        }
        self.update(other, stack);
        let root = other.root;
        let attached = self.nodes[self.root as usize].time;
        self.push_child(self.root, root, attached);
    }

    /// Becomes a copy of `other`, which knows all that this knows.
    pub fn copy_from(&mut self, other: &TreeClock, stack: &mut Vec<u32>) {
        if self.root == NONE {
            *self = other.clone();
            return;
        }
        if self.root != other.root {
            let old = self.root;
            self.update(other, stack);
            // The old root has become a child of somebody in `other`, or has not moved on and stays below the new root.
            if self.nodes[old as usize].parent == NONE {
                let node = other.nodes[old as usize];
                if node.parent != NONE {
                    self.push_child(node.parent, old, node.attached);
                }
            }
            self.root = other.root;
            self.nodes[self.root as usize].parent = NONE;
        } else {
            self.update(other, stack);
        }
    }

    /// Takes over every entry of `other` that is newer, with its place in the tree (but for the root's).
    fn update(&mut self, other: &TreeClock, stack: &mut Vec<u32>) {
        stack.clear();
        stack.push(other.root);
        let mut order = 0;
        while order < stack.len() {
            let at = stack[order];
            order += 1;
            let known = self.get(at);
            let mut child = other.nodes[at as usize].first_child;
            while child != NONE {
                let node = &other.nodes[child as usize];
                if self.get(child) < node.time {
                    stack.push(child);
                } else if node.attached <= known {
                    // All further children were attached earlier, so they are known too.
                    break;
                }
                child = node.next;
            }
        }
        // From the last found to the first, so that each list of children ends up with the latest first.
        while let Some(thread) = stack.pop() {
            self.detach(thread);
            let theirs = other.nodes[thread as usize];
            self.nodes[thread as usize].time = theirs.time;
            if theirs.parent != NONE && thread != other.root {
                self.push_child(theirs.parent, thread, theirs.attached);
            }
        }
    }

    fn detach(&mut self, thread: u32) {
        let node = self.nodes[thread as usize];
        if node.parent == NONE {
            return;
        }
        match node.previous {
            NONE => self.nodes[node.parent as usize].first_child = node.next,
            previous => self.nodes[previous as usize].next = node.next,
        }
        if node.next != NONE {
            self.nodes[node.next as usize].previous = node.previous;
        }
        let node = &mut self.nodes[thread as usize];
        (node.parent, node.next, node.previous) = (NONE, NONE, NONE);
    }

    fn push_child(&mut self, parent: u32, child: u32, attached: u64) {
        let first = self.nodes[parent as usize].first_child;
        if first != NONE {
            self.nodes[first as usize].previous = child;
        }
        let node = &mut self.nodes[child as usize];
        (node.parent, node.attached, node.next, node.previous) = (parent, attached, first, NONE);
        self.nodes[parent as usize].first_child = child;
    }
}
