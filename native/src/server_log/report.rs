//! From sums to rows: minutes of all threads and zones put together, and made rates.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use arrow_schema::ArrowError;
use rustc_hash::{FxHashMap, FxHashSet};

use super::figures::Figure;
use super::moment::Moment;
use super::tally::{MINUTE_US, Minute, Tally, Use};
use super::writing::{Interval, Server, Writing};
use crate::batch::Batch;

/// Zones change their offset at quarters of an hour at the earliest.
const QUARTER_US: i64 = 15 * MINUTE_US;
/// The least that the first and last interval are taken to last: a few lines of one moment tell no rate.
const SHORTEST_US: i64 = 1_000_000;

/// A zone's name, and a local moment in microseconds.
pub type Local = (String, i64);

/// The quarters of an hour in which something was, but for those in UTC, by their beginnings.
pub fn quarters(tallies: &[&Tally]) -> BTreeSet<Local> {
    let mut found = BTreeSet::new();
    for tally in tallies {
        let spans = tally.span.iter();
        let moments = (tally.minutes.keys().copied())
            .chain(spans.flat_map(|(zone, (begin_us, end_us))| [(*zone, *begin_us), (*zone, *end_us)]))
            .chain(tally.readings.iter().map(|reading| key(reading.moment)))
            .chain(tally.events.iter().map(|event| key(event.moment)))
            .chain(tally.settings.iter().map(|setting| key(setting.moment)));
        let quarters: FxHashSet<(u16, i64)> = moments.map(|(zone, us)| (zone, quarter(us))).collect();
        let named = quarters.into_iter().map(|(zone, us)| (tally.zones.name(zone), us));
        found.extend(
            named
                .filter(|(name, _)| *name != "UTC")
                .map(|(name, us)| (name.to_string(), us)),
        );
    }
    found
}

fn key(moment: Moment) -> (u16, i64) {
    (moment.zone, moment.local_us)
}

fn quarter(local_us: i64) -> i64 {
    local_us.div_euclid(QUARTER_US) * QUARTER_US
}

/// Gives local moments their place in UTC, as Python knows zones: that of each quarter of an hour; or all of them one,
/// where the log tells no times.
struct Placing {
    known: HashMap<Local, i64>,
    untimed_us: Option<i64>,
}

impl Placing {
    fn utc_us(&self, tally: &Tally, zone: u16, local_us: i64) -> i64 {
        if let Some(us) = self.untimed_us {
            return us;
        }
        let begin_us = quarter(local_us);
        let known = self.known.get(&(tally.zones.name(zone).to_string(), begin_us));
        known.map_or(local_us, |placed_us| placed_us + local_us - begin_us)
    }

    fn moment_us(&self, tally: &Tally, moment: Moment) -> i64 {
        self.utc_us(tally, moment.zone, moment.local_us)
    }
}

/// A minute of the whole log, with names in place of numbers; what is in order comes out in order.
#[derive(Default)]
pub struct Whole {
    pub sums: BTreeMap<(Figure, Option<String>), i64>,
    pub messages: [i64; 8],
    pub statements: BTreeMap<(Option<String>, u64), Use>,
    pub waits: BTreeMap<&'static str, (i64, i64)>,
    pub durations: BTreeMap<usize, (i64, i64)>,
}

impl Whole {
    fn take(&mut self, tally: &Tally, minute: &Minute) {
        let name = |number: u32| tally.entity_name(number).map(str::to_string);
        for ((figure, entity), value) in &minute.sums {
            *self.sums.entry((*figure, name(*entity))).or_default() += value;
        }
        for (mine, theirs) in self.messages.iter_mut().zip(minute.messages) {
            *mine += theirs;
        }
        for ((database, id), used) in &minute.statements {
            self.statements.entry((name(*database), *id)).or_default().add(used);
        }
        for (event, (count, us)) in &minute.waits {
            let cell = self.waits.entry(event).or_default();
            *cell = (cell.0 + count, cell.1 + us);
        }
        for (bucket, (count, ns)) in &minute.durations {
            let cell = self.durations.entry(*bucket).or_default();
            *cell = (cell.0 + count, cell.1 + ns);
        }
    }
}

