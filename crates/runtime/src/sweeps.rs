//! Checks behind loops that this thread has made in its present epoch: loops are often made again over the same memory.

/// How many are remembered.
const REMEMBERED: usize = 32;

/// Memory that a loop went through: where, and how many pieces, how far apart, of how many bytes.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Sweep {
    /// The lowest address.
    pub addr: usize,
    /// How many, how far apart, how large.
    pub pieces: (usize, usize, usize),
    /// A write or a read.
    pub write: bool,
}

/// The last ones, each in the place that its address gives it.
#[derive(Default)]
pub struct Sweeps {
    made: [(u64, u64, Sweep); REMEMBERED],
    /// How often memory came into being: what was known of it then was forgotten.
    births: u64,
}

fn place(sweep: &Sweep) -> usize {
    let mixed = (sweep.addr ^ sweep.pieces.0 << 20) as u64 ^ u64::from(sweep.write);
    (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 59) as usize
}

impl Sweeps {
    /// Whether it was made in this epoch and is still on record.
    #[inline]
    pub fn has(&self, epoch: u64, sweep: &Sweep) -> bool {
        self.made[place(sweep)] == (epoch, self.births, *sweep)
    }

    /// It is made now.
    #[inline]
    pub fn add(&mut self, epoch: u64, sweep: Sweep) {
        self.made[place(&sweep)] = (epoch, self.births, sweep);
    }

    /// Some memory has come into being.
    pub fn birth(&mut self) {
        self.births += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_is_known_until_the_epoch_ends_or_memory_comes_into_being() {
        let mut sweeps = Sweeps::default();
        let sweep = Sweep {
            addr: 64,
            pieces: (1, 0, 800),
            write: false,
        };
        assert!(!sweeps.has(1, &sweep));
        sweeps.add(1, sweep);
        assert!(sweeps.has(1, &sweep));
        assert!(!sweeps.has(2, &sweep));
        assert!(!sweeps.has(1, &Sweep { write: true, ..sweep }));
        assert!(!sweeps.has(
            1,
            &Sweep {
                pieces: (1, 0, 808),
                ..sweep
            }
        ));
        sweeps.birth();
        assert!(!sweeps.has(1, &sweep));
    }
}
