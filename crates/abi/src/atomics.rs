//! Atomic operations as numbers.

/// Memory orderings, numbered as they are passed. Consume is acquire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Ordering {
    /// Orders nothing.
    Relaxed = 0,
    /// Acquire.
    Acquire = 1,
    /// Release.
    Release = 2,
    /// Both.
    AcqRel = 3,
    /// Both, and one total order.
    SeqCst = 4,
}

/// Kinds of atomic operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A load, or a compare-exchange that failed.
    Load = 0,
    /// A store.
    Store = 1,
    /// A read-modify-write that wrote.
    Update = 2,
}

/// An atomic operation: size, kind and ordering in one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct What {
    /// Bytes.
    pub size: u8,
    /// Load, store or both.
    pub kind: Kind,
    /// Its ordering; for a compare-exchange that failed, the one for failure.
    pub order: Ordering,
}

impl Ordering {
    /// From its number.
    pub const fn from_number(number: u8) -> Option<Ordering> {
        Some(match number {
            0 => Ordering::Relaxed,
            1 => Ordering::Acquire,
            2 => Ordering::Release,
            3 => Ordering::AcqRel,
            4 => Ordering::SeqCst,
            _ => return None,
        })
    }
}

impl What {
    /// As a number: size, kind and ordering from the lowest byte up.
    pub const fn pack(self) -> u32 {
        self.size as u32 | (self.kind as u32) << 8 | (self.order as u32) << 16
    }

    /// From a number that [`What::pack`] made.
    pub const fn unpack(number: u32) -> Option<What> {
        let kind = match (number >> 8) as u8 {
            0 => Kind::Load,
            1 => Kind::Store,
            2 => Kind::Update,
            _ => return None,
        };
        let Some(order) = Ordering::from_number((number >> 16) as u8) else {
            return None;
        };
        Some(What {
            size: number as u8,
            kind,
            order,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_operation_comes_back() {
        for kind in [Kind::Load, Kind::Store, Kind::Update] {
            for order in (0..5).filter_map(Ordering::from_number) {
                let what = What {
                    size: 16,
                    kind,
                    order,
                };
                assert_eq!(What::unpack(what.pack()), Some(what));
            }
        }
        assert_eq!(What::unpack(0x0000_0301), None);
        assert_eq!(What::unpack(0x0005_0001), None);
    }
}
