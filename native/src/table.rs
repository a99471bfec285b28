//! Rows into Arrow: builders for the tables that `doctord.dataset.tables` declares.
//!
//! Python owns the vocabulary and hands a table's layout (column names and types) to whoever fills it; the builder
//! resolves the names once and then takes values by position. A column that a row does not set is null: absent is not
//! zero.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};

use crate::column::Column;

/// Name and type (`ts`, `f64`, `i64`, `str`) of each column, in order.
pub type Layout = Vec<(String, String)>;

/// The Arrow schema of a layout. The table's name travels in the metadata under `table`.
pub fn schema(table: &str, layout: &Layout) -> Result<SchemaRef, ArrowError> {
    let fields = layout
        .iter()
        .map(|(name, kind)| {
            let data_type = match kind.as_str() {
                "ts" => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
                "f64" => DataType::Float64,
                "i64" => DataType::Int64,
                "str" => DataType::Utf8,
                other => {
                    return Err(ArrowError::SchemaError(format!(
                        "unknown column type {other:?} of {table}.{name}"
                    )));
                }
            };
            Ok(Field::new(name, data_type, true))
        })
        .collect::<Result<Vec<_>, _>>()?;
    let metadata = HashMap::from([("table".to_string(), table.to_string())]);
    Ok(Arc::new(Schema::new_with_metadata(fields, metadata)))
}

/// Collects rows of one table. Set the columns of a row in any order, then call `end_row`.
pub struct TableBuilder {
    schema: SchemaRef,
    columns: Vec<Column>,
    rows: usize,
}

impl TableBuilder {
    pub fn new(table: &str, layout: &Layout) -> Result<Self, ArrowError> {
        let schema = schema(table, layout)?;
        Ok(Self {
            schema,
            columns: layout.iter().map(|(_, kind)| Column::new(kind)).collect(),
            rows: 0,
        })
    }

    /// Position of a column, to be resolved once; an unknown name is an error, never a silent drop.
    pub fn column(&self, name: &str) -> Result<usize, ArrowError> {
        self.schema.index_of(name)
    }

    /// Sets a number of an `f64` or `i64` column in the current row.
    pub fn f64(&mut self, column: usize, value: Option<f64>) {
        match &mut self.columns[column] {
            Column::F64(b) => b.append_option(value.filter(|v| v.is_finite())),
            Column::I64(b) => b.append_option(value.map(|v| v as i64)),
            other => other.nulls(1),
        }
    }

    /// Sets a whole number (or a timestamp in microseconds since the epoch) in the current row.
    pub fn i64(&mut self, column: usize, value: Option<i64>) {
        match &mut self.columns[column] {
            Column::I64(b) => b.append_option(value),
            Column::Ts(b) => b.append_option(value),
            Column::F64(b) => b.append_option(value.map(|v| v as f64)),
            other => other.nulls(1),
        }
    }

    /// Sets a string in the current row.
    pub fn str(&mut self, column: usize, value: Option<&str>) {
        match &mut self.columns[column] {
            Column::Str(b) => b.append_option(value),
            other => other.nulls(1),
        }
    }

    /// Ends the row: every column that was not set becomes null.
    pub fn end_row(&mut self) {
        self.rows += 1;
        for column in &mut self.columns {
            if column.filled() < self.rows {
                column.nulls(1);
            }
            debug_assert_eq!(column.filled(), self.rows, "a column was set twice in one row");
        }
    }

    /// The rows so far as a batch, or nothing when there are none; the builder is empty afterwards.
    pub fn finish(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        if self.rows == 0 {
            return Ok(None);
        }
        self.rows = 0;
        let arrays = self.columns.iter_mut().map(Column::finish).collect();
        RecordBatch::try_new(self.schema.clone(), arrays).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::Array;

    fn layout() -> Layout {
        [("ts", "ts"), ("name", "str"), ("value", "f64"), ("count", "i64")]
            .map(|(name, kind)| (name.to_string(), kind.to_string()))
            .to_vec()
    }

    #[test]
    fn a_column_that_is_not_set_is_null() {
        let mut builder = TableBuilder::new("figures", &layout()).unwrap();
        let name = builder.column("name").unwrap();
        builder.str(name, Some("a"));
        builder.end_row();
        let batch = builder.finish().unwrap().unwrap();
        assert_eq!(batch.num_rows(), 1);
        assert!(batch.column(2).is_null(0));
        assert!(builder.finish().unwrap().is_none());
    }

    #[test]
    fn an_unknown_column_is_an_error() {
        assert!(TableBuilder::new("figures", &layout()).unwrap().column("typo").is_err());
    }
}
