//! How exactly a lake keeps figures: no more exactly than anybody measures, for noise does not compress.
//!
//! Intervals of half a second and more are kept to 1 ms, shorter ones to 0.1 ms, which bends a rate by at most 0.1 %; of `session`,
//! whose intervals are summed up and divide nothing, those of 50 ms and more to 1 ms. So rates
//! (`_per_s`, and those of `statistic`) are kept to four digits, and so is since when a session does something, which is what the
//! moment of the sample makes it, to 0.1 ms at the finest. Percentages are kept to three digits, to 0.001 at the finest, which is 10 us
//! of a second; those that are the rest, mostly close to 100, all to 0.001. Everything else is kept as it came: readings are exact.
//!
//! By how much a transaction is older than its statement tells whether a BEGIN came before: a millisecond, which four digits of an
//! age of seconds do not hold. Where it is that little, the statement's age is kept as far from the transaction's as it was.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch};
use arrow_schema::ArrowError;

const SHORT_S: f64 = 0.5;
const SHORT_SAMPLE_S: f64 = 0.05;
/// As of a trace: the interval is what was measured.
const TINY_S: f64 = 0.01;
/// Less between a transaction's beginning and its statement's is none: the two ages are read one after the other.
const APART_S: f64 = 1e-5;
const LITTLE_S: f64 = 0.1;
const RESTS: [&str; 2] = ["idle_pct", "sleep_pct"];
const SINCE: [&str; 2] = ["in_state_s", "transaction_s"];

/// The same rows, rounded.
pub fn rounded(rows: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let schema = rows.schema();
    let short_s = match schema.metadata().get("table").map(String::as_str) {
        Some("session") => SHORT_SAMPLE_S,
        _ => SHORT_S,
    };
    let statements = rows
        .column_by_name("statement_s")
        .map(|ages| beside(ages, rows.column_by_name("transaction_s")));
    let columns = rows.columns().iter().zip(schema.fields());
    let columns = columns.map(|(values, field)| match values.as_primitive_opt::<Float64Type>() {
        Some(numbers) if field.name() == "value" => rates_rounded(numbers, rows.column_by_name("kind")),
        Some(_) if field.name() == "statement_s" => statements.clone().unwrap_or_else(|| values.clone()),
        Some(numbers) if field.name() == "interval_s" => {
            Arc::new(numbers.unary::<_, Float64Type>(|seconds| interval(seconds, short_s)))
        }
        Some(numbers) => round_column(field.name(), numbers),
        None => values.clone(),
    });
    RecordBatch::try_new(schema.clone(), columns.collect())
}

/// The values of `statistic`, of which those of kind `rate` are rounded.
fn rates_rounded(values: &Float64Array, kinds: Option<&ArrayRef>) -> ArrayRef {
    let Some(kinds) = kinds.and_then(|kinds| kinds.as_string_opt::<i32>()) else {
        return Arc::new(values.clone());
    };
    let is_rate = |row: usize| kinds.is_valid(row) && kinds.value(row) == "rate";
    let kept = values.iter().enumerate().map(|(row, value)| match is_rate(row) {
        true => value.map(rate),
        false => value,
    });
    Arc::new(kept.collect::<Float64Array>())
}

/// Ages of statements, each beside that of its transaction.
fn beside(ages: &ArrayRef, transactions: Option<&ArrayRef>) -> ArrayRef {
    let Some(ages) = ages.as_primitive_opt::<Float64Type>() else {
        return ages.clone();
    };
    let transactions = transactions.and_then(|transactions| transactions.as_primitive_opt::<Float64Type>());
    let kept = ages.iter().enumerate().map(|(row, age)| {
        let transaction = transactions
            .filter(|ages| ages.is_valid(row))
            .map(|ages| ages.value(row));
        age.map(|age| transaction.map_or_else(|| since(age), |transaction| statement(age, transaction)))
    });
    Arc::new(kept.collect::<Float64Array>())
}

fn statement(age: f64, transaction: f64) -> f64 {
    let (apart, kept_transaction) = (transaction - age, since(transaction));
    let told = kept_transaction - since(age);
    match (told - apart).abs() > APART_S && apart.abs() >= APART_S && apart.abs() < LITTLE_S {
        true => ((kept_transaction - digits(apart, 2, 5)) * 1e5).round() / 1e5,
        false => since(age),
    }
}

fn round_column(name: &str, values: &Float64Array) -> ArrayRef {
    let round: fn(f64) -> f64 = match name {
        "average_active_sessions" => since,
        _ if SINCE.contains(&name) => since,
        _ if RESTS.contains(&name) => |value| digits(value, 17, 3),
        _ if name.ends_with("_pct") => |value| digits(value, 3, 3),
        _ if name.ends_with("_per_s") => rate,
        _ => return Arc::new(values.clone()),
    };
    Arc::new(values.unary::<_, Float64Type>(round))
}

