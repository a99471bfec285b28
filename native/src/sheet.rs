//! Rows of one table under way: a table builder with its columns resolved once, by name, at the start.

use std::collections::HashMap;

use arrow_schema::ArrowError;

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
        impl $crate::sheet::Columns for $name {
            fn resolve(builder: &$crate::table::TableBuilder) -> Result<Self, arrow_schema::ArrowError> {
                Ok(Self { $($column: builder.column(stringify!($column))?),* })
            }
        }
    };
}
pub(crate) use columns;

columns!(EveryRow { ts, interval_s, host });

/// The layout of a table.
pub fn layout<'a>(table: &str, layouts: &'a Layouts) -> Result<&'a Layout, ArrowError> {
    let known = layouts.get(table);
    known.ok_or_else(|| ArrowError::SchemaError(format!("no layout for table {table} was given")))
}

/// The rows of one table; `begin`, set columns, `end`.
pub struct Sheet<C> {
    table: &'static str,
    host: Option<String>,
    builder: TableBuilder,
    every: EveryRow,
    pub columns: C,
}

impl<C: Columns> Sheet<C> {
    /// An error where there is no such layout, or it lacks a column that is filled.
    pub fn new<'a>(
        table: &'static str,
        host: impl Into<Option<&'a str>>,
        layouts: &Layouts,
    ) -> Result<Self, ArrowError> {
        let builder = TableBuilder::new(table, layout(table, layouts)?)?;
        Ok(Self {
            table,
            host: host.into().map(str::to_string),
            every: EveryRow::resolve(&builder)?,
            columns: C::resolve(&builder)?,
            builder,
        })
    }

    /// The rows from here on are of this host; null where it is not known.
    pub fn comes_from(&mut self, host: Option<&str>) {
        self.host = host.map(str::to_string);
    }

    /// Starts a row that ends at a moment, over so many seconds where these are known.
    pub fn begin(&mut self, ts_us: i64, interval_s: Option<f64>) {
        self.builder.i64(self.every.ts, Some(ts_us));
        self.builder.f64(self.every.interval_s, interval_s);
        self.builder.str(self.every.host, self.host.as_deref());
    }

    /// Starts a row about a point in time.
    pub fn begin_at(&mut self, ts_us: i64) {
        self.begin(ts_us, None);
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

    /// Moves the rows so far, if any, to the batches.
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
