//! Rows of one table under way, columns set by their names; a host that is not known stays null.

use std::collections::HashMap;

use arrow_schema::ArrowError;

use crate::batch::Batch;
use crate::table::{Layout, TableBuilder};

pub struct Sheet {
    table: &'static str,
    host: Option<String>,
    builder: TableBuilder,
}

impl Sheet {
    pub fn new(table: &'static str, layouts: &HashMap<String, Layout>, host: Option<&str>) -> Result<Self, ArrowError> {
        let layout = layouts
            .get(table)
            .ok_or_else(|| ArrowError::SchemaError(format!("no layout for table {table} was given")))?;
        let builder = TableBuilder::new(table, layout)?;
        Ok(Self {
            table,
            host: host.map(str::to_string),
            builder,
        })
    }

    /// Starts a row that ends at a moment, over so many seconds.
    pub fn begin(&mut self, ts_us: i64, seconds: Option<f64>) -> Result<(), ArrowError> {
        self.i64("ts", ts_us)?;
        if let Some(seconds) = seconds {
            self.f64("interval_s", seconds)?;
        }
        let host = self.builder.column("host")?;
        self.builder.str(host, self.host.as_deref());
        Ok(())
    }

    pub fn str(&mut self, column: &str, value: &str) -> Result<(), ArrowError> {
        let column = self.builder.column(column)?;
        self.builder.str(column, Some(value));
        Ok(())
    }

    pub fn f64(&mut self, column: &str, value: f64) -> Result<(), ArrowError> {
        let column = self.builder.column(column)?;
        self.builder.f64(column, Some(value));
        Ok(())
    }

    pub fn i64(&mut self, column: &str, value: i64) -> Result<(), ArrowError> {
        let column = self.builder.column(column)?;
        self.builder.i64(column, Some(value));
        Ok(())
    }

    pub fn end(&mut self) {
        self.builder.end_row();
    }

    pub fn finish(mut self) -> Result<Option<Batch>, ArrowError> {
        let rows = self.builder.finish()?;
        Ok(rows.map(|rows| Batch {
            table: self.table.to_string(),
            rows,
        }))
    }
}
