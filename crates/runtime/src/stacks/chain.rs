//! A walk of the stack without its loops.
//!
//! A recursion that goes through several functions has a call stack for each way through it: down a tree, as many as there are
//! nodes. What is kept of a stack is its *loop erasure* (Lawler, 1980): read from the outermost frame on, a function that
//! comes again takes everything since with it. So each function is in it once, at the line from which it has called last, and
//! there are no more stacks than ways through the call graph without a loop. What is kept is true: each frame has called the
//! next one, but that rounds of a recursion are left out in between.
//!
//! What is kept of a stack and one more frame depends on what is kept of the stack, and on that frame, and on nothing else. That is
//! why one context value can stand for all stacks of which the same is kept ([`super::callers`]), and why it has to be this erasure: from the
//! innermost frame on, rounds that were left out would come back.

/// The most functions of a walk.
pub const MOST: usize = 256;
/// The most frames that are looked at.
const FAR: usize = 16 * MOST;

/// The frames of a walk so far, from the innermost on. It has to fit onto small stacks of threads.
pub struct Chain {
    len: usize,
    limit: usize,
    looked_at: usize,
    /// The number of the last frame's function.
    last: u8,
    /// Functions of the walk, where each comes first, the innermost time: from where it has called,
    ips: [usize; MOST],
    /// how far that is from its beginning, or [`UNKNOWN`],
    offsets: [u32; MOST],
    /// and whom: a function's number, or its own if that is not part of the chain.
    callees: [u8; MOST],
}

const UNKNOWN: u32 = u32::MAX;

impl Chain {
    /// No frames yet, and of no more than `limit` functions.
    pub fn new(limit: usize) -> Chain {
        Chain {
            len: 0,
            limit: limit.min(MOST),
            looked_at: 0,
            last: 0,
            ips: [0; MOST],
            offsets: [0; MOST],
            callees: [0; MOST],
        }
    }

    /// Adds the frame of the caller, which is at `ip` in the function that begins at `function` (0: not known). Whether there was room
    /// for it.
    pub fn add(&mut self, function: usize, ip: usize) -> bool {
        self.looked_at += 1;
        if self.looked_at > FAR {
            return false;
        }
        let known = (0..self.len).find(|n| self.begins_at(*n, function));
        if known.is_none() {
            if self.len == self.limit {
                return false;
            }
            let offset = ip.checked_sub(function).filter(|_| function != 0);
            self.ips[self.len] = ip;
            self.offsets[self.len] = offset
                .and_then(|offset| u32::try_from(offset).ok())
                .unwrap_or(UNKNOWN);
            self.callees[self.len] = self.last;
            self.len += 1;
        }
        self.last = known.unwrap_or(self.len - 1) as u8;
        true
    }

    fn begins_at(&self, number: usize, function: usize) -> bool {
        let offset = self.offsets[number];
        offset != UNKNOWN && self.ips[number] - offset as usize == function
    }

    /// What is kept: from where each function has called, the outermost first.
    pub fn frames(&self) -> impl Iterator<Item = usize> {
        // From the outermost function on: whom it has called the last time, whom that has called the last time, and so on. Each is
        // further inside than the one before, so this comes to an end.
        let mut next = (self.len > 0).then_some(self.last);
        std::iter::from_fn(move || {
            let at = next?;
            let callee = self.callees[usize::from(at)];
            next = (callee != at).then_some(callee);
            Some(self.ips[usize::from(at)])
        })
    }
}

const _: () = assert!(MOST - 1 <= u8::MAX as usize);

#[cfg(test)]
mod tests {
    use super::*;

    /// What is kept of a stack of functions, the outermost first; each calls from a line of its own for each time.
    fn kept(stack: &str) -> String {
        let mut chain = Chain::new(MOST);
        for function in stack.bytes().rev() {
            assert!(chain.add(function.into(), function.into()));
        }
        chain.frames().map(|ip| char::from(ip as u8)).collect()
    }

    #[test]
    fn rounds_of_a_recursion_are_left_out() {
        for (stack, expected) in [
            ("", ""),
            ("m", "m"),
            ("mabc", "mabc"),
            ("maaaa", "ma"),
            ("mabab", "mab"),
            ("mababa", "ma"),
            ("mabcabc", "mabc"),
            ("mqfqp", "mqp"),
            ("mqfqpf", "mqpf"),
            ("mabcbad", "mad"),
        ] {
            assert_eq!(kept(stack), expected, "{stack}");
        }
    }

    #[test]
    fn what_is_kept_depends_on_what_was_kept_before_and_on_the_next_frame_only() {
        // All stacks of five frames over three functions, and one of four functions behind each.
        let mut stacks = vec![String::new()];
        for _ in 0..5 {
            let longer = stacks
                .iter()
                .flat_map(|stack| ["a", "b", "c"].map(|f| format!("{stack}{f}")));
            stacks = longer.collect();
        }
        for stack in stacks {
            for next in ["a", "b", "c", "d"] {
                let short = kept(&stack);
                assert_eq!(kept(&format!("{stack}{next}")), kept(&format!("{short}{next}")));
            }
        }
    }

    #[test]
    fn each_frame_is_at_the_line_of_its_last_call() {
        let mut chain = Chain::new(MOST);
        for (function, ip) in [(10, 19), (20, 28), (10, 17), (20, 26), (30, 35)] {
            chain.add(function, ip);
        }
        assert_eq!(chain.frames().collect::<Vec<_>>(), [35, 28, 19]);
        let mut unknown = Chain::new(2);
        assert!(unknown.add(0, 7) && unknown.add(0, 7));
        assert!(!unknown.add(0, 7), "no more than two");
        assert_eq!(unknown.frames().count(), 2);
    }
}
