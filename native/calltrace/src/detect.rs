//! What kind of file it is, found from its beginning.

use crate::event::{Kind, Line};
use crate::layout::{Layout, Tool};
use crate::names::UNKNOWN;
use crate::{perf_trace, strace, truss};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detected {
    Trace(Layout),
    Empty,
    Binary,
    Unknown,
}

/// How much of a file is looked at.
const HEAD_BYTES: usize = 1 << 16;

pub fn detect(head: &[u8]) -> Detected {
    let head = &head[..head.len().min(HEAD_BYTES)];
    if head.trim_ascii().is_empty() {
        return Detected::Empty;
    }
    if head.contains(&0) {
        return Detected::Binary;
    }
    let lines: Vec<&[u8]> = head
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.trim_ascii().is_empty())
        .collect();
    trace(&lines).map_or(Detected::Unknown, Detected::Trace)
}

/// The layout under which most lines are calls that are known by name. A library tracer (ltrace) writes the same form, of
/// functions that are no system calls.
fn trace(lines: &[&[u8]]) -> Option<Layout> {
    let layouts = [strace::sniff(lines), truss::sniff(lines), perf_trace::sniff(lines)];
    let rated = layouts
        .into_iter()
        .flatten()
        .map(|layout| (recognised(&layout, lines), layout));
    let better = |best: (usize, Layout), next: (usize, Layout)| if next.0 > best.0 { next } else { best };
    let (recognised, layout) = rated.reduce(better)?;
    (recognised > 0).then_some(layout)
}

/// How many lines are events; 0 when most of the calls among them are unknown.
fn recognised(layout: &Layout, lines: &[&[u8]]) -> usize {
    let parse = match layout.tool {
        Tool::Strace => strace::parse,
        Tool::Truss => truss::parse,
        Tool::PerfTrace => perf_trace::parse,
    };
    let (mut events, mut calls, mut known) = (0, 0, 0);
    for line in lines {
        let Line::Event(event) = parse(layout, line, 0, line.len()) else {
            continue;
        };
        let is_call = matches!(
            event.kind,
            Kind::Call | Kind::Unfinished | Kind::Resumed | Kind::NoReturn
        );
        events += 1;
        calls += usize::from(is_call);
        known += usize::from(is_call && event.call != UNKNOWN);
    }
    if known * 2 < calls { 0 } else { events }
}
