//! From sums to rows: minutes of all threads and zones put together, and made rates.

use std::collections::{BTreeMap, HashMap, HashSet};

use pyo3::prelude::*;
use rustc_hash::FxHashMap;

use super::entry::Severity;
use super::figures::{Figure, LOCK_WAIT_TIME, LOCKS_ACQUIRED, MESSAGES};
use super::moment::Moment;
use super::sheet::Sheet;
use super::tally::{MINUTE_US, Minute, Tally, Use};
use crate::batch::{Batch, value_error};
use crate::latency::edges_us;
use crate::table::Layout;

/// Zones change their offset at quarters of an hour at the earliest.
const QUARTER_US: i64 = 15 * MINUTE_US;
/// The least that the first and last interval are taken to last: a few lines of one moment tell no rate.
const SHORTEST_US: i64 = 1_000_000;

/// A log tells of waits for locks only: what else statements waited for is not known.
const REST_OF_STATEMENTS: &str = "statements, but for their waits for locks";

/// What all rows of a log share.
pub struct Patient {
    pub component: String,
    pub db: String,
    pub host: Option<String>,
    pub layouts: HashMap<String, Layout>,
}

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
struct Whole {
    sums: BTreeMap<(Figure, Option<String>), i64>,
    messages: [i64; 8],
    statements: BTreeMap<(Option<String>, u64), Use>,
    waits: BTreeMap<&'static str, (i64, i64)>,
    durations: BTreeMap<usize, (i64, i64)>,
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

/// End of a row's interval and its length.
#[derive(Clone, Copy)]
struct Interval {
    ts_us: i64,
    seconds: f64,
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
        writing.minute(interval, minute, &texts).map_err(value_error)?;
    }
    writing.single(tallies, &mut placing)?;
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

struct Writing<'a> {
    patient: &'a Patient,
    /// The log tells waits, and the time of the statements that waited.
    is_timed: bool,
    statistic: Sheet,
    statement: Sheet,
    latency: Sheet,
    wait: Sheet,
    event: Sheet,
    setting: Sheet,
}

type Done = Result<(), arrow_schema::ArrowError>;

impl<'a> Writing<'a> {
    fn new(patient: &'a Patient) -> Result<Self, arrow_schema::ArrowError> {
        let sheet = |table| Sheet::new(table, &patient.layouts, patient.host.as_deref());
        Ok(Self {
            statistic: sheet("statistic")?,
            statement: sheet("statement")?,
            latency: sheet("latency")?,
            wait: sheet("wait")?,
            event: sheet("event")?,
            setting: sheet("setting")?,
            patient,
            is_timed: false,
        })
    }

    fn minute(&mut self, interval: Interval, minute: &Whole, texts: &FxHashMap<u64, &str>) -> Done {
        for ((figure, entity), value) in &minute.sums {
            self.rate(interval, figure, entity.as_deref(), *value)?;
        }
        for (severity, count) in Severity::ALL.iter().zip(minute.messages) {
            if count > 0 {
                self.rate(interval, &MESSAGES, Some(severity.word()), count)?;
            }
        }
        for ((database, id), used) in &minute.statements {
            self.used(interval, database.as_deref(), *id, used, texts)?;
        }
        if self.is_timed {
            self.waits(interval, minute)?;
        } else {
            self.lock_waits(interval, minute)?;
        }
        for (bucket, (count, ns)) in &minute.durations {
            self.bucket(interval, *bucket, *count, *ns)?;
        }
        Ok(())
    }

    fn rate(&mut self, interval: Interval, figure: &Figure, entity: Option<&str>, value: i64) -> Done {
        let per_s = value as f64 / f64::from(figure.scale) / interval.seconds;
        self.figure(interval.ts_us, Some(interval.seconds), figure, entity, per_s, "rate")
    }

    fn figure(
        &mut self,
        ts_us: i64,
        seconds: Option<f64>,
        figure: &Figure,
        entity: Option<&str>,
        value: f64,
        kind: &str,
    ) -> Done {
        let row = &mut self.statistic;
        row.begin(ts_us, seconds)?;
        row.str("component", &self.patient.component)?;
        row.str("db", &self.patient.db)?;
        if let Some(entity) = entity {
            row.str("entity", entity)?;
        }
        row.str("name", figure.name)?;
        row.f64("value", value)?;
        row.str("unit", figure.unit)?;
        row.str("kind", kind)?;
        row.end();
        Ok(())
    }

