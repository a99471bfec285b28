//! A column of a row group, in whichever of Parquet's encodings takes least room.
//!
//! Which one that is depends on what a host did. A dictionary suits what takes few values again and again. The bytes of
//! numbers apart, or the differences between them, suit what is another each time. As it stands suits the times of
//! process after process: the same long sequence each time, which the compressor finds only where every value takes
//! whole bytes. Nobody can know it beforehand, so each is tried; most columns do not change, and are tried once.
//! All are encodings that readers of Parquet have known for years.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float64Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Schema};
use bytes::Bytes;
use parquet::basic::Encoding;
use parquet::column::writer::{ColumnCloseResult, get_column_writer, get_typed_column_writer_mut};
use parquet::data_type::{self as stored, ByteArray};
use parquet::errors::Result;
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterPropertiesPtr};
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::{ColumnDescPtr, ColumnPath};

const DICTIONARY_BYTES: usize = 64 << 10;
/// A chunk of 64 Ki equal values takes some 60 bytes; below this nothing is left to be gained.
const SETTLED_BYTES: usize = 128;

/// What is tried: a dictionary first, as the properties of the file say too.
pub struct Encodings([WriterPropertiesPtr; 3]);

impl Encodings {
    /// Of a file with these columns, and what else `common` says of it.
    pub fn of(schema: &Schema, common: &WriterProperties) -> Self {
        let with = |change: &dyn Fn(WriterPropertiesBuilder) -> WriterPropertiesBuilder| {
            Arc::new(change(common.clone().into_builder()).build())
        };
        Self([
            with(&|builder| by_type(builder.set_dictionary_page_size_limit(DICTIONARY_BYTES), schema)),
            with(&|builder| by_type(builder.set_dictionary_enabled(false), schema)),
            with(&|builder| builder.set_dictionary_enabled(false).set_encoding(Encoding::PLAIN)),
        ])
    }

    pub fn of_the_file(&self) -> WriterPropertiesPtr {
        self.0[0].clone()
    }
}

/// The encoding of values that are another each time, also where a dictionary has become too large.
fn by_type(builder: WriterPropertiesBuilder, schema: &Schema) -> WriterPropertiesBuilder {
    schema.fields().iter().fold(builder, |builder, field| {
        let encoding = match field.data_type() {
            DataType::Utf8 => Encoding::DELTA_BYTE_ARRAY,
            DataType::Float64 => Encoding::BYTE_STREAM_SPLIT,
            _ => Encoding::DELTA_BINARY_PACKED,
        };
        builder.set_column_encoding(ColumnPath::from(field.name().as_str()), encoding)
    })
}

/// A column of a row group as it stands in a file, and what the file's footer says of it.
pub struct Chunk {
    pub bytes: Bytes,
    pub close: ColumnCloseResult,
}

impl Chunk {
    /// A column's values in an order given by rows.
    pub fn smallest(column: &ColumnDescPtr, values: &ArrayRef, order: &[u32], encodings: &Encodings) -> Result<Self> {
        match values.data_type() {
            DataType::Float64 => of_numbers::<Float64Type, stored::DoubleType>(column, values, order, encodings),
            DataType::Int64 => of_numbers::<Int64Type, stored::Int64Type>(column, values, order, encodings),
            DataType::Timestamp(..) => {
                of_numbers::<TimestampMicrosecondType, stored::Int64Type>(column, values, order, encodings)
            }
            _ => of_texts(column, values, order, encodings),
        }
    }
}

fn of_numbers<A, P>(column: &ColumnDescPtr, values: &ArrayRef, order: &[u32], encodings: &Encodings) -> Result<Chunk>
where
    A: ArrowPrimitiveType,
    P: stored::DataType<T = A::Native>,
{
    let numbers = values.as_primitive::<A>();
    of_values::<P>(column, values, order, encodings, |row| numbers.value(row))
}

fn of_texts(column: &ColumnDescPtr, values: &ArrayRef, order: &[u32], encodings: &Encodings) -> Result<Chunk> {
    let texts = values.as_string::<i32>();
    let bytes = Bytes::from_owner(texts.values().clone());
    let text = |row: usize| {
        let (start, end) = (texts.value_offsets()[row], texts.value_offsets()[row + 1]);
        ByteArray::from(bytes.slice(start as usize..end as usize))
    };
    of_values::<stored::ByteArrayType>(column, values, order, encodings, text)
}

