//! What a log that is still written said since the last look: sums without times, for who looks has a clock of his own.

use std::collections::BTreeMap;

use super::figures::{ERRORS, TOO_MANY};
use super::tally::Tally;

/// How often each error came, how many sessions were refused, and what happened: its kind and its text.
pub type Told = (BTreeMap<String, i64>, i64, Vec<(&'static str, String)>);

/// The sums of all parts.
pub fn of(tallies: impl Iterator<Item = Tally>) -> Told {
    let (mut errors, mut refused, mut events) = (BTreeMap::new(), 0, Vec::new());
    for tally in tallies {
        for ((figure, entity), count) in tally.minutes.values().flat_map(|minute| &minute.sums) {
            if *figure == TOO_MANY {
                refused += count;
            } else if *figure == ERRORS {
                let name = tally.entity_name(*entity).unwrap_or_default();
                *errors.entry(name.to_string()).or_default() += count;
            }
        }
        events.extend(tally.events.into_iter().map(|event| (event.kind, event.text)));
    }
    (errors, refused, events)
}
