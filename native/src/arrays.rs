//! Arrays of the four types that columns have: put one after the other, compared, and rows of them picked.
//!
//! `arrow-select` and `arrow-cmp` do the same for all types that Arrow knows, and to compile them takes as long as the rest
//! of this crate: docs/decisions/0011.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow_array::builder::{PrimitiveBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float64Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, TimeUnit};

/// Calls a function that is generic over the primitive type of an array, or, if it is of texts, another.
macro_rules! by_type {
    ($data_type:expr, $primitive:ident($($argument:expr),*), $text:expr) => {
        match $data_type {
            DataType::Float64 => Ok($primitive::<Float64Type>($($argument),*)),
            DataType::Int64 => Ok($primitive::<Int64Type>($($argument),*)),
            DataType::Timestamp(TimeUnit::Microsecond, _) => Ok($primitive::<TimestampMicrosecondType>($($argument),*)),
            DataType::Utf8 => $text,
            other => Err(unknown_type(other)),
        }
    };
}

/// The error for what no table has.
pub fn unknown_type(data_type: &DataType) -> ArrowError {
    ArrowError::SchemaError(format!("no table has a column of type {data_type}"))
}

/// Arrays of one type as one array. An error where the types differ or there is no array.
pub fn concat(parts: &[ArrayRef]) -> Result<ArrayRef, ArrowError> {
    let data_type = parts.first().map_or(&DataType::Null, |first| first.data_type());
    if let [only] = parts {
        return Ok(only.clone());
    }
    if let Some(other) = parts.iter().find(|part| part.data_type() != data_type) {
        return Err(unknown_type(other.data_type()));
    }
    by_type!(data_type, concat_primitives(parts), concat_texts(parts))
}

fn concat_primitives<T: ArrowPrimitiveType>(parts: &[ArrayRef]) -> ArrayRef {
    let count = parts.iter().map(|part| part.len()).sum();
    let mut builder = PrimitiveBuilder::<T>::with_capacity(count).with_data_type(parts[0].data_type().clone());
    for part in parts {
        builder.append_array(part.as_primitive());
    }
    Arc::new(builder.finish())
}

fn concat_texts(parts: &[ArrayRef]) -> Result<ArrayRef, ArrowError> {
    let bytes = |part: &ArrayRef| {
        let offsets = part.as_string::<i32>().value_offsets();
        (offsets[offsets.len() - 1] - offsets[0]) as usize
    };
    let (count, bytes) = parts
        .iter()
        .fold((0, 0), |sum, part| (sum.0 + part.len(), sum.1 + bytes(part)));
    let mut builder = StringBuilder::with_capacity(count, bytes);
    for part in parts {
        builder.append_array(part.as_string())?;
    }
    Ok(Arc::new(builder.finish()))
}

/// Batches of one schema as one batch. An error where there is none.
pub fn concat_batches(batches: &[RecordBatch]) -> Result<RecordBatch, ArrowError> {
    let schema = batches.first().map(RecordBatch::schema);
    let schema = schema.ok_or_else(|| ArrowError::SchemaError("no rows to put together".to_string()))?;
    let columns = (0..schema.fields().len())
        .map(|column| {
            let parts: Vec<_> = batches.iter().map(|batch| batch.column(column).clone()).collect();
            concat(&parts)
        })
        .collect::<Result<_, _>>()?;
    RecordBatch::try_new(schema, columns)
}

/// These rows of a batch, by number, in this order.
pub fn take(batch: &RecordBatch, rows: &[u64]) -> Result<RecordBatch, ArrowError> {
    let columns = batch
        .columns()
        .iter()
        .map(|values| {
            by_type!(
                values.data_type(),
                take_primitives(values, rows),
                Ok(take_texts(values, rows))
            )
        })
        .collect::<Result<_, _>>()?;
    RecordBatch::try_new(batch.schema(), columns)
}

