//! Takes the lines of a trace in order, and makes of them the journal and the sums.
//!
//! It joins what a tool had to write on two lines, knows the processes and how they came to be, and what each
//! descriptor stands for.

mod addresses;
mod clock;
pub mod files;
mod meaning;
mod processes;
mod resumed;
mod sites;
pub mod stacks;
mod unnamed;

use std::collections::BTreeMap;

use crate::details;
use crate::event::{Event, Kind, NO_TIME, Reason};
use crate::journal::{End, Entry, Journal, ProcessId, SiteId};
use crate::layout::{Clock, Layout};
use crate::names::{self, Class};
use crate::profile::{Profile, Target};
use clock::Timeline;
use files::Files;
use processes::ByPid;
use resumed::{Held, Pending};
use sites::Numbers;
use stacks::Stacks;

/// Calls that are kept in detail, unless told otherwise: 96 MB of them.
pub const MOST_DETAIL: u64 = 6_000_000;

/// Stamps with four decimals, as truss prints them, are apart by up to this without anything between.
const TICKS_NS: u64 = 300_000;

/// Lines that were not used, for one reason.
#[derive(Clone, Debug, Default)]
pub struct Skipped {
    pub lines: u64,
    pub first_line: Option<u64>,
    pub example: String,
}

/// How the durations of calls became known.
#[derive(Clone, Copy, Debug, Default)]
pub struct Elapsed {
    pub measured: u64,
    pub since_last_event: u64,
    pub until_next_call: u64,
}

#[derive(Default)]
pub struct Digest {
    pub journal: Journal,
    pub profile: Profile,
    pub lines: u64,
    pub skipped: BTreeMap<Reason, Skipped>,
    pub elapsed: Elapsed,
    pub stacks: Stacks,
    /// When the first call started and the last line was written; null for an empty trace.
    pub span_ns: Option<(u64, u64)>,
    /// Lines whose stamp was before that of their process's line before.
    pub backwards: u64,
    timeline: Timeline,
    by_pid: ByPid,
    states: Vec<State>,
    files: Vec<Files>,
    numbers: Numbers,
    detail_left: u64,
    /// The process of a file that names none (strace -ff).
    file_pid: u32,
    /// Processes within a fork: an unknown process is the child of one of them.
    forking: Vec<ProcessId>,
    /// Whose call began last without returning on its line.
    begun_last: Option<ProcessId>,
    /// Whom a detail line is about.
    last: Option<Done>,
}

/// What is known of a process between its lines.
#[derive(Default)]
struct State {
    files: u32,
    /// When its last call returned.
    free_ns: Option<u64>,
    stamp_ns: u64,
    pending: Option<Pending>,
    held: Option<Held>,
    /// truss found it asleep in a call: how long so far, of what its deltas say.
    asleep_ns: Option<u64>,
    /// The descriptor made last, for the details that truss writes on later lines.
    accepted: Option<i64>,
}

/// What a call was, apart from its time and its result.
#[derive(Clone, Copy, Debug, Default)]
struct Done {
    process: ProcessId,
    call: u16,
    class: Class,
    site: SiteId,
    fd: i32,
    target: u32,
    size: i64,
    offset: i64,
}

/// When a call ran.
#[derive(Clone, Copy)]
struct Span {
    start_ns: u64,
    elapsed_ns: Option<u64>,
}

impl Digest {
    pub fn new(layout: Layout, most_detail: u64) -> Digest {
        Digest {
            journal: Journal {
                layout,
                ..Journal::default()
            },
            profile: Profile {
                targets: vec![Target::default()],
                ..Profile::default()
            },
            timeline: Timeline::new(layout),
            detail_left: most_detail,
            ..Digest::default()
        }
    }

    /// Go on with another file of the same trace; `pid` is the one in its name (strace -ff), or 0.
    pub fn begin_file(&mut self, layout: Layout, pid: u32) {
        self.timeline = Timeline::new(layout).counting_from(self.timeline.origin_ns());
        self.file_pid = pid;
    }

    /// What times count from: nanoseconds since 1970 with `Clock::Epoch`, of the day with `Clock::Day`.
    pub fn origin_ns(&self) -> Option<i64> {
        self.timeline.origin_ns()
    }

