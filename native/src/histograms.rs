//! Histograms that tracers print: the crate `calltrace` reads them. See `doctord.read.tracing.histogram_text`.

use ::calltrace::quantize;
use pyo3::prelude::*;

type Printed = (String, Option<String>, Vec<(Option<f64>, Option<f64>, u64)>);

/// The histograms of a text, and the numbers of its lines, from 1, that are no part of one.
#[pyfunction]
pub fn histograms(text: &str) -> (Vec<Printed>, Vec<usize>) {
    let (found, unread) = quantize::read_telling(text.as_bytes());
    let printed = found.into_iter().map(|histogram| {
        let buckets = histogram.buckets.iter();
        let edges = buckets.map(|bucket| (bucket.low, bucket.high, bucket.count));
        (histogram.key, histogram.unit, edges.collect())
    });
    (printed.collect(), unread)
}
