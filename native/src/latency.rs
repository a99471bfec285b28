//! Latency maps of single waits: a histogram for each interval, of (time, latency) pairs in any order.
//!
//! Buckets are log-linear, as in HdrHistogram (G. Tene): 32 steps per power of two of 1/1024 of a microsecond, so that a
//! bucket is at most 1/32 wide and powers of two of microseconds are edges. Beside its count each bucket keeps the
//! exact sum of its latencies.

use std::slice;

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;

const STEPS_LOG2: u32 = 5;
const STEPS: usize = 1 << STEPS_LOG2;
const TICKS_PER_US: f64 = 1024.0;
/// Buckets up to 2^63 ticks: no latency overflows.
const BUCKETS: usize = (64 - STEPS_LOG2 as usize + 1) * STEPS;
/// Beyond it the times make no map that anybody could look at, and the memory would not do.
const MOST_COLUMNS: i64 = 1_000_000;

#[derive(Clone, Copy, Default)]
struct Cell {
    count: u64,
    sum_ns: u64,
}

type Column = Box<[Cell; BUCKETS]>;

/// Column of the grid, lower and upper edge of the bucket, waits, and their time; all in microseconds.
type Row = (i64, f64, f64, u64, f64);

/// A grid of columns of equal width in time. A column holds what lies after its begin and at most at its end.
#[pyclass(module = "doctord._native")]
pub struct LatencyGrid {
    width_us: i64,
    /// End of the first column.
    first_end_us: i64,
    columns: Vec<Option<Column>>,
    refused: u64,
}

#[pymethods]
impl LatencyGrid {
    #[new]
    fn new(column_us: i64) -> PyResult<Self> {
        if column_us <= 0 {
            return Err(PyValueError::new_err("a column must last longer than nothing"));
        }
        Ok(Self {
            width_us: column_us,
            first_end_us: 0,
            columns: Vec::new(),
            refused: 0,
        })
    }

    /// Add waits: when each ended (microseconds), and how long it took (nanoseconds).
    fn add(&mut self, py: Python<'_>, times_us: PyBuffer<i64>, latencies_ns: PyBuffer<i64>) -> PyResult<()> {
        let (times, latencies) = (values(py, &times_us)?, values(py, &latencies_ns)?);
        if times.len() != latencies.len() {
            return Err(PyValueError::new_err(format!(
                "{} times, but {} latencies",
                times.len(),
                latencies.len()
            )));
        }
        self.fit(times)?;
        self.fill(times, latencies)?;
        Ok(())
    }

    /// Negative latencies that were left out.
    #[getter]
    fn refused(&self) -> u64 {
        self.refused
    }

    /// The cells that hold something, by column (its end, microseconds) and latency. A column in between that holds nothing
    /// has one cell of the first bucket that counts none.
    fn cells(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        let begin = self.columns.iter().position(Option::is_some).unwrap_or(0);
        for (number, column) in self.columns.iter().enumerate().skip(begin) {
            let end_us = self.first_end_us + number as i64 * self.width_us;
            match column {
                Some(cells) => rows.extend(filled(end_us, cells)),
                None => rows.push((end_us, 0.0, 1.0 / TICKS_PER_US, 0, 0.0)),
            }
        }
        rows
    }
}

impl LatencyGrid {
    /// Make room for columns from the first time to the last.
    fn fit(&mut self, times: &[i64]) -> PyResult<()> {
        let (mut low, mut high) = (i64::MAX, i64::MIN);
        for time in times {
            low = low.min(*time);
            high = high.max(*time);
        }
        if low > high {
            return Ok(());
        }
        if self.columns.is_empty() {
            self.first_end_us = self.end_of(low)?;
        }
        let before = (self.first_end_us - self.end_of(low)?).max(0) / self.width_us;
        let needed = (self.end_of(high)? - self.first_end_us) / self.width_us + 1 + before;
        if needed > MOST_COLUMNS {
            return Err(PyOverflowError::new_err(format!(
                "the times span {needed} columns of {} us: take wider ones",
                self.width_us
            )));
        }
        if before > 0 {
            self.columns.splice(0..0, (0..before).map(|_| None));
            self.first_end_us -= before * self.width_us;
        }
        if needed as usize > self.columns.len() {
            self.columns.resize_with(needed as usize, || None);
        }
        Ok(())
    }

    /// The end of the column that a time lies in: the next multiple of the width.
    fn end_of(&self, time_us: i64) -> PyResult<i64> {
        let column = (i128::from(time_us) - 1).div_euclid(i128::from(self.width_us)) + 1;
        i64::try_from(column * i128::from(self.width_us))
            .map_err(|_| PyOverflowError::new_err(format!("{time_us} us is no time")))
    }