    /// Count lines that were not used; `first_line` counts from the start of the file.
    pub fn skip(&mut self, reason: Reason, lines: u64, first_line: Option<u64>, example: &[u8]) {
        let skipped = self.skipped.entry(reason).or_default();
        if skipped.lines == 0 {
            skipped.first_line = first_line;
            // A call that was cut off may hold data: contents of buffers are left out here too.
            skipped.example = details::shown(names::UNKNOWN, &example[..example.len().min(60)]);
        }
        skipped.lines += lines;
    }

    pub fn take(&mut self, chunk: &[u8], event: &Event) {
        if event.kind == Kind::More {
            return self.detail(event.remark.of(chunk));
        }
        if self.stacks.wanted {
            self.stacks.finish();
        }
        if self.span_ns.is_none() && event.stamp_ns == NO_TIME && self.journal.layout.clock == Clock::Start {
            // perf trace begins with returns of calls that it did not see begin: when that was is not known.
            return self.skip(Reason::NoStart, 1, None, event.name.of(chunk));
        }
        let now_ns = self.timeline.at(event);
        let process = self.process(event, now_ns);
        self.release(process, now_ns);
        match event.kind {
            Kind::Call | Kind::NoReturn => self.call(process, now_ns, chunk, event),
            Kind::Unfinished => self.begin(process, now_ns, chunk, event),
            Kind::Resumed => self.resume(process, now_ns, chunk, event),
            Kind::Child => self.child_returned(process, now_ns, event),
            Kind::Signal => self.journal.processes[process as usize].signals += 1,
            Kind::Exited => self.ended(process, now_ns, End::Exited(event.result)),
            Kind::Killed => {
                let signal = String::from_utf8_lossy(event.name.of(chunk)).into_owned();
                self.ended(process, now_ns, End::Killed(signal));
            }
            Kind::Attached | Kind::More => {}
        }
    }

    /// Close what is open: calls that had not returned when the trace ended last until then.
    pub fn finish(&mut self) {
        let end_ns = self.span_ns.map_or(0, |(_, last_ns)| last_ns);
        for process in 0..self.states.len() as ProcessId {
            self.states[process as usize].held = None;
            if self.states[process as usize].asleep_ns.take().is_some() {
                self.skip(Reason::NoEnd, 1, None, b"(sleeping...)");
            }
            self.abandon(process, end_ns);
        }
        self.stacks.finish();
    }

    /// A whole call on one line.
    fn call(&mut self, process: ProcessId, now_ns: u64, chunk: &[u8], event: &Event) {
        let done = self.what(process, chunk, event);
        let span = self.span(process, now_ns, event);
        self.record(&done, span, event, chunk, event.arguments.of(chunk));
        if event.kind == Kind::NoReturn {
            if done.class == Class::Exit && self.journal.layout.stamped_at_return {
                let status = details::number(event.arguments.of(chunk)).unwrap_or(0);
                self.ended(process, now_ns, End::Exited(status));
            }
        } else if span.elapsed_ns.is_none() && !self.journal.layout.stamped_at_return {
            self.hold(&done, span.start_ns);
        }
        self.last = Some(done);
    }

    fn what(&mut self, process: ProcessId, chunk: &[u8], event: &Event) -> Done {
        let call = self
            .numbers
            .call(event.call, event.name.of(chunk), &mut self.journal, &mut self.profile);
        let class = names::class(event.call);
        let target = if event.fd >= 0 {
            self.target(process, event, chunk)
        } else {
            0
        };
        let name = &self.profile.targets[target as usize].target;
        let hash = event.site ^ u64::from(target).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let site = self.numbers.site(
            hash,
            call,
            event.call,
            event.arguments.of(chunk),
            name,
            &mut self.journal,
        );
        Done {
            process,
            call,
            class,
            site,
            fd: event.fd,
            target,
            size: event.size,
            offset: event.offset,
        }
    }

