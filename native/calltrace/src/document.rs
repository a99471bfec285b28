//! The whole document: docs/reference/trace.md explains its keys. What is not in the trace is null.

use serde::Serialize;

use crate::digest::Digest;
use crate::profile::TargetSum;
use crate::report;

#[derive(Debug, Default, Serialize)]
pub struct Document {
    pub trace: report::Trace,
    pub calls: Vec<report::Call>,
    pub errors: Vec<report::CallError>,
    pub processes: Vec<report::ProcessRow>,
    pub targets: Vec<TargetSum>,
    pub sizes: report::SizeTables,
}

impl Document {
    pub fn to_json(&self) -> Vec<u8> {
        // Keys are text and numbers are finite or null: nothing here can fail to be written.
        serde_json::to_vec(self).unwrap_or_default()
    }
}

/// Of a trace of single calls.
pub fn of_calls(digest: &Digest, files: Vec<String>, bytes: u64, damage: Vec<String>) -> Document {
    let roles: Vec<String> = digest
        .journal
        .processes
        .iter()
        .map(|process| process.pid.to_string())
        .collect();
    Document {
        trace: report::trace(digest, files, bytes, damage),
        calls: report::calls(digest),
        errors: report::errors(digest),
        processes: report::processes(digest, |at| roles[at].clone()),
        targets: report::targets(digest),
        sizes: report::sizes(digest),
    }
}
