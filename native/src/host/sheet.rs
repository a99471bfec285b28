//! Rows of one table under way: a table builder with its columns resolved once, by name, at the start.

use std::collections::{HashMap, HashSet};

use arrow_schema::ArrowError;

use super::interval::Interval;
use crate::batch::Batch;
use crate::table::{Layout, TableBuilder};

/// The layouts that Python handed over, by table.
pub type Layouts = HashMap<String, Layout>;

/// Positions of the columns that a source fills.
pub trait Columns: Sized + Copy {
    fn resolve(builder: &TableBuilder) -> Result<Self, ArrowError>;
}

/// Declares a struct with the position of each named column.
macro_rules! columns {
    ($name:ident { $($column:ident),* $(,)? }) => {
        #[derive(Clone, Copy)]
        pub struct $name { $(pub $column: usize),* }
        impl $crate::host::sheet::Columns for $name {
            fn resolve(builder: &$crate::table::TableBuilder) -> Result<Self, arrow_schema::ArrowError> {
                Ok(Self { $($column: builder.column(stringify!($column))?),* })
            }
        }
    };
}
pub(crate) use columns;

columns!(EveryRow { ts, interval_s, host });

/// The rows of one table; `begin`, set columns, `end`.
pub struct Sheet<C> {
    table: &'static str,
    host: String,
    builder: TableBuilder,
    every: EveryRow,
    pub columns: C,
}

impl<C: Columns> Sheet<C> {
    pub fn new(table: &'static str, host: &str, layouts: &Layouts) -> Result<Self, ArrowError> {
        let layout = layouts
            .get(table)
            .ok_or_else(|| ArrowError::SchemaError(format!("no layout for table {table} was given")))?;
        let builder = TableBuilder::new(table, layout)?;
        Ok(Self {
            table,
            host: host.to_string(),
            every: EveryRow::resolve(&builder)?,
            columns: C::resolve(&builder)?,
            builder,
        })
    }

    /// Starts a row over the interval.
    pub fn begin(&mut self, interval: &Interval) {
        self.builder.i64(self.every.ts, Some(interval.ts_us));
        // To the millisecond: rates use the exact length, and the same number in every row packs well.
        let seconds = interval.seconds.map(|seconds| (seconds * 1000.0).round() / 1000.0);
        self.builder.f64(self.every.interval_s, seconds);
        self.builder.str(self.every.host, Some(&self.host));
    }

    /// Starts a row about a point in time.
    pub fn begin_at(&mut self, ts_us: i64) {
        self.begin(&Interval { ts_us, seconds: None });
    }

    pub fn f64(&mut self, column: usize, value: impl Into<Option<f64>>) {
        self.builder.f64(column, value.into());
    }

    pub fn i64(&mut self, column: usize, value: impl Into<Option<i64>>) {
        self.builder.i64(column, value.into());
    }

    /// Sets a count, which the kernel gives without sign.
    pub fn count(&mut self, column: usize, value: Option<u64>) {
        self.builder
            .i64(column, value.and_then(|value| i64::try_from(value).ok()));
    }

    pub fn str<'a>(&mut self, column: usize, value: impl Into<Option<&'a str>>) {
        self.builder.str(column, value.into());
    }

    pub fn end(&mut self) {
        self.builder.end_row();
    }

    /// Moves the rows so far, if any, to the batches of this sample.
    pub fn finish(&mut self, batches: &mut Vec<Batch>) -> Result<(), ArrowError> {
        if let Some(rows) = self.builder.finish()? {
            batches.push(Batch {
                table: self.table.to_string(),
                rows,
            });
        }
        Ok(())
    }
}

columns!(StatisticColumns {
    component,
    entity,
    name,
    value,
    unit,
    kind
});

/// Named figures that have no table of their own.
pub struct Statistics {
    sheet: Sheet<StatisticColumns>,
}

/// What a statistic is about and called.
#[derive(Clone, Copy)]
pub struct Figure<'a> {
    pub component: &'a str,
    pub entity: Option<&'a str>,
    pub name: &'a str,
    pub unit: &'a str,
}

impl Statistics {
    pub fn new(host: &str, layouts: &Layouts) -> Result<Self, ArrowError> {
        Ok(Self {
            sheet: Sheet::new("statistic", host, layouts)?,
        })
    }

    /// A reading.
    pub fn gauge(&mut self, interval: &Interval, figure: Figure, value: f64) {
        self.sheet.begin_at(interval.ts_us);
        self.finish_row(figure, value, "gauge");
    }

    /// An increase per second over the interval.
    pub fn rate(&mut self, interval: &Interval, figure: Figure, value: f64) {
        self.sheet.begin(interval);
        self.finish_row(figure, value, "rate");
    }

    fn finish_row(&mut self, figure: Figure, value: f64, kind: &str) {
        let columns = self.sheet.columns;
        self.sheet.str(columns.component, figure.component);
        self.sheet.str(columns.entity, figure.entity);
        self.sheet.str(columns.name, figure.name);
        self.sheet.f64(columns.value, value);
        self.sheet.str(columns.unit, figure.unit);
        self.sheet.str(columns.kind, kind);
        self.sheet.end();
    }

    pub fn finish(&mut self, batches: &mut Vec<Batch>) -> Result<(), ArrowError> {
        self.sheet.finish(batches)
    }
}

columns!(EventColumns {
    kind,
    subject,
    text,
    hint
});

/// What happened, and what could not be seen; the latter is said once.
pub struct Events {
    sheet: Sheet<EventColumns>,
    said: HashSet<String>,
    ts_us: i64,
}

impl Events {
    pub fn new(host: &str, layouts: &Layouts) -> Result<Self, ArrowError> {
        Ok(Self {
            sheet: Sheet::new("event", host, layouts)?,
            said: HashSet::new(),
            ts_us: 0,
        })
    }

    /// Sets the time of the events that follow.
    pub fn at(&mut self, interval: &Interval) {
        self.ts_us = interval.ts_us;
    }

    /// Something cannot be read: why, and how to grant it.
    pub fn unseen(&mut self, subject: &str, text: &str, hint: &str) {
        if self.said.insert(subject.to_string()) {
            self.add("unseen", subject, text, Some(hint));
        }
    }

    /// The counters of `subject` went down: it was restarted, or replaced under the same name.
    pub fn restart(&mut self, subject: &str) {
        self.add(
            "restart",
            subject,
            "Its counters went down; no rate is given for this interval.",
            None,
        );
    }

    pub fn add(&mut self, kind: &str, subject: &str, text: &str, hint: Option<&str>) {
        let columns = self.sheet.columns;
        self.sheet.begin_at(self.ts_us);
        self.sheet.str(columns.kind, kind);
        self.sheet.str(columns.subject, subject);
        self.sheet.str(columns.text, text);
        self.sheet.str(columns.hint, hint);
        self.sheet.end();
    }

    pub fn finish(&mut self, batches: &mut Vec<Batch>) -> Result<(), ArrowError> {
        self.sheet.finish(batches)
    }
}
