//! What a log that is still written said since the last look: sums without times, for who looks has a clock of his own.

use std::collections::BTreeMap;

use super::figures::{
    AUTOVACUUM_CANCELLED, AUTOVACUUM_SKIPPED, ERRORS, ERRORS_FROM, FORKS_FAILED, Figure, PLANS, TOO_MANY,
};
use super::tally::Tally;

/// What is counted besides errors, under its own name and by what it is about.
const COUNTED: [Figure; 5] = [
    AUTOVACUUM_CANCELLED,
    AUTOVACUUM_SKIPPED,
    ERRORS_FROM,
    FORKS_FAILED,
    PLANS,
];

/// Figures by name and by what they are about, which is empty where that is not told.
type Counted = BTreeMap<(&'static str, String), i64>;

/// How often each error came, how many sessions were refused, what else is counted, and what happened: its kind and its
/// text.
pub type Told = (BTreeMap<String, i64>, i64, Counted, Vec<(&'static str, String)>);

/// The sums of all parts.
pub fn of(tallies: impl Iterator<Item = Tally>) -> Told {
    let (mut errors, mut refused, mut counted, mut events) = (BTreeMap::new(), 0, Counted::new(), Vec::new());
    for tally in tallies {
        for ((figure, entity), count) in tally.minutes.values().flat_map(|minute| &minute.sums) {
            let name = || tally.entity_name(*entity).unwrap_or_default().to_string();
            if *figure == TOO_MANY {
                refused += count;
            } else if *figure == ERRORS {
                *errors.entry(name()).or_default() += count;
            } else if COUNTED.contains(figure) {
                *counted.entry((figure.name, name())).or_default() += count;
            }
        }
        events.extend(tally.events.into_iter().map(|event| (event.kind, event.text)));
    }
    (errors, refused, counted, events)
}