fn interval(seconds: f64, short_s: f64) -> f64 {
    match seconds {
        ..TINY_S => seconds,
        _ if seconds < short_s => (seconds * 1e4).round() / 1e4,
        _ => (seconds * 1e3).round() / 1e3,
    }
}

fn since(seconds: f64) -> f64 {
    digits(seconds, 4, 4)
}

fn rate(per_s: f64) -> f64 {
    digits(per_s, 4, 12)
}

/// A number to so many digits, of which so many stand behind the point at most.
fn digits(value: f64, count: i32, most_places: i32) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let places = (count - 1 - value.abs().log10().floor() as i32).min(most_places);
    let scale = 10f64.powi(places.abs());
    match places {
        0.. => (value * scale).round() / scale,
        _ => (value / scale).round() * scale,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::TableBuilder;

    #[test]
    fn each_column_is_rounded_as_its_name_says_and_null_stays_null() {
        let names = [
            "interval_s",
            "usr_pct",
            "reads_per_s",
            "statement_s",
            "used_gib",
            "value",
        ];
        let mut layout = names.map(|name| (name.to_string(), "f64".to_string())).to_vec();
        layout.push(("kind".to_string(), "str".to_string()));
        let mut builder = TableBuilder::new("t", &layout).unwrap();
        for (row, kind) in [
            (
                [1.00049, 12.34567, 123456.7, 0.000123, 0.1234567, 0.0001234567],
                Some("rate"),
            ),
            (
                [0.10042, 0.00123, 0.0123456, 3612.34567, 1234567.8, 1234567.8],
                Some("gauge"),
            ),
            ([0.00012345, 100.0, 0.0, 0.0, 0.0, -0.5], None),
        ] {
            for (at, value) in row.into_iter().enumerate() {
                builder.f64(at, Some(value));
            }
            builder.str(names.len(), kind);
            builder.end_row();
        }
        builder.end_row();
        let rows = rounded(&builder.finish().unwrap().unwrap()).unwrap();
        let column = |at: usize| rows.column(at).as_primitive::<Float64Type>().iter().collect::<Vec<_>>();
        for (at, kept) in [
            [1.0, 0.1004, 0.00012345],
            [12.3, 0.001, 100.0],
            [123500.0, 0.01235, 0.0],
            [0.0001, 3612.0, 0.0],
            [0.1234567, 1234567.8, 0.0],
            [0.0001235, 1234567.8, -0.5],
        ]
        .into_iter()
        .enumerate()
        {
            let kept: Vec<_> = kept.into_iter().map(Some).chain([None]).collect();
            assert_eq!(column(at), kept, "{}", names[at]);
        }
    }

    #[test]
    fn what_is_left_of_a_hundred_stays_fine() {
        let kept = round_column("sleep_pct", &Float64Array::from(vec![99.98765, 0.12345]));
        assert_eq!(
            kept.as_primitive::<Float64Type>(),
            &Float64Array::from(vec![99.988, 0.123])
        );
    }

    #[test]
    fn what_a_sample_of_sessions_stands_for_is_kept_to_a_millisecond() {
        let layout = vec![("interval_s".to_string(), "f64".to_string())];
        for (table, kept) in [("session", [0.1, 0.0123]), ("cpu", [0.1004, 0.0123])] {
            let mut builder = TableBuilder::new(table, &layout).unwrap();
            for seconds in [0.10042, 0.01234] {
                builder.f64(0, Some(seconds));
                builder.end_row();
            }
            let rows = rounded(&builder.finish().unwrap().unwrap()).unwrap();
            assert_eq!(
                rows.column(0).as_primitive::<Float64Type>(),
                &Float64Array::from(kept.to_vec())
            );
        }
    }

    #[test]
    fn that_a_begin_came_before_a_statement_is_kept_however_old_both_are() {
        let layout = ["statement_s", "transaction_s"]
            .map(|name| (name.to_string(), "f64".to_string()))
            .to_vec();
        let mut builder = TableBuilder::new("session", &layout).unwrap();
        for (statement, transaction) in [
            (21.9121567, Some(21.9134567)),
            (21.912345, Some(21.912345)),
            (3600.2, Some(3612.34)),
            (21.9121567, None),
        ] {
            builder.f64(0, Some(statement));
            builder.f64(1, transaction);
            builder.end_row();
        }
        let rows = rounded(&builder.finish().unwrap().unwrap()).unwrap();
        let column = |at: usize| rows.column(at).as_primitive::<Float64Type>().iter().collect::<Vec<_>>();
        assert_eq!(column(0), [21.9087, 21.91, 3600.0, 21.91].map(Some));
        assert_eq!(column(1), [Some(21.91), Some(21.91), Some(3612.0), None]);
    }

    #[test]
    fn what_is_no_number_stays_what_it_is() {
        assert!(rate(f64::NAN).is_nan());
        assert_eq!(rate(f64::INFINITY), f64::INFINITY);
        assert_eq!(since(-0.00004), 0.0);
    }
}
