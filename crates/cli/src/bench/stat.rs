//! Medians, quartiles and means.

/// The middle half of some numbers, and its middle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The first quartile.
    pub low: f64,
    /// The median.
    pub median: f64,
    /// The third quartile.
    pub high: f64,
}

impl Spread {
    /// Of some numbers; `None` if there are none or one is no number.
    pub fn of(numbers: impl Iterator<Item = f64>) -> Option<Spread> {
        let mut sorted: Vec<f64> = numbers.collect();
        if sorted.is_empty() || sorted.iter().any(|number| !number.is_finite()) {
            return None;
        }
        sorted.sort_by(f64::total_cmp);
        Some(Spread {
            low: at(&sorted, 0.25),
            median: at(&sorted, 0.5),
            high: at(&sorted, 0.75),
        })
    }

    /// Whether the middle halves have nothing in common.
    pub fn apart(self, other: Spread) -> bool {
        self.high < other.low || other.high < self.low
    }
}

/// The number at a place from 0 to 1, between two neighbours if need be.
fn at(sorted: &[f64], place: f64) -> f64 {
    let place = place * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    below + (above - below) * place.fract()
}

/// The geometric mean; `None` without numbers above 0.
pub fn geometric_mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let logs: Vec<f64> = numbers.map(f64::ln).collect();
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    (!logs.is_empty() && mean.is_finite()).then(|| mean.exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(numbers: &[f64]) -> Spread {
        Spread::of(numbers.iter().copied()).unwrap()
    }

    #[test]
    fn quartiles_are_between_neighbours() {
        for (numbers, expect) in [
            (&[3.0][..], (3.0, 3.0, 3.0)),
            (&[2.0, 1.0], (1.25, 1.5, 1.75)),
            (&[5.0, 1.0, 4.0, 2.0, 3.0], (2.0, 3.0, 4.0)),
            (&[1.0, 1.0, 1.0, 100.0], (1.0, 1.0, 25.75)),
        ] {
            let got = spread(numbers);
            assert_eq!((got.low, got.median, got.high), expect, "{numbers:?}");
        }
        assert_eq!(Spread::of([].into_iter()), None);
        assert_eq!(Spread::of([1.0, f64::NAN].into_iter()), None);
        assert_eq!(Spread::of([f64::INFINITY].into_iter()), None);
    }

    #[test]
    fn spreads_are_apart_or_not() {
        let (a, b) = (spread(&[1.0, 2.0]), spread(&[2.5, 3.5]));
        assert!(a.apart(b) && b.apart(a));
        assert!(!a.apart(a) && !a.apart(spread(&[1.6, 1.9])));
    }

    #[test]
    fn the_mean_of_ratios_is_geometric() {
        let mean = geometric_mean([2.0, 8.0].into_iter()).unwrap();
        assert!((mean - 4.0).abs() < 1e-12);
        assert_eq!(geometric_mean([].into_iter()), None);
        assert_eq!(geometric_mean([0.0, 1.0].into_iter()), None);
    }
}
