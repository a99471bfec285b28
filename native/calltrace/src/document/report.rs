//! The sums of a trace as rows of the document.

use std::cmp::Ordering;

use super::Reading;
use crate::digest::Digest;
use crate::digest::stacks::StackSum;
use crate::journal::{self, End, ProcessId};
use crate::layout::Clock;
use crate::part::part;
use crate::profile::{self, CallSum, ProcessSum, Target};

/// Of processes and of targets the document holds the first so many, by time.
const MOST_ROWS: usize = 100;

part! {
    /// What was read.
    #[derive(Debug, Default)]
    pub struct About {
        /// What was read.
        pub files: Vec<String>,
        /// `strace`, `truss`, `perf trace`, `bpftrace`, or `histograms`.
        pub tool: &'static str,
        /// `calls` (one by one), `summary` (`-c`, `-s`: sums only), or `histograms` (of DTrace, bpftrace or a bcc tool).
        pub kind: &'static str,
        /// What time stamps count from: `epoch`, `time of day`, `since start`, `since last line`.
        pub clock: Option<&'static str>,
        /// When the trace began (UTC, ISO 8601); null when its stamps do not say.
        pub began: Option<String>,
        /// From the first to the last stamp.
        pub seconds: Option<f64>,
        /// Bytes that were read, unpacked.
        pub bytes: u64,
        /// Lines that were read.
        pub lines: u64,
        /// Calls in them.
        pub calls: u64,
        /// Processes and threads that were seen.
        pub processes: usize,
        /// How the time of a call is known: above.
        pub elapsed_is: Option<&'static str>,
        /// Whether CPU time in calls is given (`truss -E`).
        pub has_cpu: bool,
        /// Calls that are in the sums only, as no more are kept one by one.
        pub calls_without_detail: u64,
        /// Gaps of an excerpt.
        pub gaps: usize,
        /// Their sum.
        pub gap_seconds: f64,
        /// Time stamps before that of the line before, of the same process.
        pub backwards: u64,
        /// Lines that were not used.
        pub skipped: Vec<Skipped>,
        /// Files that could not be read to their end, and why.
        pub damage: Vec<String>,
    }
}

part! {
    /// Sums over all processes.
    #[derive(Debug, Default)]
    pub struct Totals {
        /// As a summary gives it (`elapsed:`); null for a trace of single calls.
        pub elapsed_s: Option<f64>,
        /// Time of all processes in calls.
        pub in_calls_s: Option<f64>,
        /// Time of all processes between calls.
        pub outside_calls_s: Option<f64>,
        /// CPU time in calls.
        pub cpu_s: Option<f64>,
        /// As a summary gives it (`usr time:`).
        pub user_s: Option<f64>,
        /// Calls that failed.
        pub errors: u64,
    }
}

part! {
    /// Calls from one place in the program.
    #[derive(Debug)]
    pub struct Stack {
        /// The call.
        pub call: String,
        /// From where, innermost first.
        pub frames: Vec<String>,
        /// How often.
        pub count: u64,
        /// How long in sum.
        pub seconds: f64,
    }
}

part! {
    /// Lines that were not used, and why.
    #[derive(Debug)]
    pub struct Skipped {
        /// Why they were not used.
        pub why: &'static str,
        /// How many.
        pub lines: u64,
        /// Number of the first of them.
        pub first_line: Option<u64>,
        /// How that one reads.
        pub example: String,
    }
}

part! {
    /// All calls of one name.
    #[derive(Debug, Default)]
    pub struct Call {
        /// Name.
        pub call: String,
        /// What it does: `read`, `write`, `seek`, `open`, `poll`, `fork`, `wait`, `lock`, `sync`, `memory`...
        pub class: &'static str,
        /// How often it was made.
        pub count: u64,
        /// How often it failed.
        pub errors: u64,
        /// In sum.
        pub seconds: Option<f64>,
        /// CPU time in sum.
        pub cpu_s: Option<f64>,
        /// Of the time in all calls.
        pub share: Option<f64>,
        /// Of one call; so are the four below.
        pub mean_s: Option<f64>,
        /// The median; percentiles are right to 12 %.
        pub p50_s: Option<f64>,
        /// 95 % took no longer.
        pub p95_s: Option<f64>,
        /// 99 % took no longer.
        pub p99_s: Option<f64>,
        /// The longest.
        pub max_s: Option<f64>,
    }
}

