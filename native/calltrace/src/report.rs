//! The sums of a trace as rows of the document.

use std::cmp::Ordering;

use serde::Serialize;

use crate::digest::Digest;
use crate::digest::stacks::StackSum;
use crate::document::Reading;
use crate::journal::{End, Process, ProcessId};
use crate::layout::Clock;
use crate::profile::{CallSum, ProcessSum, Sizes, TargetSum};

/// Of processes and of targets the document holds the first so many, by time.
const MOST_ROWS: usize = 100;

#[derive(Debug, Default, Serialize)]
pub struct Trace {
    pub files: Vec<String>,
    pub tool: &'static str,
    pub kind: &'static str,
    pub clock: Option<&'static str>,
    /// UTC, ISO 8601; null when the stamps do not say.
    pub began: Option<String>,
    pub seconds: Option<f64>,
    pub bytes: u64,
    pub lines: u64,
    pub calls: u64,
    pub processes: usize,
    pub elapsed_is: Option<&'static str>,
    pub has_cpu: bool,
    pub calls_without_detail: u64,
    pub gaps: usize,
    pub gap_seconds: f64,
    /// Lines whose stamp was before that of their process's line before.
    pub backwards: u64,
    pub skipped: Vec<Skip>,
    /// Files that could not be read to their end, in words.
    pub damage: Vec<String>,
}

#[derive(Debug, Default, Serialize)]
pub struct Totals {
    /// As a summary gives it; null for a trace of single calls.
    pub elapsed_s: Option<f64>,
    pub in_calls_s: Option<f64>,
    pub outside_calls_s: Option<f64>,
    pub cpu_s: Option<f64>,
    pub user_s: Option<f64>,
    pub errors: u64,
}

#[derive(Debug, Serialize)]
pub struct Stack {
    pub call: String,
    pub frames: Vec<String>,
    pub count: u64,
    pub seconds: f64,
}

#[derive(Debug, Serialize)]
pub struct Skip {
    pub why: &'static str,
    pub lines: u64,
    pub first_line: Option<u64>,
    pub example: String,
}

#[derive(Debug, Default, Serialize)]
pub struct Call {
    pub call: String,
    pub class: &'static str,
    pub count: u64,
    pub errors: u64,
    pub seconds: Option<f64>,
    pub cpu_s: Option<f64>,
    /// Of the time in all calls.
    pub share: Option<f64>,
    pub mean_s: Option<f64>,
    pub p50_s: Option<f64>,
    pub p95_s: Option<f64>,
    pub p99_s: Option<f64>,
    pub max_s: Option<f64>,
}

#[derive(Debug, Serialize)]
pub struct CallError {
    pub call: String,
    pub error: String,
    pub count: u64,
    pub seconds: f64,
}

#[derive(Debug, Serialize)]
pub struct ProcessRow {
    pub pid: u32,
    pub thread: Option<u32>,
    pub parent: Option<u32>,
    pub role: String,
    pub program: Option<String>,
    pub began_s: f64,
    pub ended_s: Option<f64>,
    pub end: Option<String>,
    pub calls: u64,
    pub errors: u64,
    pub in_calls_s: f64,
    pub outside_calls_s: Option<f64>,
    pub unseen_s: f64,
    pub cpu_s: Option<f64>,
    pub signals: u64,
}

#[derive(Debug, Serialize)]
pub struct SizeBucket {
    pub le_bytes: u64,
    pub calls: u64,
    pub bytes: u64,
}

#[derive(Debug, Default, Serialize)]
pub struct SizeTables {
    pub read: Vec<SizeBucket>,
    pub write: Vec<SizeBucket>,
}

pub fn trace(digest: &Digest, reading: Reading) -> Trace {
    let journal = &digest.journal;
    let clock = journal.layout.clock;
    let span = digest.span_ns.filter(|_| clock != Clock::None);
    let gaps = || journal.processes.iter().flat_map(|process| &process.gaps);
    Trace {
        files: reading.files,
        tool: journal.layout.tool.name(),
        kind: "calls",
        clock: clock.words(),
        began: digest.origin_ns().filter(|_| clock == Clock::Epoch).map(iso_8601),
        seconds: span.map(|(first_ns, last_ns)| (last_ns - first_ns) as f64 / 1e9),
        bytes: reading.bytes,
        lines: digest.lines,
        calls: digest.profile.calls.iter().map(|call| call.count).sum(),
        processes: journal.processes.len(),
        elapsed_is: elapsed_is(digest),
        has_cpu: journal.layout.has_cpu,
        calls_without_detail: journal.calls_without_detail,
        gaps: gaps().count(),
        gap_seconds: gaps().fold(0.0, |sum, &(_, seconds)| sum + f64::from(seconds)),
        backwards: digest.backwards,
        skipped: skipped(digest),
        damage: reading.damage,
    }
}

