//! Detectors and layers by name, chosen at run time.
//!
//! `filter ▷ compress ▷ detector` or `once ▷ compress ▷ detector` is a type; each combination is its own monomorphic [`Driver`], so that choosing by name
//! costs nothing for each event. A new detector is one line in the table below, a new filter one line in its table and one
//! arm in `filtered`. The number of combinations is kept down, as each has to be compiled.

use crate::compress::Compress;
use crate::filter::{Span, Tree, TreeStrict};
use crate::once::OnceRaced;
use crate::{Analysis, Driver, baseline, djit, eraser, fasttrack, goldilocks, lockset, multirace, vc};
use deadheat_event::Detector;
use std::fmt;
use std::str::FromStr;

/// An analysis to run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// The algorithm.
    pub detector: DetectorName,
    /// The filter in front of it.
    pub filter: FilterName,
    /// Whether states of array elements are compressed.
    pub compress: bool,
    /// Whether a location is left alone after its first race.
    pub disable_after_race: bool,
}

/// Layers and a detector that do not go together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incompatible(String);

impl fmt::Display for Incompatible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Incompatible {}

/// Builds the analysis.
pub fn analysis(choice: &Choice) -> Result<Box<dyn Analysis>, Incompatible> {
    choice.detector.build(choice)
}

impl Choice {
    /// What of the promise "nothing missed that the run showed" this choice gives up, to be said in every report.
    pub fn caveat(&self) -> Option<String> {
        let (detector, filter) = (self.detector, self.filter);
        if matches!(detector, DetectorName::Count | DetectorName::Empty) {
            return Some(format!(
                "--detector {detector} looks for nothing and finds nothing"
            ));
        }
        match filter {
            FilterName::None if self.compress && !detector.is_exact() => Some(format!(
                "--compress on puts checks off, which can change what --detector {detector} finds: its answer depends \
                 on the order of accesses; that of exact detectors does not"
            )),
            FilterName::None => None,
            FilterName::Span | FilterName::TreeStrict if detector.is_exact() => None,
            FilterName::Span | FilterName::TreeStrict => Some(format!(
                "--filter {filter} can lose findings of --detector {detector}; it is lossless for exact detectors only"
            )),
            FilterName::Tree => Some(format!(
                "--filter {filter} can lose findings of --detector {detector}; --filter tree-strict does not lose \
                 those of exact detectors"
            )),
        }
    }
}

impl DetectorName {
    /// Whether it reports exactly the locations that race by happens-before.
    pub fn is_exact(self) -> bool {
        matches!(
            self,
            DetectorName::FastTrack
                | DetectorName::Vc
                | DetectorName::Djit
                | DetectorName::Goldilocks
                | DetectorName::GoldilocksEager
        )
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.filter != FilterName::None {
            write!(f, "{} ▷ ", self.filter)?;
        }
        if self.disable_after_race {
            write!(f, "once ▷ ")?;
        }
        if self.compress {
            write!(f, "compress ▷ ")?;
        }
        write!(f, "{}", self.detector)
    }
}

/// A name that is none of those it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    /// What was said.
    pub name: String,
    /// What can be said.
    pub known: Vec<&'static str>,
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "unknown name `{}`; known are {}",
            self.name,
            self.known.join(", ")
        )
    }
}

impl std::error::Error for UnknownName {}

/// An enum of things that users name.
macro_rules! named {
    ($(#[$doc:meta])* $kind:ident { $($variant:ident $name:literal $about:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $kind {
            $(#[doc = $about] $variant,)*
        }

        impl $kind {
            /// All of them, the default first.
            pub const ALL: &[$kind] = &[$($kind::$variant),*];

            /// The name on the command line.
            pub fn as_str(self) -> &'static str {
                match self {
                    $($kind::$variant => $name,)*
                }
            }

            /// What it is, in a line.
            pub fn about(self) -> &'static str {
                match self {
                    $($kind::$variant => $about,)*
                }
            }
        }

        impl Default for $kind {
            fn default() -> $kind {
                $kind::ALL[0]
            }
        }

        impl fmt::Display for $kind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl FromStr for $kind {
            type Err = UnknownName;

            fn from_str(name: &str) -> Result<$kind, UnknownName> {
                $kind::ALL.iter().copied().find(|kind| kind.as_str() == name).ok_or_else(|| UnknownName {
                    name: name.to_owned(),
                    known: $kind::ALL.iter().map(|kind| kind.as_str()).collect(),
                })
            }
        }
    };
}

/// The table of detectors: variant, name, description, which layers it may have, how to make one.
macro_rules! detectors {
    ($($variant:ident $name:literal $about:literal => $layers:ident($make:expr)),* $(,)?) => {
        named! {
            /// A detector.
            DetectorName { $($variant $name $about),* }
        }

        impl DetectorName {
            fn build(self, choice: &Choice) -> Result<Box<dyn Analysis>, Incompatible> {
                match self {
                    $(DetectorName::$variant => $layers(choice, $make),)*
                }
            }
        }
    };
}

detectors! {
    FastTrack "fasttrack" "epochs; exact; the default" => layered(fasttrack::FastTrack::default()),
    Vc "vc" "plain vector clocks; exact" => layered(vc::Vc::default()),
    Djit "djit" "DJIT+: vector clocks and time frames; exact" => layered(djit::Djit::default()),
    Goldilocks "goldilocks" "locksets that stand for happens-before, evaluated lazily; exact"
        => layered(goldilocks::Goldilocks::default()),
    GoldilocksEager "goldilocks-eager" "the same, evaluated at every synchronisation; exact and slow"
        => layered(goldilocks::GoldilocksEager::default()),
    Eraser "eraser" "Eraser's locking discipline" => layered(eraser::Eraser::default()),
    LockSet "lockset" "MultiRace's locking discipline, with time frames and barriers"
        => layered(lockset::LockSet::default()),
    MultiRace "multirace" "djit and lockset together: races, and ranked violations of the discipline"
        => layered(multirace::MultiRace::default()),
    Count "count" "checks nothing: counts what reaches a detector" => layered(baseline::Count::default()),
    Empty "empty" "checks nothing: the cost of reading and looking up" => layered(baseline::Empty),
}

named! {
    /// A filter, which drops accesses before they are checked.
    FilterName {
        None "none" "check every access",
        Span "span" "drop what repeats an access of the same span; loses no racing location of exact detectors",
        Tree "tree" "TREE as published: keeps pairs of sites without a common lock; can lose findings of all detectors here",
        TreeStrict "tree-strict" "also across critical sections; loses no racing location of exact detectors",
    }
}

fn layered<D: Detector + 'static>(choice: &Choice, detector: D) -> Result<Box<dyn Analysis>, Incompatible> {
    match choice.compress {
        true => filtered(choice, Compress::new(detector)),
        false => filtered(choice, detector),
    }
}

fn filtered<D: Detector + 'static>(choice: &Choice, detector: D) -> Result<Box<dyn Analysis>, Incompatible> {
    Ok(match (choice.filter, choice.disable_after_race) {
        (FilterName::None, false) => Box::new(Driver::new(detector)),
        (FilterName::None, true) => Box::new(Driver::new(OnceRaced(detector))),
        (FilterName::Span, false) => Box::new(Driver::new(Span::new(detector))),
        (FilterName::Tree, false) => Box::new(Driver::new(Tree::new(detector))),
        (FilterName::TreeStrict, false) => Box::new(Driver::new(TreeStrict::new(detector))),
        (filter, true) => {
            return Err(Incompatible(format!(
                "--disable-after-race does not go with --filter {filter}; choose one of them"
            )));
        }
    })
}
