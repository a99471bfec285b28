//! How exactly a lake keeps figures: no more exactly than anybody measures, for noise does not compress.
//!
//! Percentages are kept to 0.001, which is 10 us of a second; intervals of half a second and more to 1 ms, which bends a
//! rate by at most 0.1 %. Everything else is kept as it came.

use std::sync::Arc;

use arrow_array::types::Float64Type;
use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use arrow_schema::ArrowError;

const STEPS: f64 = 1000.0;
const SHORT_S: f64 = 0.5;

/// The same rows, rounded.
pub fn rounded(rows: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let schema = rows.schema();
    let columns = rows.columns().iter().zip(schema.fields());
    let columns = columns.map(|(values, field)| round_column(field.name(), values));
    RecordBatch::try_new(schema.clone(), columns.collect())
}

fn round_column(name: &str, values: &ArrayRef) -> ArrayRef {
    match values.as_any().downcast_ref::<Float64Array>() {
        Some(numbers) if name.ends_with("_pct") => Arc::new(numbers.unary::<_, Float64Type>(round)),
        Some(numbers) if name == "interval_s" => {
            Arc::new(numbers.unary::<_, Float64Type>(|s| if s < SHORT_S { s } else { round(s) }))
        }
        _ => values.clone(),
    }
}

fn round(value: f64) -> f64 {
    (value * STEPS).round() / STEPS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::TableBuilder;

    #[test]
    fn percentages_and_long_intervals_are_rounded_and_null_stays_null() {
        let layout = [("interval_s", "f64"), ("usr_pct", "f64"), ("value", "f64")];
        let layout = layout.map(|(name, kind)| (name.to_string(), kind.to_string())).to_vec();
        let mut builder = TableBuilder::new("t", &layout).unwrap();
        for (interval, percent) in [(1.00049, Some(12.34567)), (0.10049, None)] {
            builder.f64(0, Some(interval));
            builder.f64(1, percent);
            builder.f64(2, Some(0.123456));
            builder.end_row();
        }
        let rows = rounded(&builder.finish().unwrap().unwrap()).unwrap();
        let column = |at: usize| rows.column(at).as_any().downcast_ref::<Float64Array>().unwrap().clone();
        assert_eq!(column(0), Float64Array::from(vec![1.0, 0.10049]));
        assert_eq!(column(1), Float64Array::from(vec![Some(12.346), None]));
        assert_eq!(column(2), Float64Array::from(vec![0.123456, 0.123456]));
    }
}
