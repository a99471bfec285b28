//! The whole document: docs/reference/trace.md explains its keys. What is not in the trace is null.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::births::{Births, births};
use crate::digest::Digest;
use crate::folded::folded;
use crate::growth::{Growth, growth};
use crate::passes::{ServiceLoop, loops};
use crate::path::path;
use crate::path::timeline::{Timeline, timeline};
use crate::profile::TargetSum;
use crate::quantize::{self, Histogram};
use crate::repeat::{Repetition, repetitions};
use crate::report;
use crate::roles::{Roles, roles};
use crate::{summary, totals};

#[derive(Debug, Default, Serialize)]
pub struct Document {
    pub trace: report::Trace,
    pub totals: report::Totals,
    pub calls: Vec<report::Call>,
    pub errors: Vec<report::CallError>,
    pub processes: Vec<report::ProcessRow>,
    pub targets: Vec<TargetSum>,
    pub sizes: report::SizeTables,
    /// The service loop that matters.
    #[serde(rename = "loop")]
    pub service_loop: Option<ServiceLoop>,
    /// Loops of other processes.
    pub loops: Vec<ServiceLoop>,
    pub repetitions: Vec<Repetition>,
    pub memory: Vec<Growth>,
    pub births: Vec<Births>,
    pub timeline: Option<Timeline>,
    /// Microseconds by stack of roles and call.
    pub folded: BTreeMap<String, u64>,
    /// Empty unless asked for.
    pub stacks: Vec<report::Stack>,
    /// Of a file of histograms.
    pub histograms: Vec<Histogram>,
}

impl Document {
    pub fn to_json(&self) -> Vec<u8> {
        // Keys are text and numbers are finite or null: nothing here can fail to be written.
        serde_json::to_vec(self).unwrap_or_default()
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
pub fn of_calls(digest: &Digest, reading: Reading) -> Document {
    let journal = &digest.journal;
    let roles = roles(journal);
    let sums = || Document {
        totals: report::totals(digest),
        calls: report::calls(digest),
        errors: report::errors(digest),
        processes: report::processes(digest, |process| roles.name(process).to_owned()),
        targets: report::targets(digest),
        sizes: report::sizes(digest),
        memory: growth(journal, &roles),
        births: births(journal, &roles),
        folded: folded(journal, &roles),
        stacks: report::stacks(digest),
        ..Document::default()
    };
    let (sums, round) = side_by_side(reading.threads, sums, || what_recurs(digest, &roles));
    Document {
        trace: report::trace(digest, reading),
        service_loop: round.service_loop,
        loops: round.loops,
        repetitions: round.repetitions,
        timeline: round.timeline,
        ..sums
    }
}

/// Of a summary (strace -c, truss -c, perf trace -s); null when it holds no row.
pub fn of_totals(text: &[u8], files: Vec<String>) -> Option<Document> {
    let totals = totals::read(text)?;
    Some(Document {
        trace: summary::about(
            text,
            files,
            totals.tool.name(),
            "summary",
            totals.rows.iter().map(|row| row.calls).sum(),
        ),
        calls: summary::calls(&totals),
        totals: summary::sums(&totals),
        ..Document::default()
    })
}

/// Of histograms that DTrace, bpftrace or a bcc tool printed.
pub fn of_histograms(text: &[u8], files: Vec<String>) -> Document {
    let histograms = quantize::read(text);
    let counted = histograms
        .iter()
        .flat_map(|histogram| &histogram.buckets)
        .map(|bucket| bucket.count)
        .sum();
    Document {
        trace: summary::about(text, files, "histograms", "histograms", counted),
        histograms,
        ..Document::default()
    }
}

/// What a trace does over and over.
struct Round {
    service_loop: Option<ServiceLoop>,
    loops: Vec<ServiceLoop>,
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
fn side_by_side<A: Send, B>(threads: usize, first: impl FnOnce() -> A + Send, second: impl FnOnce() -> B) -> (A, B) {
    if threads < 2 {
        return (first(), second());
    }
    std::thread::scope(|scope| {
        let first = scope.spawn(first);
        let second = second();
        (
            first.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            second,
        )
    })
}
