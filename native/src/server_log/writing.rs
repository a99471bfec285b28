//! Rows of a log's sums, minute by minute, and of what was of one moment.

use arrow_schema::ArrowError;
use rustc_hash::FxHashMap;

use super::entry::Severity;
use super::figures::{Figure, LOCK_WAIT_TIME, LOCKS_ACQUIRED, MESSAGES};
use super::report::Whole;
use super::tally::Use;
use crate::batch::Batch;
use crate::latency::edges_us;
use crate::sheet::{Layouts, Sheet, columns};

/// A log tells of waits for locks only: what else statements waited for is not known.
const REST_OF_STATEMENTS: &str = "statements, but for their waits for locks";
/// What stands before the name of a sum of a whole log that tells no times.
const IN_ALL: &str = "in_all.";

/// What all rows of a log share.
pub struct Server {
    pub component: String,
    pub db: String,
    pub host: Option<String>,
    pub layouts: Layouts,
}

/// End of a row's interval and its length; null where the log tells no times.
#[derive(Clone, Copy)]
pub struct Interval {
    pub ts_us: i64,
    pub seconds: Option<f64>,
}

impl Interval {
    fn per_s(self, amount: f64) -> Option<f64> {
        self.seconds.map(|seconds| amount / seconds)
    }
}

columns!(StatisticColumns {
    component,
    db,
    entity,
    name,
    value,
    unit,
    kind
});
columns!(StatementColumns {
    db,
    database,
    statement_id,
    text,
    calls_per_s,
    elapsed_s_per_s,
    rows_per_s,
    temp_bytes_per_s,
    read_blocks_per_s,
    hit_blocks_per_s
});
columns!(LatencyColumns {
    db,
    subject,
    gt_us,
    le_us,
    count,
    waited_us
});
columns!(WaitColumns {
    db,
    wait_class,
    event,
    kind,
    waits_per_s,
    avg_wait_ms,
    average_active_sessions
});
columns!(EventColumns {
    kind,
    db,
    subject,
    text
});
columns!(SettingColumns {
    component,
    db,
    name,
    value,
    source
});

/// The rows of a log, written minute by minute.
pub struct Writing<'a> {
    server: &'a Server,
    /// The log tells waits, and the time of the statements that waited.
    pub is_timed: bool,
    statistic: Sheet<StatisticColumns>,
    statement: Sheet<StatementColumns>,
    latency: Sheet<LatencyColumns>,
    wait: Sheet<WaitColumns>,
    event: Sheet<EventColumns>,
    setting: Sheet<SettingColumns>,
}

impl<'a> Writing<'a> {
    pub fn new(server: &'a Server) -> Result<Self, ArrowError> {
        let (host, layouts) = (server.host.as_deref(), &server.layouts);
        Ok(Self {
            statistic: Sheet::new("statistic", host, layouts)?,
            statement: Sheet::new("statement", host, layouts)?,
            latency: Sheet::new("latency", host, layouts)?,
            wait: Sheet::new("wait", host, layouts)?,
            event: Sheet::new("event", host, layouts)?,
            setting: Sheet::new("setting", host, layouts)?,
            server,
            is_timed: false,
        })
    }

    pub fn minute(&mut self, interval: Interval, minute: &Whole, texts: &FxHashMap<u64, &str>) {
        for ((figure, entity), value) in &minute.sums {
            self.rate(interval, figure, entity.as_deref(), *value);
        }
        for (severity, count) in Severity::ALL.iter().zip(minute.messages) {
            if count > 0 {
                self.rate(interval, &MESSAGES, Some(severity.word()), count);
            }
        }
        for ((database, id), used) in &minute.statements {
            self.used(interval, database.as_deref(), *id, used, texts);
        }
        if self.is_timed {
            self.waits(interval, minute);
        } else {
            self.lock_waits(interval, minute);
        }
        for (bucket, (count, ns)) in &minute.durations {
            self.bucket(interval, *bucket, *count, *ns);
        }
    }

    fn rate(&mut self, interval: Interval, figure: &Figure, entity: Option<&str>, value: i64) {
        let amount = value as f64 / f64::from(figure.scale);
        match interval.per_s(amount) {
            Some(per_s) => self.figure(interval, (figure.name, figure.unit, "rate"), entity, per_s),
            None => {
                let unit = figure.unit.strip_suffix("_per_s").unwrap_or("count");
                let name = format!("{IN_ALL}{}", figure.name);
                self.figure(interval, (&name, unit, "gauge"), entity, amount);
            }
        }
    }

    /// A figure with its name, unit and kind.
    pub fn figure(
        &mut self,
        interval: Interval,
        (name, unit, kind): (&str, &str, &str),
        entity: Option<&str>,
        value: f64,
    ) {
        let row = &mut self.statistic;
        let columns = row.columns;
        row.begin(interval.ts_us, interval.seconds);
        row.str(columns.component, self.server.component.as_str());
        row.str(columns.db, self.server.db.as_str());
        row.str(columns.entity, entity);
        row.str(columns.name, name);
        row.f64(columns.value, value);
        row.str(columns.unit, unit);
        row.str(columns.kind, kind);
        row.end();
    }

