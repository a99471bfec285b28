//! From sums to rows: minutes of all threads and zones put together, and made rates.

use std::collections::{BTreeMap, HashMap, HashSet};

use pyo3::prelude::*;
use rustc_hash::FxHashMap;

use super::figures::Figure;
use super::moment::Moment;
use super::tally::{MINUTE_US, Minute, Tally, Use};
use super::writing::{Interval, Patient, Writing};
use crate::batch::{Batch, value_error};

/// Zones change their offset at quarters of an hour at the earliest.
const QUARTER_US: i64 = 15 * MINUTE_US;
/// The least that the first and last interval are taken to last: a few lines of one moment tell no rate.
const SHORTEST_US: i64 = 1_000_000;

/// Gives local moments their place in UTC, as Python knows zones.
struct Placing<'py> {
    place: Bound<'py, PyAny>,
    offsets: HashMap<(String, i64), i64>,
}

impl Placing<'_> {
    fn utc_us(&mut self, tally: &Tally, zone: u16, local_us: i64) -> PyResult<i64> {
        let name = tally.zones.name(zone);
        if name == "UTC" {
            return Ok(local_us);
        }
        let quarter = local_us.div_euclid(QUARTER_US);
        if let Some(offset) = self.offsets.get(&(name.to_string(), quarter)) {
            return Ok(local_us - offset);
        }
        let placed: i64 = self.place.call1((name, quarter * QUARTER_US))?.extract()?;
        let offset = quarter * QUARTER_US - placed;
        self.offsets.insert((name.to_string(), quarter), offset);
        Ok(local_us - offset)
    }

    fn moment_us(&mut self, tally: &Tally, moment: Moment) -> PyResult<i64> {
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

/// The rows of all that was tallied. `place` gives the moment in UTC of a zone's name and a local moment.
pub fn rows(tallies: &[&Tally], patient: &Patient, place: Bound<'_, PyAny>) -> PyResult<Vec<Batch>> {
    let mut placing = Placing {
        place,
        offsets: HashMap::new(),
    };
    let mut minutes: BTreeMap<i64, Whole> = BTreeMap::new();
    let (mut first, mut last) = (i64::MAX, i64::MIN);
    for tally in tallies {
        for ((zone, end_us), minute) in &tally.minutes {
            let end_us = placing.utc_us(tally, *zone, *end_us)?;
            minutes.entry(end_us).or_default().take(tally, minute);
        }
        for (zone, (begin_us, end_us)) in &tally.span {
            first = first.min(placing.utc_us(tally, *zone, *begin_us)?);
            last = last.max(placing.utc_us(tally, *zone, *end_us)?);
        }
    }
    let texts: FxHashMap<u64, &str> = tallies
        .iter()
        .flat_map(|tally| tally.texts.iter().map(|(id, text)| (*id, text.as_str())))
        .collect();
    let mut writing = Writing::new(patient).map_err(value_error)?;
    let has = |part: fn(&Whole) -> bool| minutes.values().any(part);
    writing.is_timed = has(|minute| !minute.durations.is_empty()) && has(|minute| !minute.waits.is_empty());
    for (end_us, minute) in &minutes {
        let interval = clipped(*end_us, first, last);
        writing.minute(interval, minute, &texts);
    }
    single(tallies, &mut placing, &mut writing)?;
    writing.finish().map_err(value_error)
}

/// A minute as far as the log covers it.
fn clipped(end_us: i64, first: i64, last: i64) -> Interval {
    let ts_us = end_us.min(last);
    let begin_us = (end_us - MINUTE_US).max(first).min(ts_us - SHORTEST_US);
    Interval {
        ts_us,
        seconds: (ts_us - begin_us) as f64 / 1e6,
    }
}

/// Writes what is of one moment: readings, events and settings, in order of time.
fn single(tallies: &[&Tally], placing: &mut Placing<'_>, writing: &mut Writing) -> PyResult<()> {
    let mut readings = Vec::new();
    let mut events = Vec::new();
    let mut settings = Vec::new();
    for tally in tallies {
        for reading in &tally.readings {
            let entity = tally.entity_name(reading.entity);
            let at_us = placing.moment_us(tally, reading.moment)?;
            readings.push((at_us, reading.figure, entity, reading.value));
        }
        for event in &tally.events {
            let at_us = placing.moment_us(tally, event.moment)?;
            events.push((
                at_us,
                event.place,
                event.kind,
                event.subject.as_str(),
                event.text.as_str(),
            ));
        }
        for setting in &tally.settings {
            let at_us = placing.moment_us(tally, setting.moment)?;
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
        writing.figure(ts_us, None, &figure, entity, value, "gauge");
    }
    for (ts_us, _, kind, subject, text) in events {
        writing.happened(ts_us, kind, subject, text);
    }
    for (ts_us, name, value) in settings {
        writing.set(ts_us, name, value);
    }
    Ok(())
}
