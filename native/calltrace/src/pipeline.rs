//! Moves a trace from its files into the digest: chunks are parsed side by side, and digested in their order.

use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use memchr::memchr_iter;

use crate::digest::Digest;
use crate::event::{Event, Kind, Line, NO_TIME, Reason, Span};
use crate::input::is_too_long;
use crate::layout::{Layout, Tool};
use crate::{perf_trace, strace, truss};

/// A chunk of whole lines, and what they say.
#[derive(Default)]
pub struct Parsed {
    pub chunk: Vec<u8>,
    events: Vec<Event>,
    lines: u64,
    /// Lines that were not understood: number within the chunk, why, and where.
    skips: Vec<(u64, Reason, Span)>,
}

impl Parsed {
    /// Read the lines of `chunk`.
    pub fn parse(&mut self, layout: &Layout) {
        self.events.clear();
        self.skips.clear();
        self.lines = 0;
        match layout.tool {
            Tool::Strace => self.parse_with(layout, strace::parse),
            Tool::Truss => self.parse_with(layout, truss::parse),
            Tool::PerfTrace => self.parse_with(layout, perf_trace::parse),
        }
    }

    /// Generic over the parser, so that it is compiled into the loop.
    fn parse_with(&mut self, layout: &Layout, parse: impl Fn(&Layout, &[u8], usize, usize) -> Line) {
        let chunk = std::mem::take(&mut self.chunk);
        let mut start = 0;
        for end in memchr_iter(b'\n', &chunk).chain((chunk.last() != Some(&b'\n')).then_some(chunk.len())) {
            let text_end = if end > start && chunk[end - 1] == b'\r' {
                end - 1
            } else {
                end
            };
            self.lines += 1;
            match parse(layout, &chunk, start, text_end) {
                Line::Event(event) => self.events.push(event),
                Line::More(remark) => self.events.push(Event {
                    kind: Kind::More,
                    remark,
                    ..Event::default()
                }),
                Line::Nothing => {}
                Line::Skip(reason) => {
                    let reason = match end == chunk.len() {
                        true => Reason::CutOff, // the log ends within it
                        false => refined(reason, &chunk[start..text_end]),
                    };
                    self.skips.push((self.lines, reason, Span::new(start, text_end)));
                }
            }
            start = end + 1;
        }
        self.chunk = chunk;
    }

    fn digest(&self, digest: &mut Digest) {
        for &(line, reason, span) in &self.skips {
            digest.skip(reason, 1, Some(digest.lines + line), span.of(&self.chunk));
        }
        for event in &self.events {
            digest.take(&self.chunk, event);
        }
        digest.lines += self.lines;
    }
}

/// The first stamp in the beginning of a log, as it stands there.
pub fn first_stamp_ns(layout: Layout, head: Vec<u8>) -> Option<i64> {
    let mut parsed = Parsed {
        chunk: head,
        ..Parsed::default()
    };
    parsed.parse(&layout);
    let stamps = parsed.events.iter().map(|event| event.stamp_ns);
    stamps.into_iter().find(|&stamp_ns| stamp_ns != NO_TIME)
}

/// Of a line that no parser understood, what says most about why.
fn refined(reason: Reason, line: &[u8]) -> Reason {
    if is_too_long(line) {
        return Reason::TooLong;
    }
    if reason == Reason::NotTrace && (line.contains(&0) || std::str::from_utf8(line).is_err()) {
        return Reason::NotText;
    }
    reason
}

/// What gives chunks, in order; false when there are no more.
pub trait Source: Send {
    fn next_chunk(&mut self, chunk: &mut Vec<u8>) -> io::Result<bool>;
}

struct Numbered<T> {
    next: u64,
    of: T,
}

/// Read a source to its end with this many threads, or as many as may be started. An error of the source ends it; what was
/// read until then counts.
pub fn run(source: &mut dyn Source, layout: Layout, digest: &mut Digest, threads: usize) -> io::Result<()> {
    let source = Mutex::new(Numbered { next: 0, of: source });
    let digest = Mutex::new(Numbered { next: 0, of: digest });
    let turn = Condvar::new();
    std::thread::scope(|scope| {
        let work = || worker(&source, &digest, &turn, &layout);
        let start = || std::thread::Builder::new().spawn_scoped(scope, work).ok();
        let others: Vec<_> = (1..threads.max(1)).map_while(|_| start()).collect();
        let mut result = work();
        for other in others {
            result = result.and(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        result
    })
}

fn worker(
    source: &Mutex<Numbered<&mut dyn Source>>,
    digest: &Mutex<Numbered<&mut Digest>>,
    turn: &Condvar,
    layout: &Layout,
) -> io::Result<()> {
    let mut parsed = Parsed::default();
    loop {
        let mut from = held(source);
        if !from.of.next_chunk(&mut parsed.chunk)? {
            return Ok(());
        }
        let number = from.next;
        from.next += 1;
        drop(from);
        parsed.parse(layout);
        let mut to = held(digest);
        while to.next != number {
            to = turn.wait(to).unwrap_or_else(PoisonError::into_inner);
        }
        parsed.digest(to.of);
        to.next += 1;
        drop(to);
        turn.notify_all();
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