/// UTC of nanoseconds since 1970, to the microsecond. The calendar is H. Hinnant's "days to civil" (2013).
fn iso_8601(epoch_ns: i64) -> String {
    let seconds = epoch_ns.div_euclid(1_000_000_000);
    let (days, of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    let microsecond = epoch_ns.rem_euclid(1_000_000_000) / 1000;
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{microsecond:06}Z")
}

/// Sums over all calls and processes.
pub fn totals(digest: &Digest) -> Totals {
    let processes = &digest.profile.processes;
    let timed = digest.profile.calls.iter().any(|call| call.timed > 0);
    let has_cpu = digest.journal.layout.has_cpu;
    Totals {
        elapsed_s: None,
        in_calls_s: timed.then(|| processes.iter().map(|sum| sum.in_calls_s).sum()),
        outside_calls_s: knows_outside(digest).then(|| processes.iter().map(|sum| sum.outside_calls_s).sum()),
        cpu_s: has_cpu.then(|| processes.iter().map(|sum| sum.cpu_s).sum()),
        user_s: None,
        errors: processes.iter().map(|sum| sum.errors).sum(),
    }
}

/// Whether time outside calls can be told from time in them.
fn knows_outside(digest: &Digest) -> bool {
    elapsed_is(digest) == Some("measured") && digest.journal.layout.clock != Clock::None
}

/// Calls by the stacks they were made from, by time; the first `MOST_ROWS`.
pub fn stacks(digest: &Digest) -> Vec<Stack> {
    let mut sums: Vec<&StackSum> = digest.stacks.sums.values().collect();
    sums.sort_by(|a, b| b.seconds.total_cmp(&a.seconds).then_with(|| a.frames.cmp(&b.frames)));
    let row = |sum: &StackSum| Stack {
        call: digest.journal.calls[sum.call as usize].name.clone(),
        frames: sum.frames.clone(),
        count: sum.count,
        seconds: sum.seconds,
    };
    sums.into_iter().take(MOST_ROWS).map(row).collect()
}

fn skipped(digest: &Digest) -> Vec<Skip> {
    let row = |(reason, skipped): (&crate::event::Reason, &crate::digest::Skipped)| Skip {
        why: reason.words(),
        lines: skipped.lines,
        first_line: skipped.first_line,
        example: skipped.example.clone(),
    };
    digest.skipped.iter().map(row).collect()
}

/// How most durations became known.
fn elapsed_is(digest: &Digest) -> Option<&'static str> {
    let elapsed = digest.elapsed;
    [
        (elapsed.measured, "measured"),
        (elapsed.since_last_event, "since the last event"),
        (elapsed.until_next_call, "until the next call"),
    ]
    .into_iter()
    .filter(|&(count, _)| count > 0)
    .max_by_key(|&(count, _)| count)
    .map(|(_, words)| words)
}

/// Calls by time, all of them.
pub fn calls(digest: &Digest) -> Vec<Call> {
    let total_s: f64 = digest.profile.calls.iter().map(|sum| sum.seconds).sum();
    let names = digest.journal.calls.iter().zip(&digest.profile.calls);
    let mut rows: Vec<Call> = names
        .filter(|(_, sum)| sum.count > 0)
        .map(|(name, sum)| Call {
            call: name.name.clone(),
            class: name.class.words(),
            ..call(sum, total_s, digest.journal.layout.has_cpu)
        })
        .collect();
    by_time(&mut rows);
    rows
}

/// Largest time first; by number where there is no time.
pub fn by_time(rows: &mut [Call]) {
    let key = |row: &Call| (row.seconds, row.count);
    rows.sort_by(|a, b| key(b).partial_cmp(&key(a)).unwrap_or(Ordering::Equal));
}

