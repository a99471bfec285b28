//! `Column`: a column of a table while it is filled, with values of Rust's or of Python's.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::{ArrayBuilder, Float64Builder, Int64Builder, StringBuilder, TimestampMicrosecondBuilder};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

pub enum Column {
    F64(Float64Builder),
    I64(Int64Builder),
    Str(StringBuilder),
    Ts(TimestampMicrosecondBuilder),
}

impl Column {
    /// Without room ahead: Arrow's builders begin with 1,024 values, which a batch of two rows would hold on to while it
    /// waits for the next sync, 8 KiB a column, ten times a second.
    pub fn new(kind: &str) -> Self {
        match kind {
            "f64" => Column::F64(Float64Builder::with_capacity(0)),
            "i64" => Column::I64(Int64Builder::with_capacity(0)),
            "str" => Column::Str(StringBuilder::with_capacity(0, 0)),
            _ => Column::Ts(TimestampMicrosecondBuilder::with_capacity(0).with_timezone("UTC")),
        }
    }

    pub fn filled(&self) -> usize {
        match self {
            Column::F64(builder) => builder.len(),
            Column::I64(builder) => builder.len(),
            Column::Str(builder) => builder.len(),
            Column::Ts(builder) => builder.len(),
        }
    }

    pub fn nulls(&mut self, count: usize) {
        match self {
            Column::F64(builder) => builder.append_nulls(count),
            Column::I64(builder) => builder.append_nulls(count),
            Column::Str(builder) => builder.append_nulls(count),
            Column::Ts(builder) => builder.append_nulls(count),
        }
    }

    /// A value so many times. A float that is no number is null.
    pub fn repeat(&mut self, value: &Bound<'_, PyAny>, count: usize) -> PyResult<()> {
        if value.is_none() {
            self.nulls(count);
            return Ok(());
        }
        match self {
            Column::F64(builder) => match value.extract::<f64>()? {
                number if number.is_finite() => builder.append_value_n(number, count),
                _ => builder.append_nulls(count),
            },
            Column::I64(builder) => builder.append_value_n(value.extract()?, count),
            Column::Str(builder) => builder.append_value_n(value.cast::<PyString>()?.to_str()?, count),
            Column::Ts(builder) => builder.append_value_n(value.extract()?, count),
        }
        Ok(())
    }

    /// A text so many times.
    pub fn text(&mut self, text: &str, count: usize) -> PyResult<()> {
        let Column::Str(builder) = self else {
            return Err(PyTypeError::new_err(format!("{text:?} is no number")));
        };
        builder.append_value_n(text, count);
        Ok(())
    }

    /// Numbers; one that is not finite is null.
    pub fn numbers(&mut self, numbers: &[f64]) -> PyResult<()> {
        let Column::F64(builder) = self else {
            return Err(PyTypeError::new_err("only a column of numbers can hold figures"));
        };
        let finite = |number: &f64| Some(*number).filter(|number| number.is_finite());
        numbers.iter().for_each(|number| builder.append_option(finite(number)));
        Ok(())
    }

    /// Add a value to a key: after its length, so that no two keys of other values are alike.
    pub fn key(&self, row: usize, key: &mut Vec<u8>) {
        let is_set = |mask: Option<&[u8]>| mask.is_none_or(|mask| mask[row / 8] & 1 << (row % 8) != 0);
        let (is_set, value): (bool, &[u8]) = match self {
            Column::F64(held) => (is_set(held.validity_slice()), &held.values_slice()[row].to_le_bytes()),
            Column::I64(held) => (is_set(held.validity_slice()), &held.values_slice()[row].to_le_bytes()),
            Column::Ts(held) => (is_set(held.validity_slice()), &held.values_slice()[row].to_le_bytes()),
            Column::Str(held) => {
                let ends = &held.offsets_slice()[row..row + 2];
                (
                    is_set(held.validity_slice()),
                    &held.values_slice()[ends[0] as usize..ends[1] as usize],
                )
            }
        };
        let length = if is_set { value.len() as u32 } else { u32::MAX };
        key.extend(length.to_le_bytes());
        key.extend(if is_set { value } else { &[] });
    }

    pub fn finish(&mut self) -> ArrayRef {
        match self {
            Column::F64(builder) => Arc::new(builder.finish()),
            Column::I64(builder) => Arc::new(builder.finish()),
            Column::Str(builder) => Arc::new(builder.finish()),
            Column::Ts(builder) => Arc::new(builder.finish()),
        }
    }
}
