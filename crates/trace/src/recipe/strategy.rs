//! proptest strategies over recipes.

use super::{Choice, Config, Trace, cook};
use deadheat_event::Event;
use proptest::collection::vec;
use proptest::prelude::*;

/// Traces of a configuration. Shrinks by dropping and simplifying choices.
pub fn traces(config: Config) -> impl Strategy<Value = Trace> {
    let choice = any::<(u8, u8, u8, u8)>().prop_map(|(thread, action, object, detail)| Choice {
        thread,
        action,
        object,
        detail,
    });
    let roots = 1..=config.roots.max(1);
    (
        roots,
        vec(
            choice,
            config.min_choices..=config.max_choices.max(config.min_choices),
        ),
    )
        .prop_map(move |(roots, choices)| cook(&config, roots, &choices))
}

/// [`traces`] without the tables.
pub fn events(config: Config) -> impl Strategy<Value = Vec<Event>> {
    traces(config).prop_map(|trace| trace.events)
}
