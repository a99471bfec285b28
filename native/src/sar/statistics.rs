//! Rows of `statistic`, kept small while they wait.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, TimestampMicrosecondArray, new_null_array};
use arrow_buffer::{BooleanBufferBuilder, NullBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, SchemaRef};

use super::block::Named;
use super::interner::Interner;
use super::tables::Moment;
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
        let rows = &self.rows;
        if rows.is_empty() {
            return Ok(None);
        }
        let fields = self.schema.fields().iter();
        let columns = fields.map(|field| {
            let unknown = || new_null_array(field.data_type(), rows.len());
            column(field.name(), rows, texts).unwrap_or_else(unknown)
        });
        let batch = RecordBatch::try_new(self.schema.clone(), columns.collect())?;
        self.rows.clear();
        Ok(Some(batch))
    }
}

/// A column of the rows; nothing for one that sar does not know.
fn column(name: &str, rows: &[Row], texts: &Interner) -> Option<ArrayRef> {
    let known = |number: Option<u32>| number.map(|number| texts.text(number));
    Some(match name {
        "ts" => {
            Arc::new(TimestampMicrosecondArray::from_iter_values(rows.iter().map(|row| row.ts_us)).with_timezone("UTC"))
        }
        "interval_s" => numbers(rows, |row| row.interval_s),
        "value" => numbers(rows, |row| row.value),
        "host" => strings(rows, |row| known(row.host)),
        "component" => strings(rows, |row| known(Some(row.component))),
        "entity" => strings(rows, |row| known(row.entity)),
        "name" => strings(rows, |row| known(Some(row.name))),
        "unit" => strings(rows, |row| known(row.unit)),
        "kind" => strings(rows, |row| Some(if row.is_rate { "rate" } else { "gauge" })),
        _ => return None,
    })
}

fn numbers(rows: &[Row], of: impl Fn(&Row) -> f64) -> ArrayRef {
    let values = rows.iter().map(|row| Some(of(row)).filter(|value| value.is_finite()));
    Arc::new(Float64Array::from_iter(values))
}

/// Offsets and bytes are written at once: a builder, which looks whether each text still fits, takes twice as long.
fn strings<'a>(rows: &'a [Row], of: impl Fn(&'a Row) -> Option<&'a str>) -> ArrayRef {
    let mut ends = Vec::with_capacity(rows.len() + 1);
    let mut bytes = Vec::with_capacity(rows.len() * 12);
    let mut there = BooleanBufferBuilder::new(rows.len());
    ends.push(0);
    for row in rows {
        let text = of(row);
        bytes.extend_from_slice(text.unwrap_or_default().as_bytes());
        ends.push(bytes.len() as i32);
        there.append(text.is_some());
    }
    let nulls = NullBuffer::new(there.finish());
    Arc::new(StringArray::new(
        OffsetBuffer::new(ends.into()),
        bytes.into(),
        Some(nulls),
    ))
}