fn take_primitives<T: ArrowPrimitiveType>(values: &ArrayRef, rows: &[u64]) -> ArrayRef {
    let mut builder = PrimitiveBuilder::<T>::with_capacity(rows.len()).with_data_type(values.data_type().clone());
    let values = values.as_primitive::<T>();
    for row in rows.iter().map(|row| *row as usize) {
        builder.append_option(values.is_valid(row).then(|| values.value(row)));
    }
    Arc::new(builder.finish())
}

fn take_texts(values: &ArrayRef, rows: &[u64]) -> ArrayRef {
    let values = values.as_string::<i32>();
    let mut builder = StringBuilder::new();
    for row in rows.iter().map(|row| *row as usize) {
        builder.append_option(values.is_valid(row).then(|| values.value(row)));
    }
    Arc::new(builder.finish())
}

/// How two rows of an array compare: an absent value comes before all others.
pub type Comparison<'a> = Box<dyn Fn(u32, u32) -> Ordering + 'a>;

/// The order of the rows of an array.
pub fn comparison(values: &ArrayRef) -> Result<Comparison<'_>, ArrowError> {
    by_type!(
        values.data_type(),
        compare_primitives(values),
        Ok(compare_texts(values))
    )
}

fn compare_primitives<T: ArrowPrimitiveType>(values: &ArrayRef) -> Comparison<'_> {
    use arrow_array::ArrowNativeTypeOp;
    let values = values.as_primitive::<T>();
    let value = |row: u32| values.is_valid(row as usize).then(|| values.value(row as usize));
    Box::new(move |a, b| match (value(a), value(b)) {
        (Some(a), Some(b)) => a.compare(b),
        (a, b) => a.is_some().cmp(&b.is_some()),
    })
}

fn compare_texts(values: &ArrayRef) -> Comparison<'_> {
    let values = values.as_string::<i32>();
    let value = |row: u32| values.is_valid(row as usize).then(|| values.value(row as usize));
    Box::new(move |a, b| value(a).cmp(&value(b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{BooleanArray, Float64Array, Int64Array, StringArray, TimestampMicrosecondArray};

    fn columns() -> Vec<ArrayRef> {
        vec![
            Arc::new(Float64Array::from(vec![Some(2.0), None, Some(-1.0), Some(2.0)])),
            Arc::new(Int64Array::from(vec![Some(2), None, Some(-1), Some(2)])),
            Arc::new(StringArray::from(vec![Some("b"), None, Some(""), Some("b")])),
            Arc::new(TimestampMicrosecondArray::from(vec![Some(2), None, Some(-1), Some(2)]).with_timezone("UTC")),
        ]
    }

    fn batch(columns: Vec<ArrayRef>) -> RecordBatch {
        RecordBatch::try_from_iter(["f", "i", "s", "t"].into_iter().zip(columns)).unwrap()
    }

    #[test]
    fn parts_of_a_batch_put_together_are_the_batch() {
        let whole = batch(columns());
        for cut in 0..=4 {
            assert_eq!(
                concat_batches(&[whole.slice(0, cut), whole.slice(cut, 4 - cut)]).unwrap(),
                whole
            );
        }
        assert_eq!(take(&whole, &[0, 1, 2, 3]).unwrap(), whole);
        assert_eq!(
            take(&whole.slice(1, 3), &[2, 0, 1]).unwrap(),
            take(&whole, &[3, 1, 2]).unwrap()
        );
    }

    #[test]
    fn absent_comes_before_all_values() {
        for values in columns() {
            let compare = comparison(&values).unwrap();
            let mut rows = [0, 1, 2, 3];
            rows.sort_by(|a, b| compare(*a, *b));
            assert_eq!(rows, [1, 2, 0, 3], "{}", values.data_type());
        }
    }

    #[test]
    fn other_types_are_refused() {
        let other: ArrayRef = Arc::new(BooleanArray::from(vec![true]));
        assert!(concat(&[other.clone(), other.clone()]).is_err());
        assert!(concat(&[other.clone(), columns().remove(0)]).is_err());
        assert!(comparison(&other).is_err());
        assert!(concat(&[]).is_err());
    }
}
