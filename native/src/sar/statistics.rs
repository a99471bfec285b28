//! Rows of `statistic`, kept small while they wait.

use std::sync::Arc;

use arrow_array::builder::{Float64Builder, StringBuilder, TimestampMicrosecondBuilder};
use arrow_array::{ArrayRef, RecordBatch, new_null_array};
use arrow_schema::{ArrowError, SchemaRef};

use super::block::Named;
use super::interner::Interner;
use super::sheet::Moment;
use crate::table::{Layout, schema};

struct Row {
    ts_us: i64,
    /// NaN for a reading.
    interval_s: f64,
    value: f64,
    host: Option<u32>,
    component: u32,
    entity: Option<u32>,
    name: u32,
    unit: Option<u32>,
    is_rate: bool,
}

pub struct Statistics {
    schema: SchemaRef,
    rows: Vec<Row>,
}

impl Statistics {
    pub fn new(layout: &Layout) -> Result<Self, ArrowError> {
        Ok(Self {
            schema: schema("statistic", layout)?,
            rows: Vec::new(),
        })
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn push(&mut self, moment: &Moment, named: &Named, entity: Option<u32>, value: f64) {
        self.rows.push(Row {
            ts_us: moment.ts_us,
            interval_s: moment.interval_s.filter(|_| named.is_rate).unwrap_or(f64::NAN),
            value,
            host: moment.host,
            component: moment.component,
            entity,
            name: named.name,
            unit: named.unit,
            is_rate: named.is_rate,
        });
    }

    /// The rows so far as a batch; nothing when there are none.
    pub fn take(&mut self, texts: &Interner) -> Result<Option<RecordBatch>, ArrowError> {
        let rows = std::mem::take(&mut self.rows);
        if rows.is_empty() {
            return Ok(None);
        }
        let columns = self.schema.fields().iter();
        let arrays = columns.map(|field| {
            column(field.name(), &rows, texts).unwrap_or_else(|| new_null_array(field.data_type(), rows.len()))
        });
        RecordBatch::try_new(self.schema.clone(), arrays.collect()).map(Some)
    }
}

/// A column of the rows; nothing for one that sar does not know.
fn column(name: &str, rows: &[Row], texts: &Interner) -> Option<ArrayRef> {
    let text = |of: &dyn Fn(&Row) -> Option<u32>| strings(rows, |row| of(row).map(|number| texts.text(number)));
    Some(match name {
        "ts" => {
            let mut times = TimestampMicrosecondBuilder::with_capacity(rows.len()).with_timezone("UTC");
            rows.iter().for_each(|row| times.append_value(row.ts_us));
            Arc::new(times.finish())
        }
        "interval_s" => numbers(rows, |row| row.interval_s),
        "value" => numbers(rows, |row| row.value),
        "host" => text(&|row| row.host),
        "component" => text(&|row| Some(row.component)),
        "entity" => text(&|row| row.entity),
        "name" => text(&|row| Some(row.name)),
        "unit" => text(&|row| row.unit),
        "kind" => strings(rows, |row| Some(if row.is_rate { "rate" } else { "gauge" })),
        _ => return None,
    })
}

fn numbers(rows: &[Row], of: impl Fn(&Row) -> f64) -> ArrayRef {
    let mut column = Float64Builder::with_capacity(rows.len());
    for row in rows {
        column.append_option(Some(of(row)).filter(|value| value.is_finite()));
    }
    Arc::new(column.finish())
}

fn strings<'a>(rows: &'a [Row], of: impl Fn(&'a Row) -> Option<&'a str>) -> ArrayRef {
    let mut column = StringBuilder::with_capacity(rows.len(), rows.len() * 8);
    for row in rows {
        column.append_option(of(row));
    }
    Arc::new(column.finish())
}