    fn fill(&mut self, times: &[i64], latencies: &[i64]) -> PyResult<()> {
        let mut at = 0;
        while at < times.len() {
            let end_us = self.end_of(times[at])?;
            let begin_us = end_us.saturating_sub(self.width_us);
            // Waits mostly come in order of time: many in a row are of one column.
            let run = times[at..]
                .iter()
                .position(|time| *time <= begin_us || *time > end_us)
                .unwrap_or(times.len() - at);
            let number = ((end_us - self.first_end_us) / self.width_us) as usize;
            let column = self.columns[number].get_or_insert_with(empty);
            self.refused += take(column, &latencies[at..at + run]);
            at += run;
        }
        Ok(())
    }
}

/// The numbers of a buffer of Python's, where they lie.
fn values<'a>(_py: Python<'a>, buffer: &'a PyBuffer<i64>) -> PyResult<&'a [i64]> {
    if !buffer.is_c_contiguous() {
        return Err(PyValueError::new_err(
            "times and latencies must lie in memory without gaps",
        ));
    }
    if buffer.item_count() == 0 {
        return Ok(&[]);
    }
    // SAFETY: `PyBuffer<i64>` has checked the type and the alignment of the items, they lie without gaps, and the buffer
    // keeps them alive. Nobody changes them: the interpreter is held, and not called until the slice is done with.
    Ok(unsafe { slice::from_raw_parts(buffer.buf_ptr().cast::<i64>(), buffer.item_count()) })
}

fn empty() -> Column {
    Box::new([Cell::default(); BUCKETS])
}

/// Put latencies into a column; how many were negative.
fn take(column: &mut [Cell; BUCKETS], latencies: &[i64]) -> u64 {
    let mut refused = 0;
    for latency in latencies {
        let Ok(latency_ns) = u64::try_from(*latency) else {
            refused += 1;
            continue;
        };
        let cell = &mut column[bucket(latency_ns)];
        cell.count += 1;
        cell.sum_ns = cell.sum_ns.saturating_add(latency_ns);
    }
    refused
}

/// Number of the bucket that a latency falls into.
pub(crate) fn bucket(latency_ns: u64) -> usize {
    // 1024 / 1000, and no overflow where that would be one: such a latency is of centuries.
    let ticks = latency_ns.saturating_mul(128) / 125;
    let exponent = 63 - (ticks | 1).leading_zeros();
    let shift = exponent.saturating_sub(STEPS_LOG2);
    (shift as usize) * STEPS + (ticks >> shift) as usize
}

/// Lower and upper edge of a bucket, microseconds.
pub(crate) fn edges_us(bucket: usize) -> (f64, f64) {
    let shift = (bucket / STEPS).saturating_sub(1);
    let low = (bucket - shift * STEPS) as f64 * (1u64 << shift) as f64;
    (low / TICKS_PER_US, (low + (1u64 << shift) as f64) / TICKS_PER_US)
}

fn filled(end_us: i64, cells: &[Cell; BUCKETS]) -> impl Iterator<Item = Row> {
    cells
        .iter()
        .enumerate()
        .filter(|(_, cell)| cell.count > 0)
        .map(move |(number, cell)| {
            let (low, high) = edges_us(number);
            (end_us, low, high, cell.count, cell.sum_ns as f64 / 1e3)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_latency_lies_between_the_edges_of_its_bucket() {
        for power in 0..50 {
            for latency_ns in [(1u64 << power) - 1, 1 << power, (1 << power) + (1 << power) / 3] {
                let (low, high) = edges_us(bucket(latency_ns));
                let us = (latency_ns * 128 / 125) as f64 / TICKS_PER_US;
                assert!(low <= us && us < high, "{latency_ns} ns: {low} to {high} us");
            }
        }
    }

    #[test]
    fn no_latency_leaves_the_buckets() {
        assert!(bucket(u64::MAX) < BUCKETS);
        assert!(bucket(i64::MAX as u64) < BUCKETS);
        assert_eq!(bucket(0), 0);
    }

    #[test]
    fn powers_of_two_of_microseconds_are_edges() {
        let edges: Vec<f64> = (0..BUCKETS).map(|number| edges_us(number).0).collect();
        for power in -5..40 {
            assert!(edges.contains(&2f64.powi(power)), "2^{power}");
        }
    }

    #[test]
    fn buckets_follow_one_another() {
        for number in 1..BUCKETS {
            assert_eq!(edges_us(number - 1).1, edges_us(number).0);
        }
    }
}
