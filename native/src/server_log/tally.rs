//! What a log says, summed up by the minute: whole numbers only, so that any order of adding gives the same.

use std::collections::hash_map::Entry as Slot;

use rustc_hash::FxHashMap;

use super::entry::Severity;
use super::figures::Figure;
use super::moment::{Moment, Zones};
use crate::latency::bucket;
use crate::scrub::fingerprint;

pub const MINUTE_US: i64 = 60_000_000;
/// Names that are told apart: who guesses passwords has a new one each time.
const MOST_NAMES: usize = 10_000;
/// Longest text of a statement that is kept, as with those of pg_stat_statements.
const TEXT_BYTES: usize = 2000;

/// What was done with one statement in a minute; null where the log does not say it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Use {
    pub calls: i64,
    pub elapsed_us: Option<i64>,
    pub rows: Option<i64>,
    pub temp_bytes: Option<i64>,
    pub read_blocks: Option<i64>,
    pub hit_blocks: Option<i64>,
}

impl Use {
    pub fn add(&mut self, other: &Use) {
        self.calls += other.calls;
        for (mine, theirs) in [
            (&mut self.elapsed_us, other.elapsed_us),
            (&mut self.rows, other.rows),
            (&mut self.temp_bytes, other.temp_bytes),
            (&mut self.read_blocks, other.read_blocks),
            (&mut self.hit_blocks, other.hit_blocks),
        ] {
            if let Some(value) = theirs {
                *mine = Some(mine.unwrap_or(0).saturating_add(value));
            }
        }
    }
}

#[derive(Default)]
pub struct Minute {
    pub sums: FxHashMap<(Figure, u32), i64>,
    pub messages: [i64; 8],
    pub statements: FxHashMap<(u32, u64), Use>,
    /// Waits for locks by what was waited for: how many, and microseconds.
    pub waits: FxHashMap<&'static str, (i64, i64)>,
    /// Durations of statements: count and nanoseconds by bucket.
    pub durations: FxHashMap<usize, (i64, i64)>,
}

pub struct Event {
    /// Where in the log the part begins that it was in: events of one moment stay in their order.
    pub place: u64,
    pub moment: Moment,
    pub kind: &'static str,
    pub subject: String,
    pub text: String,
}

pub struct Reading {
    pub moment: Moment,
    pub figure: Figure,
    pub entity: u32,
    pub value: i64,
}

pub struct Setting {
    pub moment: Moment,
    pub name: String,
    pub value: Option<String>,
}

#[derive(Default)]
pub struct Tally {
    /// Where in the log the part begins that is read.
    pub place: u64,
    pub zones: Zones,
    /// End of the minute by its zone and its clock, and what was in it.
    pub minutes: FxHashMap<(u16, i64), Minute>,
    pub events: Vec<Event>,
    pub readings: Vec<Reading>,
    pub settings: Vec<Setting>,
    pub texts: FxHashMap<u64, String>,
    /// First and last moment by zone.
    pub span: FxHashMap<u16, (i64, i64)>,
    names: Vec<String>,
    numbers: FxHashMap<Vec<u8>, u32>,
}

impl Tally {
    /// A number for a name; 0 is none.
    pub fn entity(&mut self, name: &[u8]) -> u32 {
        if name.is_empty() {
            return 0;
        }
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        self.names.push(String::from_utf8_lossy(name).into_owned());
        let number = self.names.len() as u32;
        self.numbers.insert(name.to_vec(), number);
        number
    }

    /// A name that was there before, or for which there is room; else that of all others.
    pub fn name_or<'a>(&self, name: &'a str, others: &'a str) -> &'a str {
        let is_known = self.numbers.contains_key(name.as_bytes());
        if is_known || self.names.len() < MOST_NAMES {
            name
        } else {
            others
        }
    }

    pub fn entity_name(&self, number: u32) -> Option<&str> {
        let at = (number as usize).checked_sub(1)?;
        Some(&self.names[at])
    }

    pub fn minute(&mut self, moment: Moment) -> &mut Minute {
        let end_us = (moment.local_us - 1).div_euclid(MINUTE_US) * MINUTE_US + MINUTE_US;
        self.minutes.entry((moment.zone, end_us)).or_default()
    }

    /// The log reaches to this moment.
    pub fn cover(&mut self, moment: Moment) {
        let span = self
            .span
            .entry(moment.zone)
            .or_insert((moment.local_us, moment.local_us));
        *span = (span.0.min(moment.local_us), span.1.max(moment.local_us));
    }

    /// A message was there, of whatever kind.
    pub fn message(&mut self, moment: Moment, severity: Severity) {
        self.cover(moment);
        self.minute(moment).messages[severity as usize] += 1;
    }

    pub fn add(&mut self, moment: Moment, figure: Figure, entity: &[u8], value: i64) {
        let entity = self.entity(entity);
        let sum = self.minute(moment).sums.entry((figure, entity)).or_default();
        *sum = sum.saturating_add(value);
    }

    pub fn reading(&mut self, moment: Moment, figure: Figure, entity: &[u8], value: i64) {
        let entity = self.entity(entity);
        self.readings.push(Reading {
            moment,
            figure,
            entity,
            value,
        });
    }

    pub fn event(&mut self, moment: Moment, kind: &'static str, subject: &str, text: String) {
        self.events.push(Event {
            place: self.place,
            moment,
            kind,
            subject: subject.to_string(),
            text,
        });
    }

    pub fn duration(&mut self, moment: Moment, elapsed_us: i64) {
        let elapsed_ns = elapsed_us.saturating_mul(1000);
        let cell = self
            .minute(moment)
            .durations
            .entry(bucket(elapsed_ns as u64))
            .or_default();
        *cell = (cell.0 + 1, cell.1.saturating_add(elapsed_ns));
    }

    pub fn wait(&mut self, moment: Moment, event: &'static str, waited_us: i64) {
        let cell = self.minute(moment).waits.entry(event).or_default();
        *cell = (cell.0 + 1, cell.1.saturating_add(waited_us));
    }

    /// A statement, its constants taken out already.
    pub fn statement(&mut self, moment: Moment, database: &[u8], scrubbed: &[u8], used: &Use) {
        let id = self.text(scrubbed);
        let database = self.entity(database);
        self.minute(moment)
            .statements
            .entry((database, id))
            .or_default()
            .add(used);
    }

    /// The id of a statement, whose text is kept.
    pub fn text(&mut self, scrubbed: &[u8]) -> u64 {
        let id = fingerprint(scrubbed);
        if let Slot::Vacant(slot) = self.texts.entry(id) {
            let shown = &scrubbed[..scrubbed.len().min(TEXT_BYTES)];
            slot.insert(String::from_utf8_lossy(shown).into_owned());
        }
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_without_end_are_counted_as_others() {
        let mut tally = Tally::default();
        for number in 0..MOST_NAMES + 5 {
            let name = format!("user u{number}");
            let name = tally.name_or(&name, "others").to_string();
            tally.entity(name.as_bytes());
        }
        assert_eq!(tally.names.len(), MOST_NAMES + 1);
        assert_eq!(tally.name_or("user u1", "others"), "user u1");
    }
}
