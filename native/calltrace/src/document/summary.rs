//! Summaries as rows of the document.

use memchr::memchr_iter;

use super::report::{About, Call, Totals, by_time};
use crate::names;
use crate::totals;

/// What there is to say of a file that is no trace of single calls.
pub fn about(text: &[u8], files: Vec<String>, tool: &'static str, kind: &'static str, calls: u64) -> About {
    About {
        files,
        tool,
        kind,
        bytes: text.len() as u64,
        lines: memchr_iter(b'\n', text).count() as u64,
        calls,
        ..About::default()
    }
}

/// The rows of a summary by call, those of several threads added up.
pub fn calls(totals: &totals::Totals) -> Vec<Call> {
    let mut rows: Vec<Call> = Vec::new();
    for row in &totals.rows {
        let at = rows.iter().position(|known| known.call == row.call).unwrap_or_else(|| {
            rows.push(Call {
                call: row.call.clone(),
                class: names::class(names::index(row.call.as_bytes())).words(),
                ..Call::default()
            });
            rows.len() - 1
        });
        let sum = &mut rows[at];
        sum.count += row.calls;
        sum.errors += row.errors.unwrap_or(0);
        sum.seconds = row
            .seconds
            .map(|seconds| seconds + sum.seconds.unwrap_or(0.0))
            .or(sum.seconds);
        sum.max_s = row.max_s.map(|max_s| max_s.max(sum.max_s.unwrap_or(0.0))).or(sum.max_s);
    }
    let total_s: f64 = rows.iter().filter_map(|row| row.seconds).sum();
    for row in &mut rows {
        row.share = row.seconds.filter(|_| total_s > 0.0).map(|seconds| seconds / total_s);
        row.mean_s = row
            .seconds
            .filter(|_| row.count > 0)
            .map(|seconds| seconds / row.count as f64);
    }
    by_time(&mut rows);
    rows
}

pub fn sums(totals: &totals::Totals) -> Totals {
    let timed = totals.rows.iter().any(|row| row.seconds.is_some());
    Totals {
        elapsed_s: totals.elapsed_s,
        in_calls_s: timed.then(|| totals.rows.iter().filter_map(|row| row.seconds).sum()),
        outside_calls_s: None,
        cpu_s: totals.system_s,
        user_s: totals.user_s,
        errors: totals.rows.iter().filter_map(|row| row.errors).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_of_several_threads_are_added_up() {
        let row = |call: &str, calls, seconds| totals::TotalRow {
            call: call.to_owned(),
            calls,
            seconds: Some(seconds),
            ..totals::TotalRow::default()
        };
        let summary = totals::Totals {
            tool: crate::layout::Tool::PerfTrace,
            rows: vec![row("read", 2, 0.5), row("futex", 1, 3.0), row("read", 2, 0.5)],
            elapsed_s: None,
            user_s: None,
            system_s: None,
        };
        let rows = calls(&summary);
        let told: Vec<(&str, u64, Option<f64>)> =
            rows.iter().map(|row| (&row.call[..], row.count, row.mean_s)).collect();
        assert_eq!(told, [("futex", 1, Some(3.0)), ("read", 4, Some(0.25))]);
        assert_eq!(rows[0].share, Some(0.75));
        assert_eq!(sums(&summary).in_calls_s, Some(4.0));
    }
}