    /// When the call on this line ran; time before it that is neither a call nor shown counts as what it is.
    fn span(&mut self, process: ProcessId, now_ns: u64, event: &Event) -> Span {
        let span = if !self.journal.layout.stamped_at_return {
            self.elapsed.measured += u64::from(event.elapsed_ns != NO_TIME);
            Span {
                start_ns: now_ns,
                elapsed_ns: measured(event),
            }
        } else {
            self.since_last_event(process, now_ns, event)
        };
        self.outside(process, span.start_ns);
        self.states[process as usize].free_ns = Some(span.start_ns.saturating_add(span.elapsed_ns.unwrap_or(0)));
        span
    }

    /// truss: what is known is the time since the process's last event.
    fn since_last_event(&mut self, process: ProcessId, now_ns: u64, event: &Event) -> Span {
        let free_ns = self.states[process as usize].free_ns;
        let asleep_ns = self.states[process as usize].asleep_ns.take().unwrap_or(0);
        let delta_ns = u64::try_from(event.delta_ns).ok();
        let delta_ns = delta_ns.map(|delta_ns| delta_ns.saturating_add(asleep_ns));
        let elapsed_ns = measured(event)
            .or(delta_ns)
            .or_else(|| Some(now_ns.saturating_sub(free_ns?)));
        let start_ns = now_ns.saturating_sub(elapsed_ns.unwrap_or(0));
        self.elapsed.since_last_event += u64::from(elapsed_ns.is_some());
        if let (Some(free_ns), Some(_)) = (free_ns, delta_ns) {
            let gap_ns = start_ns.saturating_sub(free_ns);
            if gap_ns > TICKS_NS {
                self.gap(process, gap_ns);
            }
            self.states[process as usize].free_ns = Some(start_ns);
        }
        Span { start_ns, elapsed_ns }
    }

    fn gap(&mut self, process: ProcessId, gap_ns: u64) {
        let seconds = gap_ns as f64 / 1e9;
        self.profile.processes[process as usize].unseen_s += seconds;
        let known = &mut self.journal.processes[process as usize];
        known.gaps.push((known.entries.len() as u32, seconds as f32));
    }

    /// Time of the process between its last return and this start: no call was running.
    fn outside(&mut self, process: ProcessId, start_ns: u64) {
        if let Some(free_ns) = self.states[process as usize].free_ns {
            let seconds = start_ns.saturating_sub(free_ns) as f64 / 1e9;
            self.profile.processes[process as usize].outside_calls_s += seconds;
        }
        let (first_ns, last_ns) = self.span_ns.unwrap_or((start_ns, start_ns));
        self.span_ns = Some((first_ns.min(start_ns), last_ns));
    }

    /// Put a call into the sums and the journal, and follow what it means.
    fn record(&mut self, done: &Done, span: Span, event: &Event, chunk: &[u8], arguments: &[u8]) {
        let failed = !event.error.is_empty();
        let cpu_s = if event.cpu_ns > 0 {
            event.cpu_ns as f64 / 1e9
        } else {
            0.0
        };
        self.profile.count_call(done.process, done.call, cpu_s, failed);
        if let Some(elapsed_ns) = span.elapsed_ns {
            self.profile.add_time(done.process, done.call, done.target, elapsed_ns);
        }
        if failed {
            self.profile
                .count_error(done.process, done.call, event.error.of(chunk), span.elapsed_ns);
        }
        if self.stacks.wanted {
            self.stacks.begin(done.call, span.elapsed_ns);
        }
        self.mean(done, span, event, chunk, arguments);
        self.keep(done, span, failed, (event.cpu_ns != NO_TIME).then_some(cpu_s));
    }

    fn keep(&mut self, done: &Done, span: Span, failed: bool, cpu_s: Option<f64>) {
        if self.detail_left == 0 {
            self.journal.calls_without_detail += 1;
            return;
        }
        self.detail_left -= 1;
        let elapsed_s = span
            .elapsed_ns
            .map_or(f32::NAN, |elapsed_ns| (elapsed_ns as f64 / 1e9) as f32);
        let known = &mut self.journal.processes[done.process as usize];
        known
            .entries
            .push(Entry::new(span.start_ns, elapsed_s, done.site, failed));
        if let Some(cpu_s) = cpu_s {
            known.cpu_s.resize(known.entries.len() - 1, 0.0);
            known.cpu_s.push(cpu_s as f32);
        }
    }
}

fn measured(event: &Event) -> Option<u64> {
    u64::try_from(event.elapsed_ns).ok()
}
