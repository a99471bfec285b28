//! The whole document: docs/reference/trace.md explains its keys. What is not in the trace is null.

use serde::Serialize;

use crate::digest::Digest;
use crate::growth::{Growth, growth};
use crate::passes::{ServiceLoop, loops};
use crate::path::timeline::Timeline;
use crate::path::{self, path};
use crate::profile::TargetSum;
use crate::report;
use crate::roles::roles;

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
    pub memory: Vec<Growth>,
    pub timeline: Option<Timeline>,
    /// Empty unless asked for.
    pub stacks: Vec<report::Stack>,
}

impl Document {
    pub fn to_json(&self) -> Vec<u8> {
        // Keys are text and numbers are finite or null: nothing here can fail to be written.
        serde_json::to_vec(self).unwrap_or_default()
    }
}

/// Of a trace of single calls.
pub fn of_calls(digest: &Digest, files: Vec<String>, bytes: u64, damage: Vec<String>) -> Document {
    let journal = &digest.journal;
    let roles = roles(journal);
    let mut loops = loops(journal, &roles).into_iter();
    let mut service_loop = loops.next();
    let mut timeline = None;
    if let Some(found) = &mut service_loop {
        found.path = path(journal, &roles, found).rows;
        timeline = path::timeline::timeline(journal, &roles, found);
    }
    Document {
        trace: report::trace(digest, files, bytes, damage),
        totals: report::totals(digest),
        calls: report::calls(digest),
        errors: report::errors(digest),
        processes: report::processes(digest, |process| roles.name(process).to_owned()),
        targets: report::targets(digest),
        sizes: report::sizes(digest),
        service_loop,
        loops: loops.collect(),
        memory: growth(journal, &roles),
        timeline,
        stacks: report::stacks(digest),
    }
}