fn of_values<P: stored::DataType>(
    column: &ColumnDescPtr,
    values: &ArrayRef,
    order: &[u32],
    Encodings([dictionary, others @ ..]): &Encodings,
    value: impl Fn(usize) -> P::T,
) -> Result<Chunk> {
    let present = |row: &u32| values.is_valid(*row as usize);
    let levels: Vec<i16> = order.iter().map(|row| i16::from(present(row))).collect();
    let chosen = order.iter().filter(|row| present(row));
    let chosen: Vec<P::T> = chosen.map(|row| value(*row as usize)).collect();
    let mut least = encoded::<P>(column, &chosen, &levels, dictionary)?;
    if least.bytes.len() <= SETTLED_BYTES {
        return Ok(least);
    }
    for encoding in others {
        let other = encoded::<P>(column, &chosen, &levels, encoding)?;
        if other.bytes.len() < least.bytes.len() {
            least = other;
        }
    }
    Ok(least)
}

fn encoded<P: stored::DataType>(
    column: &ColumnDescPtr,
    values: &[P::T],
    levels: &[i16],
    properties: &WriterPropertiesPtr,
) -> Result<Chunk> {
    let mut bytes = TrackedWrite::new(Vec::new());
    let pages = SerializedPageWriter::new(&mut bytes);
    let mut writer = get_column_writer(column.clone(), properties.clone(), Box::new(pages));
    get_typed_column_writer_mut::<P>(&mut writer).write_batch(values, Some(levels), None)?;
    let close = writer.close()?;
    Ok(Chunk {
        bytes: bytes.into_inner()?.into(),
        close,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{Int64Array, StringArray};
    use arrow_schema::Field;
    use parquet::basic::{Compression, Repetition, Type as Physical, ZstdLevel};
    use parquet::schema::types::{SchemaDescriptor, Type};

    fn chosen(values: ArrayRef, physical: Physical) -> (Vec<Encoding>, usize) {
        let schema = Schema::new(vec![Field::new("c", values.data_type().clone(), true)]);
        let column = Type::primitive_type_builder("c", physical).with_repetition(Repetition::OPTIONAL);
        let group = Type::group_type_builder("table").with_fields(vec![Arc::new(column.build().unwrap())]);
        let descriptor = SchemaDescriptor::new(Arc::new(group.build().unwrap()));
        let common = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(6).unwrap()))
            .set_data_page_row_count_limit(1 << 17)
            .build();
        let encodings = Encodings::of(&schema, &common);
        let order: Vec<u32> = (0..values.len() as u32).collect();
        let chunk = Chunk::smallest(&descriptor.column(0), &values, &order, &encodings).unwrap();
        assert_eq!(chunk.close.rows_written, values.len() as u64);
        assert_eq!(chunk.close.bytes_written, chunk.bytes.len() as u64);
        (chunk.close.metadata.encodings().collect(), chunk.bytes.len())
    }

    /// Moments a second apart, but for what chance adds to each: some 20 bits that nothing foretells.
    fn moments(count: i64) -> impl Iterator<Item = i64> {
        (0..count).map(|at| at * 1_000_000 + at * at * 7_919 % 900_001)
    }

    #[test]
    fn the_times_of_process_after_process_are_kept_once() {
        let once: ArrayRef = Arc::new(Int64Array::from_iter_values(moments(330)));
        let (_, bytes_once) = chosen(once, Physical::INT64);
        let all: ArrayRef = Arc::new(Int64Array::from_iter_values((0..200).flat_map(|_| moments(330))));
        let (encodings, bytes) = chosen(all, Physical::INT64);
        assert!(!encodings.contains(&Encoding::RLE_DICTIONARY), "{encodings:?}");
        assert!(bytes < 6 * bytes_once, "{bytes} of all, {bytes_once} of one");
    }

    #[test]
    fn few_texts_in_no_order_stand_in_a_dictionary() {
        let words = ["CPU", "WALWrite", "tuple", "transactionid", "DataFileRead"];
        let texts = moments(20_000).map(|at| words[(at / 7 % 5) as usize]);
        let (encodings, _) = chosen(Arc::new(StringArray::from_iter_values(texts)), Physical::BYTE_ARRAY);
        assert!(encodings.contains(&Encoding::RLE_DICTIONARY), "{encodings:?}");
    }

    #[test]
    fn what_grows_evenly_is_kept_as_differences() {
        let numbers = Int64Array::from_iter_values((0..60_000).map(|at| at * 8_192));
        let (encodings, _) = chosen(Arc::new(numbers), Physical::INT64);
        assert!(encodings.contains(&Encoding::DELTA_BINARY_PACKED), "{encodings:?}");
    }

    #[test]
    fn a_column_without_any_value_takes_next_to_nothing() {
        let (_, bytes) = chosen(Arc::new(Int64Array::new_null(60_000)), Physical::INT64);
        assert!(bytes <= SETTLED_BYTES, "{bytes}");
    }
}