    fn used(&mut self, interval: Interval, database: Option<&str>, id: u64, used: &Use, texts: &FxHashMap<u64, &str>) {
        let row = &mut self.statement;
        let columns = row.columns;
        row.begin(interval.ts_us, interval.seconds);
        row.str(columns.db, self.server.db.as_str());
        row.str(columns.database, database);
        row.str(columns.statement_id, format!("{id:016x}").as_str());
        row.str(columns.text, texts.get(&id).copied());
        row.f64(columns.calls_per_s, interval.per_s(used.calls as f64));
        for (column, value, scale) in [
            (columns.elapsed_s_per_s, used.elapsed_us, 1e6),
            (columns.rows_per_s, used.rows, 1.0),
            (columns.temp_bytes_per_s, used.temp_bytes, 1.0),
            (columns.read_blocks_per_s, used.read_blocks, 1.0),
            (columns.hit_blocks_per_s, used.hit_blocks, 1.0),
        ] {
            row.f64(column, value.and_then(|value| interval.per_s(value as f64 / scale)));
        }
        row.end();
        if interval.seconds.is_none() {
            self.used_in_all(interval, &format!("{id:016x}"), used);
        }
    }

    fn used_in_all(&mut self, interval: Interval, id: &str, used: &Use) {
        self.figure(
            interval,
            ("in_all.statement_calls", "count", "gauge"),
            Some(id),
            used.calls as f64,
        );
        if let Some(us) = used.elapsed_us {
            self.figure(
                interval,
                ("in_all.statement_time", "s", "gauge"),
                Some(id),
                us as f64 / 1e6,
            );
        }
    }

    /// Waits for locks as a part of the time of statements, and what is left of that time.
    fn waits(&mut self, interval: Interval, minute: &Whole) {
        let statements_us = minute.durations.values().map(|(_, ns)| ns / 1000).sum::<i64>();
        let waited_us = minute.waits.values().map(|(_, us)| us).sum::<i64>();
        for (event, (count, us)) in &minute.waits {
            let concurrency = matches!(*event, "extend" | "page" | "frozenid");
            let class = if concurrency { "Concurrency" } else { "Application" };
            self.waited(interval, class, event, *us, Some(*count));
        }
        if statements_us > waited_us {
            let rest_us = statements_us - waited_us;
            self.waited(interval, "Unaccounted", REST_OF_STATEMENTS, rest_us, None);
        }
    }

    fn waited(&mut self, interval: Interval, class: &str, event: &str, us: i64, count: Option<i64>) {
        let row = &mut self.wait;
        let columns = row.columns;
        row.begin(interval.ts_us, interval.seconds);
        row.str(columns.db, self.server.db.as_str());
        row.str(columns.wait_class, class);
        row.str(columns.event, event);
        row.str(columns.kind, "foreground");
        row.f64(
            columns.waits_per_s,
            count.and_then(|count| interval.per_s(count as f64)),
        );
        row.f64(columns.avg_wait_ms, count.map(|count| us as f64 / 1e3 / count as f64));
        row.f64(columns.average_active_sessions, interval.per_s(us as f64 / 1e6));
        row.end();
    }

    /// Waits for locks where nothing tells the whole that they are a part of.
    fn lock_waits(&mut self, interval: Interval, minute: &Whole) {
        for (event, (count, us)) in &minute.waits {
            self.rate(interval, &LOCKS_ACQUIRED, Some(event), *count);
            self.rate(interval, &LOCK_WAIT_TIME, Some(event), *us);
        }
    }

    fn bucket(&mut self, interval: Interval, bucket: usize, count: i64, ns: i64) {
        let (gt_us, le_us) = edges_us(bucket);
        let row = &mut self.latency;
        let columns = row.columns;
        row.begin(interval.ts_us, interval.seconds);
        row.str(columns.db, self.server.db.as_str());
        row.str(columns.subject, "statement duration");
        row.f64(columns.gt_us, gt_us);
        row.f64(columns.le_us, le_us);
        row.i64(columns.count, count);
        row.f64(columns.waited_us, ns as f64 / 1e3);
        row.end();
    }

    pub fn happened(&mut self, ts_us: i64, kind: &str, subject: &str, text: &str) {
        let row = &mut self.event;
        let columns = row.columns;
        row.begin_at(ts_us);
        row.str(columns.kind, kind);
        row.str(columns.db, self.server.db.as_str());
        let subject = Some(subject).filter(|subject| !subject.is_empty());
        row.str(columns.subject, subject.unwrap_or(&self.server.db));
        row.str(columns.text, text);
        row.end();
    }

    pub fn set(&mut self, ts_us: i64, name: &str, value: Option<&str>) {
        let row = &mut self.setting;
        let columns = row.columns;
        row.begin_at(ts_us);
        row.str(columns.component, self.server.component.as_str());
        row.str(columns.db, self.server.db.as_str());
        row.str(columns.name, name);
        row.str(columns.value, value);
        row.str(columns.source, "log");
        row.end();
    }

    pub fn finish(mut self) -> Result<Vec<Batch>, ArrowError> {
        let mut batches = Vec::new();
        self.statistic.finish(&mut batches)?;
        self.statement.finish(&mut batches)?;
        self.latency.finish(&mut batches)?;
        self.wait.finish(&mut batches)?;
        self.event.finish(&mut batches)?;
        self.setting.finish(&mut batches)?;
        Ok(batches)
    }
}