part! {
    /// How often a call failed in one way.
    #[derive(Debug)]
    pub struct CallError {
        /// `open`.
        pub call: String,
        /// `ENOENT`.
        pub error: String,
        /// How often.
        pub count: u64,
        /// How long in sum.
        pub seconds: f64,
    }
}

part! {
    /// A process, or a thread of one.
    #[derive(Debug)]
    pub struct Process {
        /// Process id.
        pub pid: u32,
        /// Thread id; null when it is not known.
        pub thread: Option<u32>,
        /// Its parent's pid; null when it is not known.
        pub parent: Option<u32>,
        /// Its place in the tree: the program, else the pid, of the first; `child`, `grandchild` of it, with what they executed.
        pub role: String,
        /// What it executed last.
        pub program: Option<String>,
        /// Since the trace began.
        pub began_s: f64,
        /// Since the trace began; null when its end is not in the trace.
        pub ended_s: Option<f64>,
        /// How it ended.
        pub end: Option<String>,
        /// How many it made.
        pub calls: u64,
        /// How many failed.
        pub errors: u64,
        /// Time in calls.
        pub in_calls_s: f64,
        /// Time between calls.
        pub outside_calls_s: Option<f64>,
        /// Time that an excerpt leaves out.
        pub unseen_s: f64,
        /// CPU time in calls.
        pub cpu_s: Option<f64>,
        /// How many it got.
        pub signals: u64,
    }
}

part! {
    /// Calls that moved up to so many bytes, and more than the class before.
    #[derive(Debug)]
    pub struct Size {
        /// Upper edge of a class of sizes, a power of two.
        pub le_bytes: u64,
        /// Calls that returned so many bytes.
        pub calls: u64,
        /// Bytes in them.
        pub bytes: u64,
    }
}

part! {
    /// Sizes of what was read and written.
    #[derive(Debug, Default)]
    pub struct Sizes {
        /// Of reads.
        pub read: Vec<Size>,
        /// Of writes.
        pub write: Vec<Size>,
    }
}

pub fn about(digest: &Digest, reading: Reading) -> About {
    let journal = &digest.journal;
    let clock = journal.layout.clock;
    let span = digest.span_ns.filter(|_| clock != Clock::None);
    let gaps = || journal.processes.iter().flat_map(|process| &process.gaps);
    About {
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

fn skipped(digest: &Digest) -> Vec<Skipped> {
    let row = |(reason, skipped): (&crate::event::Reason, &crate::digest::Skipped)| Skipped {
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
pub fn processes(digest: &Digest, role: impl Fn(ProcessId) -> String) -> Vec<Process> {
    let sums = &digest.profile.processes;
    let mut order: Vec<usize> = (0..sums.len()).filter(|&at| sums[at].calls > 0).collect();
    order.sort_by(|&a, &b| sums[b].in_calls_s.total_cmp(&sums[a].in_calls_s));
    let row = |at: usize| Process {
        role: role(at as ProcessId),
        ..process_row(digest, &digest.journal.processes[at], &sums[at])
    };
    order.into_iter().take(MOST_ROWS).map(row).collect()
}

fn process_row(digest: &Digest, process: &journal::Process, sum: &ProcessSum) -> Process {
    let layout = digest.journal.layout;
    Process {
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
pub fn targets(digest: &Digest) -> Vec<Target> {
    let used = |sum: &&Target| !sum.target.is_empty() && sum.calls + sum.syncs + sum.seeks > 0;
    let mut rows: Vec<&Target> = digest.profile.targets.iter().filter(used).collect();
    rows.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    rows.into_iter().take(MOST_ROWS).cloned().collect()
}

pub fn sizes(digest: &Digest) -> Sizes {
    Sizes {
        read: buckets(&digest.profile.reads),
        write: buckets(&digest.profile.writes),
    }
}

fn buckets(sizes: &profile::Sizes) -> Vec<Size> {
    let row = |power: usize| Size {
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