fn call(sum: &CallSum, total_s: f64, has_cpu: bool) -> Call {
    let timed = sum.timed > 0;
    let quantile = |share| sum.durations.quantile_s(share).map(|seconds| seconds.min(sum.max_s));
    Call {
        call: String::new(),
        class: "",
        count: sum.count,
        errors: sum.errors,
        seconds: timed.then_some(sum.seconds),
        cpu_s: has_cpu.then_some(sum.cpu_s),
        share: (timed && total_s > 0.0).then(|| sum.seconds / total_s),
        mean_s: timed.then(|| sum.seconds / sum.timed as f64),
        p50_s: quantile(0.5),
        p95_s: quantile(0.95),
        p99_s: quantile(0.99),
        max_s: timed.then_some(sum.max_s),
    }
}

/// Errors, most frequent first.
pub fn errors(digest: &Digest) -> Vec<CallError> {
    let row = |((call, error), &(count, seconds)): (&(u16, String), &(u64, f64))| CallError {
        call: digest.journal.calls[*call as usize].name.clone(),
        error: error.clone(),
        count,
        seconds,
    };
    let mut rows: Vec<CallError> = digest.profile.errors.iter().map(row).collect();
    rows.sort_by(|a, b| (b.count, &a.call, &a.error).cmp(&(a.count, &b.call, &b.error)));
    rows
}

/// Processes by time in calls; the first `MOST_ROWS`. `role` names a process by its place in the tree.
pub fn processes(digest: &Digest, role: impl Fn(ProcessId) -> String) -> Vec<ProcessRow> {
    let sums = &digest.profile.processes;
    let mut order: Vec<usize> = (0..sums.len()).filter(|&at| sums[at].calls > 0).collect();
    order.sort_by(|&a, &b| sums[b].in_calls_s.total_cmp(&sums[a].in_calls_s));
    let row = |at: usize| ProcessRow {
        role: role(at as ProcessId),
        ..process_row(digest, &digest.journal.processes[at], &sums[at])
    };
    order.into_iter().take(MOST_ROWS).map(row).collect()
}

fn process_row(digest: &Digest, process: &Process, sum: &ProcessSum) -> ProcessRow {
    let layout = digest.journal.layout;
    ProcessRow {
        pid: process.pid,
        thread: (process.thread > 0).then_some(process.thread),
        parent: process
            .parent
            .map(|parent| digest.journal.processes[parent as usize].pid),
        role: String::new(),
        program: (!process.program.is_empty()).then(|| process.program.clone()),
        began_s: process.began_ns as f64 / 1e9,
        ended_s: process.end.as_ref().map(|(ns, _)| *ns as f64 / 1e9),
        end: process.end.as_ref().map(|(_, end)| match end {
            End::Exited(status) => format!("exited with {status}"),
            End::Killed(signal) => format!("killed by {signal}"),
        }),
        calls: sum.calls,
        errors: sum.errors,
        in_calls_s: sum.in_calls_s,
        outside_calls_s: knows_outside(digest).then_some(sum.outside_calls_s),
        unseen_s: sum.unseen_s,
        cpu_s: layout.has_cpu.then_some(sum.cpu_s),
        signals: process.signals,
    }
}

/// What descriptors stood for, by time; the first `MOST_ROWS`.
pub fn targets(digest: &Digest) -> Vec<TargetSum> {
    let used = |sum: &&TargetSum| !sum.name.is_empty() && sum.calls + sum.syncs + sum.seeks > 0;
    let mut rows: Vec<&TargetSum> = digest.profile.targets.iter().filter(used).collect();
    rows.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    rows.into_iter().take(MOST_ROWS).cloned().collect()
}

pub fn sizes(digest: &Digest) -> SizeTables {
    SizeTables {
        read: buckets(&digest.profile.reads),
        write: buckets(&digest.profile.writes),
    }
}

fn buckets(sizes: &Sizes) -> Vec<SizeBucket> {
    let row = |power: usize| SizeBucket {
        le_bytes: 1_u64.checked_shl(power as u32).unwrap_or(u64::MAX),
        calls: sizes.calls[power],
        bytes: sizes.bytes[power],
    };
    (0..sizes.calls.len())
        .filter(|&power| sizes.calls[power] > 0)
        .map(row)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_iso_8601() {
        assert_eq!(iso_8601(0), "1970-01-01T00:00:00.000000Z");
        assert_eq!(iso_8601(1_795_213_146_359_323_000), "2026-11-20T22:19:06.359323Z");
        assert_eq!(iso_8601(951_827_696_000_000_000), "2000-02-29T12:34:56.000000Z");
        assert_eq!(iso_8601(-1), "1969-12-31T23:59:59.999999Z");
    }
}
