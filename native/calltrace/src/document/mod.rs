//! The whole document: docs/reference/trace.md explains its keys. What is not in the trace is null.

mod folded;
pub mod live;
pub mod report;
mod summary;

use std::collections::BTreeMap;

use self::folded::folded;
use self::live::Live;
use crate::digest::Digest;
use crate::forks::{Forks, summed_forks};
use crate::growth::{Growth, growth};
use crate::part::part;
use crate::passes::{Loop, loops};
use crate::path::path;
use crate::path::timeline::{Timeline, timeline};
use crate::profile::Target;
use crate::quantize::{self, Histogram};
use crate::repeat::{Repetition, repetitions};
use crate::roles::{Roles, roles};
use crate::totals;

part! {
    /// The whole of what a trace tells.
    #[derive(Debug, Default)]
    pub struct Trace {
        /// What was read.
        pub trace: report::About,
        /// Sums over all processes.
        pub totals: report::Totals,
        /// Calls by name.
        pub calls: Vec<report::Call>,
        /// How calls failed.
        pub errors: Vec<report::CallError>,
        /// The hundred with most time in calls. Times count from the start of the trace.
        pub processes: Vec<report::Process>,
        /// The hundred with most time: files, sockets' peers, pipes, as far as the trace shows them (`strace -y`, or their
        /// open).
        pub targets: Vec<Target>,
        /// Calls that moved data, by the size they returned.
        pub sizes: report::Sizes,
        /// The loop that matters, null without one: that of a server, which accepts; then the busiest. Times and counts are
        /// of one pass, the mean over the whole passes, unless it says otherwise.
        pub r#loop: Option<Loop>,
        /// Loops of other processes: the keys of `loop`, without `steps` and `path`.
        pub loops: Vec<Loop>,
        /// The same call, or sequence of calls, over and over.
        pub repetitions: Vec<Repetition>,
        /// How the memory of processes grew.
        pub memory: Vec<Growth>,
        /// What it cost processes to make others.
        pub births: Vec<Forks>,
        /// One pass of usual length, for drawing; null without a pass.
        pub timeline: Option<Timeline>,
        /// Microseconds by stack, `server;child;call`: what `--folded` writes for flame graphs.
        pub folded: BTreeMap<String, u64>,
        /// With `--stacks`: time by the stacks of `strace -k`.
        pub stacks: Vec<report::Stack>,
        /// Of a file of histograms: those of DTrace (`quantize`, `lquantize`, `llquantize`), bpftrace and the bcc tools.
        pub histograms: Vec<Histogram>,
        /// Null unless a running process was traced (`--pid`).
        pub live: Option<Live>,
    }
}

/// How the trace was read: what the document says of it beside the calls.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    pub files: Vec<String>,
    pub bytes: u64,
    /// Files that could not be read to their end, in words.
    pub damage: Vec<String>,
    pub threads: usize,
}

/// Of a trace of single calls.
pub fn of_calls(digest: &Digest, reading: Reading) -> Trace {
    let journal = &digest.journal;
    let roles = roles(journal);
    let sums = || Trace {
        totals: report::totals(digest),
        calls: report::calls(digest),
        errors: report::errors(digest),
        processes: report::processes(digest, |process| roles.name(process).to_owned()),
        targets: report::targets(digest),
        sizes: report::sizes(digest),
        memory: growth(journal, &roles),
        births: summed_forks(journal, &roles),
        folded: folded(journal, &roles),
        stacks: report::stacks(digest),
        ..Trace::default()
    };
    let (sums, round) = side_by_side(reading.threads, sums, || what_recurs(digest, &roles));
    Trace {
        trace: report::about(digest, reading),
        r#loop: round.service_loop,
        loops: round.loops,
        repetitions: round.repetitions,
        timeline: round.timeline,
        ..sums
    }
}

/// Of a summary (strace -c, truss -c, perf trace -s); null when it holds no row.
pub fn of_totals(text: &[u8], files: Vec<String>) -> Option<Trace> {
    let totals = totals::read(text)?;
    Some(Trace {
        trace: summary::about(
            text,
            files,
            totals.tool.name(),
            "summary",
            totals.rows.iter().map(|row| row.calls).sum(),
        ),
        calls: summary::calls(&totals),
        totals: summary::sums(&totals),
        ..Trace::default()
    })
}

/// Of histograms that DTrace, bpftrace or a bcc tool printed.
pub fn of_histograms(text: &[u8], files: Vec<String>) -> Trace {
    let histograms = quantize::read(text);
    let counted = histograms
        .iter()
        .flat_map(|histogram| &histogram.buckets)
        .map(|bucket| bucket.count)
        .sum();
    Trace {
        trace: summary::about(text, files, "histograms", "histograms", counted),
        histograms,
        ..Trace::default()
    }
}

/// What a trace does over and over.
struct Round {
    service_loop: Option<Loop>,
    loops: Vec<Loop>,
    repetitions: Vec<Repetition>,
    timeline: Option<Timeline>,
}

fn what_recurs(digest: &Digest, roles: &Roles) -> Round {
    let journal = &digest.journal;
    let mut loops = loops(journal, roles);
    let path = loops.found.first().map(|found| path(journal, roles, found));
    let mut repetitions = repetitions(journal, roles, &loops, path.as_ref());
    for repeated in repetitions.iter_mut().filter(|repeated| repeated.errors > 0) {
        let error = digest.profile.last_error.get(&(repeated.process, repeated.call_number));
        repeated.error = error.cloned();
    }
    let mut loops = loops.found.drain(..);
    let mut service_loop = loops.next();
    let timeline = service_loop.as_ref().and_then(|found| timeline(journal, roles, found));
    if let (Some(found), Some(path)) = (&mut service_loop, path) {
        found.path = path.rows;
    }
    Round {
        service_loop,
        loops: loops.collect(),
        repetitions,
        timeline,
    }
}

/// The results of both, worked out at the same time where there may be two threads.
fn side_by_side<A: Send, B>(threads: usize, first: impl Fn() -> A + Sync, second: impl FnOnce() -> B) -> (A, B) {
    if threads < 2 {
        return (first(), second());
    }
    std::thread::scope(|scope| {
        let beside = std::thread::Builder::new().spawn_scoped(scope, &first);
        let second = second();
        let first = match beside {
            Ok(beside) => beside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(_) => first(), // no thread may be started
        };
        (first, second)
    })
}