    fn used(
        &mut self,
        interval: Interval,
        database: Option<&str>,
        id: u64,
        used: &Use,
        texts: &FxHashMap<u64, &str>,
    ) -> Done {
        let row = &mut self.statement;
        row.begin(interval.ts_us, Some(interval.seconds))?;
        row.str("db", &self.patient.db)?;
        if let Some(database) = database {
            row.str("database", database)?;
        }
        row.str("statement_id", &format!("{id:016x}"))?;
        if let Some(text) = texts.get(&id) {
            row.str("text", text)?;
        }
        row.f64("calls_per_s", used.calls as f64 / interval.seconds)?;
        for (column, value, scale) in [
            ("elapsed_s_per_s", used.elapsed_us, 1e6),
            ("rows_per_s", used.rows, 1.0),
            ("temp_bytes_per_s", used.temp_bytes, 1.0),
            ("read_blocks_per_s", used.read_blocks, 1.0),
            ("hit_blocks_per_s", used.hit_blocks, 1.0),
        ] {
            if let Some(value) = value {
                row.f64(column, value as f64 / scale / interval.seconds)?;
            }
        }
        row.end();
        Ok(())
    }

    /// Waits for locks as a part of the time of statements, and what is left of that time.
    fn waits(&mut self, interval: Interval, minute: &Whole) -> Done {
        let statements_us = minute.durations.values().map(|(_, ns)| ns / 1000).sum::<i64>();
        let waited_us = minute.waits.values().map(|(_, us)| us).sum::<i64>();
        for (event, (count, us)) in &minute.waits {
            let concurrency = matches!(*event, "extend" | "page" | "frozenid");
            let class = if concurrency { "Concurrency" } else { "Application" };
            self.waited(interval, class, event, *us)?;
            self.wait.f64("waits_per_s", *count as f64 / interval.seconds)?;
            self.wait.f64("avg_wait_ms", *us as f64 / 1e3 / *count as f64)?;
            self.wait.end();
        }
        if statements_us > waited_us {
            self.waited(interval, "Unaccounted", REST_OF_STATEMENTS, statements_us - waited_us)?;
            self.wait.end();
        }
        Ok(())
    }

    fn waited(&mut self, interval: Interval, class: &str, event: &str, us: i64) -> Done {
        let row = &mut self.wait;
        row.begin(interval.ts_us, Some(interval.seconds))?;
        row.str("db", &self.patient.db)?;
        row.str("wait_class", class)?;
        row.str("event", event)?;
        row.str("kind", "foreground")?;
        row.f64("waited_s_per_s", us as f64 / 1e6 / interval.seconds)
    }

    /// Waits for locks where nothing tells the whole that they are a part of.
    fn lock_waits(&mut self, interval: Interval, minute: &Whole) -> Done {
        for (event, (count, us)) in &minute.waits {
            self.rate(interval, &LOCKS_ACQUIRED, Some(event), *count)?;
            self.rate(interval, &LOCK_WAIT_TIME, Some(event), *us)?;
        }
        Ok(())
    }

    fn bucket(&mut self, interval: Interval, bucket: usize, count: i64, ns: i64) -> Done {
        let (gt_us, le_us) = edges_us(bucket);
        let row = &mut self.latency;
        row.begin(interval.ts_us, Some(interval.seconds))?;
        row.str("db", &self.patient.db)?;
        row.str("subject", "statement duration")?;
        row.f64("gt_us", gt_us)?;
        row.f64("le_us", le_us)?;
        row.i64("count", count)?;
        row.f64("waited_us", ns as f64 / 1e3)?;
        row.end();
        Ok(())
    }

    /// What is of one moment: readings, events and settings, in order of time.
    fn single(&mut self, tallies: &[&Tally], placing: &mut Placing<'_>) -> PyResult<()> {
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
            self.figure(ts_us, None, &figure, entity, value, "gauge")
                .map_err(value_error)?;
        }
        for (ts_us, _, kind, subject, text) in events {
            self.happened(ts_us, kind, subject, text).map_err(value_error)?;
        }
        for (ts_us, name, value) in settings {
            self.set(ts_us, name, value).map_err(value_error)?;
        }
        Ok(())
    }

    fn happened(&mut self, ts_us: i64, kind: &str, subject: &str, text: &str) -> Done {
        let row = &mut self.event;
        row.begin(ts_us, None)?;
        row.str("kind", kind)?;
        row.str("db", &self.patient.db)?;
        row.str("subject", if subject.is_empty() { &self.patient.db } else { subject })?;
        row.str("text", text)?;
        row.end();
        Ok(())
    }

    fn set(&mut self, ts_us: i64, name: &str, value: Option<&str>) -> Done {
        let row = &mut self.setting;
        row.begin(ts_us, None)?;
        row.str("component", &self.patient.component)?;
        row.str("db", &self.patient.db)?;
        row.str("name", name)?;
        if let Some(value) = value {
            row.str("value", value)?;
        }
        row.str("source", "log")?;
        row.end();
        Ok(())
    }

    fn finish(self) -> Result<Vec<Batch>, arrow_schema::ArrowError> {
        let sheets = [
            self.statistic,
            self.statement,
            self.latency,
            self.wait,
            self.event,
            self.setting,
        ];
        let batches = sheets.into_iter().map(Sheet::finish);
        batches.filter_map(Result::transpose).collect()
    }
}
