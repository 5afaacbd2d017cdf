//! When an array is worth compressing again, and when footprints are not worth building.
//!
//! SHRINKWRAP stays in FINE for ever (§5.1) and names two obstacles to coming back (§6.2): which mode to propose, and
//! the linear scan to check a proposal. Here the scan proposes the mode itself, as runs of equal states, and is made only
//! after as many checks as it costs. Building footprints for accesses without a pattern is the other cost: FINE arrays
//! are checked directly, and a footprint is tried only now and then, ever more rarely while it shows nothing.

/// Direct accesses between two tries, at first and at most.
const FIRST_PERIOD: u32 = 1024;
const LAST_PERIOD: u32 = 1 << 16;
/// Scans are put off at most this long, in multiples of their cost.
const LAST_PATIENCE: u64 = 1024;
/// A compression that saved so many times the array's length was worth it, even if it had to be given up.
const WORTH: u64 = 4;

/// A footprint of so many elements shows a pattern.
pub const PATTERN: u64 = 16;

/// What an array's past says about its future.
#[derive(Clone, Debug)]
pub struct Tuning {
    /// FINE: single accesses that are still to be checked directly. Else 0.
    pub bypass: u32,
    /// FINE for good.
    pub pinned: bool,
    period: u32,
    /// Checks made since the last scan or change of mode.
    work: u64,
    /// A scan is made after so many times its cost.
    patience: u64,
    /// Whether the present mode comes from a scan.
    coarsened: bool,
    /// Elements committed since then.
    gain: u64,
}

impl Default for Tuning {
    fn default() -> Self {
        Tuning {
            bypass: 0,
            pinned: false,
            period: FIRST_PERIOD,
            work: 0,
            patience: 1,
            coarsened: false,
            gain: 0,
        }
    }
}

impl Tuning {
    /// The array is FINE from now on and must stay so.
    pub fn pin(&mut self) {
        self.pinned = true;
        self.bypass = u32::MAX;
    }

    /// The mode was refined. `len` is the array's length.
    pub fn refined(&mut self, fine: bool, len: u64) {
        self.work = 0;
        if std::mem::take(&mut self.coarsened) {
            if self.gain / WORTH >= len {
                (self.patience, self.period) = (1, FIRST_PERIOD);
            } else {
                self.patience = (self.patience * 4).min(LAST_PATIENCE);
                self.period = self.period.saturating_mul(4).min(LAST_PERIOD);
            }
        }
        if fine {
            self.bypass = self.period;
        }
    }

    /// A commit showed no pattern, which ends a try in FINE.
    pub fn no_pattern(&mut self, fine: bool) {
        if fine && self.bypass == 0 {
            self.period = self.period.saturating_mul(2).min(LAST_PERIOD);
            self.bypass = self.period;
        }
    }

    /// A footprint of `elements` was committed with `checks`, to an array of `classes`. Whether to scan now.
    pub fn committed(&mut self, elements: u64, checks: u64, classes: u64) -> bool {
        self.gain = self.gain.saturating_add(elements);
        if checks < 2 {
            return false;
        }
        self.work = self.work.saturating_add(checks);
        self.work / self.patience >= classes
    }

    /// The scan was made.
    pub fn scanned(&mut self, coarsened: bool) {
        self.work = 0;
        if coarsened {
            self.coarsened = true;
            self.gain = 0;
            self.bypass = 0;
        } else {
            self.patience = (self.patience * 2).min(LAST_PATIENCE / 16);
        }
    }
}
