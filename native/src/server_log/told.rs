//! What a log that is still written said since the last look: sums without times, for who looks has a clock of his own.

use std::collections::BTreeMap;

use super::figures::{
    ABORTED, AUTOVACUUM_CANCELLED, AUTOVACUUM_SKIPPED, DENIED, ERRORS, ERRORS_FROM, ERRORS_IN, FORKS_FAILED, Figure,
    INNODB_DEADLOCKS, PAGE_CLEANER_LATE, PLANS, SEMAPHORE_WAITS, TOO_MANY,
};
use super::tally::Tally;

/// What is counted besides errors, under its own name and by what it is about.
const COUNTED: [Figure; 11] = [
    ABORTED,
    AUTOVACUUM_CANCELLED,
    AUTOVACUUM_SKIPPED,
    DENIED,
    ERRORS_FROM,
    ERRORS_IN,
    FORKS_FAILED,
    INNODB_DEADLOCKS,
    PAGE_CLEANER_LATE,
    PLANS,
    SEMAPHORE_WAITS,
];

/// Figures by name and by what they are about, which is empty where that is not told.
type Counted = BTreeMap<(&'static str, String), i64>;

/// What happened: its kind, its subject, which is empty where it is the server, and its text.
type Event = (&'static str, String, String);

/// How often each error came, how many sessions were refused, what else is counted, the largest of each reading by its
/// name, in its unit, and what happened.
pub type Told = (
    BTreeMap<String, i64>,
    i64,
    Counted,
    BTreeMap<&'static str, f64>,
    Vec<Event>,
);

/// The sums of all parts.
pub fn of(tallies: impl Iterator<Item = Tally>) -> Told {
    let (mut errors, mut refused, mut counted) = (BTreeMap::new(), 0, Counted::new());
    let (mut readings, mut events) = (BTreeMap::new(), Vec::new());
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
        for reading in &tally.readings {
            let value = reading.value as f64 / f64::from(reading.figure.scale);
            let largest = readings.entry(reading.figure.name).or_insert(value);
            *largest = value.max(*largest);
        }
        events.extend(
            tally
                .events
                .into_iter()
                .map(|event| (event.kind, event.subject, event.text)),
        );
    }
    (errors, refused, counted, readings, events)
}