/// The rows of all that was tallied; `placed` are the moments in UTC of its `quarters`, `untimed_us` is that of all of a
/// log that tells no times.
pub fn rows(
    tallies: &[&Tally],
    server: &Server,
    placed: HashMap<Local, i64>,
    untimed_us: Option<i64>,
) -> Result<Vec<Batch>, ArrowError> {
    let placing = Placing {
        known: placed,
        untimed_us,
    };
    let mut minutes: BTreeMap<i64, Whole> = BTreeMap::new();
    let (mut first, mut last) = (i64::MAX, i64::MIN);
    for tally in tallies {
        for ((zone, end_us), minute) in &tally.minutes {
            let end_us = placing.utc_us(tally, *zone, *end_us);
            minutes.entry(end_us).or_default().take(tally, minute);
        }
        for (zone, (begin_us, end_us)) in &tally.span {
            first = first.min(placing.utc_us(tally, *zone, *begin_us));
            last = last.max(placing.utc_us(tally, *zone, *end_us));
        }
    }
    let texts: FxHashMap<u64, &str> = tallies
        .iter()
        .flat_map(|tally| tally.texts.iter().map(|(id, text)| (*id, text.as_str())))
        .collect();
    let mut writing = Writing::new(server)?;
    let has = |part: fn(&Whole) -> bool| minutes.values().any(part);
    let is_whole = has(|minute| !minute.durations.is_empty()) && has(|minute| !minute.waits.is_empty());
    writing.is_timed = is_whole && untimed_us.is_none();
    for (end_us, minute) in &minutes {
        let interval = match untimed_us {
            Some(ts_us) => Interval { ts_us, seconds: None },
            None => clipped(*end_us, first, last),
        };
        writing.minute(interval, minute, &texts);
    }
    single(tallies, &placing, &mut writing);
    writing.finish()
}

/// A minute as far as the log covers it.
fn clipped(end_us: i64, first: i64, last: i64) -> Interval {
    let ts_us = end_us.min(last);
    let begin_us = (end_us - MINUTE_US).max(first).min(ts_us - SHORTEST_US);
    Interval {
        ts_us,
        seconds: Some((ts_us - begin_us) as f64 / 1e6),
    }
}

/// Writes what is of one moment: readings, events and settings, in order of time.
fn single(tallies: &[&Tally], placing: &Placing, writing: &mut Writing) {
    let mut readings = Vec::new();
    let mut events = Vec::new();
    let mut settings = Vec::new();
    for tally in tallies {
        for reading in &tally.readings {
            let entity = tally.entity_name(reading.entity);
            let at_us = placing.moment_us(tally, reading.moment);
            readings.push((at_us, reading.figure, entity, reading.value));
        }
        for event in &tally.events {
            let at_us = placing.moment_us(tally, event.moment);
            events.push((
                at_us,
                event.place,
                event.kind,
                event.subject.as_str(),
                event.text.as_str(),
            ));
        }
        for setting in &tally.settings {
            let at_us = placing.moment_us(tally, setting.moment);
            settings.push((at_us, setting.name.as_str(), setting.value.as_deref()));
        }
    }
    readings.sort();
    events.sort_by_key(|(at_us, place, ..)| (*at_us, *place));
    let mut told = HashSet::new();
    events.retain(|(at_us, _, kind, subject, text)| told.insert((*at_us, *kind, *subject, *text)));
    settings.sort();
    for (ts_us, figure, entity, value) in readings {
        let value = value as f64 / f64::from(figure.scale);
        let interval = Interval { ts_us, seconds: None };
        writing.figure(interval, (figure.name, figure.unit, "gauge"), entity, value);
    }
    for (ts_us, _, kind, subject, text) in events {
        writing.happened(ts_us, kind, subject, text);
    }
    for (ts_us, name, value) in settings {
        writing.set(ts_us, name, value);
    }
}
