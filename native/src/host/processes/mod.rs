//! The `process` table: every process of the host, read as seldom as its idleness allows.

mod closer_look;
pub mod command;
mod exits;
mod microstates;
mod process;
mod row;
mod short_lived;
pub mod stat;
pub mod system_calls;
mod taskstats;
mod translation;
mod unit;
mod users;

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use arrow_schema::ArrowError;

use self::closer_look::Closely;
use self::microstates::Microstates;
use self::process::{Look, Process, REST, Reader};
use self::row::{ProcessColumns, add_row};
use self::short_lived::{ShortLived, entity, of};
use self::stat::Schedstat;
use self::taskstats::{About, Stats, Taskstats};
use self::translation::Translation;
use self::users::Users;
use crate::batch::Batch;
use crate::host::events::Events;
use crate::host::files::{self, Budget, Kept};
use crate::host::interval::{Interval, Moment, percent};
use crate::host::not_measured;
use crate::host::statistics::Statistics;
use crate::host::text::{number, value};
use crate::sheet::{Layouts, Sheet};

pub struct Processes {
    proc: PathBuf,
    delays: Kept,
    sheet: Sheet<ProcessColumns>,
    reader: Reader,
    short_lived: ShortLived,
    processes: BTreeMap<u32, Process>,
    /// Boot time by the wall clock when the sampler started: later steps of the clock must not rename processes.
    booted_us: i64,
    samples: u64,
    forks: Option<u64>,
    is_list_stale: bool,
    previous_boot_ns: Option<u64>,
    /// Involuntary switches since the last sample; nothing when a process does not tell its own.
    involuntary: Option<u64>,
    /// Of this sample, with their time in the kernel.
    suspects: Vec<(f64, u32, Microstates)>,
    /// What address translation cost over this interval, of those that were counted.
    translations: Vec<(String, Translation)>,
}

/// Of the samples in which memory is told, the first: by the second it is known who starts others.
const SIZED: u64 = 2;
/// A check-up has to see from few samples whose memory grows; a long recording is not burdened.
const EARLY: u64 = 60;
/// Lines of /proc/PID/status: memory of its own (Linux 4.5), and page tables. A fork copies the tables of the former.
const SIZES: [(&[u8], &str); 2] = [
    (b"RssAnon", "process.anon_bytes"),
    (b"VmPTE", "process.page_table_bytes"),
];

/// A process that was looked at, on its way to a row.
struct Seen {
    pid: u32,
    look: Look,
    stats: Option<Stats>,
}

impl Processes {
    pub fn new(
        proc: &Path,
        sys: &Path,
        host: &str,
        layouts: &Layouts,
        events: &mut Events,
    ) -> Result<Self, ArrowError> {
        let booted_s = std::fs::read(proc.join("stat"))
            .ok()
            .and_then(|text| value(&text, b"btime"));
        let own = std::fs::read(proc.join("self/schedstat"))
            .ok()
            .and_then(|text| Schedstat::parse(&text));
        Ok(Self {
            proc: proc.to_path_buf(),
            delays: Kept::new(proc.join("sys/kernel/task_delayacct")),
            sheet: Sheet::new("process", host, layouts)?,
            reader: Reader {
                taskstats: open_taskstats(events),
                has_schedstat: own.is_some_and(|own| own.run_ns > 0),
                has_delays: false,
                io_refused: false,
                boot_ns: 0,
                tick_ns: 1_000_000_000 / system_figure(libc::_SC_CLK_TCK, 100),
                page_bytes: system_figure(libc::_SC_PAGESIZE, 4096),
                budget: Budget::raise(),
                users: Users::default(),
                closely: Closely::default(),
                buffer: Box::new([0; 4096]),
                sizes: false,
            },
            // A recorded tree of files tells nothing of who ends now.
            short_lived: match proc == Path::new("/proc") {
                true => ShortLived::open(sys, events),
                false => ShortLived::default(),
            },
            processes: BTreeMap::new(),
            booted_us: booted_s.unwrap_or(0) as i64 * 1_000_000,
            samples: 0,
            forks: None,
            is_list_stale: true,
            previous_boot_ns: None,
            involuntary: None,
            suspects: Vec::new(),
            translations: Vec::new(),
        })
    }

    /// Adds the rows of this sample; returns the involuntary switches of all processes since the last one. `forks` counts the
    /// processes made since boot: as long as it stands still, there is no new one to look for.
    pub fn sample(
        &mut self,
        interval: &Interval,
        now: &Moment,
        forks: Option<u64>,
        events: &mut Events,
        statistics: &mut Statistics,
    ) -> Option<u64> {
        self.samples += 1;
        self.reader.boot_ns = now.boot as u64;
        let processes = &self.processes;
        self.short_lived
            .take(interval, |pid| processes.contains_key(&pid), events);
        self.read_delay_switch(events);
        let stood_still = forks.is_some() && forks == self.forks && !self.samples.is_multiple_of(REST);
        self.forks = forks;
        let listed = if stood_still && !self.is_list_stale {
            Ok(())
        } else {
            self.list(events)
        };
        if let Err(error) = listed {
            events.not_measured("processes", &error.to_string(), "mount /proc");
            return None;
        }
        self.involuntary = self.sees_all().then_some(0);
        self.reader.closely.begin_sample();
        self.reader.sizes = self
            .samples
            .is_multiple_of(if self.samples <= EARLY { 2 } else { REST });
        let mut seen = self.look(events);
        self.ask(&mut seen, events);
        for seen in seen {
            if let Err(error) = self.add(interval, &seen) {
                not_measured::unless_ended(&error, events);
                self.forget(seen.pid);
            }
        }
        self.add_parents(interval, statistics);
        self.add_translations(interval, statistics);
        self.look_closer();
        self.previous_boot_ns = Some(self.reader.boot_ns);
        if std::mem::take(&mut self.reader.io_refused) {
            not_measured::io(events);
        }
        if let Some(error) = self.reader.closely.refused() {
            not_measured::system_calls(events, error);
        }
        if let Some(error) = self.reader.closely.counters_refused() {
            not_measured::translation(events, error);
        }
        self.involuntary
    }

    /// Whether system calls of some processes are counted from this sample on.
    pub fn counts_calls(&self) -> bool {
        self.reader.closely.counts_calls()
    }

    /// Whether the processes are those of the whole host: who is in a container, or kept from those of others (hidepid), does not
    /// see the kernel's own.
    fn sees_all(&self) -> bool {
        let second = self.processes.get(&2);
        second.is_some_and(|process| &*process.identity.command == "kthreadd")
    }

    fn read_delay_switch(&mut self, events: &mut Events) {
        let switch = self.delays.read().ok().and_then(number);
        // Before Linux 5.14 there was no switch: delays were counted unless the command line said no.
        self.reader.has_delays = self.reader.taskstats.is_some() && switch.unwrap_or(1) > 0;
        if switch == Some(0) {
            not_measured::delays(events);
        }
    }

    /// Brings the set of processes up to date with /proc.
    fn list(&mut self, events: &mut Events) -> io::Result<()> {
        let mut alive = HashSet::with_capacity(self.processes.len() + 16);
        for entry in std::fs::read_dir(&self.proc)? {
            let name = entry?.file_name();
            if let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) {
                alive.insert(pid);
                self.processes
                    .entry(pid)
                    .or_insert_with(|| Process::new(&self.proc, pid));
            }
        }
        let ended: Vec<u32> = self
            .processes
            .keys()
            .filter(|pid| !alive.contains(pid))
            .copied()
            .collect();
        ended.into_iter().for_each(|pid| self.forget(pid));
        self.is_list_stale = false;
        if !alive.contains(&1) {
            not_measured::hidden(events);
        }
        Ok(())
    }

    fn forget(&mut self, pid: u32) {
        if let Some(mut process) = self.processes.remove(&pid) {
            process.close(&mut self.reader.budget);
        }
        // Its number may have gone to another process already.
        self.is_list_stale = true;
    }

    fn look(&mut self, events: &mut Events) -> Vec<Seen> {
        let mut seen = Vec::with_capacity(self.processes.len());
        let mut ended = Vec::new();
        for (pid, process) in &mut self.processes {
            match process.look(&mut self.reader) {
                Ok(look) => seen.push(Seen {
                    pid: *pid,
                    look,
                    stats: None,
                }),
                Err(error) => {
                    not_measured::unless_ended(&error, events);
                    ended.push(*pid);
                }
            }
        }
        ended.into_iter().for_each(|pid| self.forget(pid));
        seen
    }

    /// Asks taskstats about all active processes at once.
    fn ask(&mut self, seen: &mut [Seen], events: &mut Events) {
        let Some(taskstats) = &mut self.reader.taskstats else {
            return;
        };
        let active = || seen.iter().filter(|seen| seen.look == Look::Active);
        let about: Vec<About> = active()
            .filter_map(|seen| Some(self.processes.get(&seen.pid)?.about()))
            .collect();
        let mut answers = vec![None; about.len()];
        if let Err(error) = taskstats.ask(&about, &mut answers) {
            not_measured::taskstats(events, &error);
            self.reader.taskstats = None;
            return;
        }
        let active = seen.iter_mut().filter(|seen| seen.look == Look::Active);
        for (seen, answer) in active.zip(answers) {
            seen.stats = answer;
        }
    }

    fn add(&mut self, interval: &Interval, seen: &Seen) -> io::Result<()> {
        let Some(process) = self.processes.get_mut(&seen.pid) else {
            return Ok(());
        };
        let now = match (seen.look, process.usage) {
            (Look::Idle, Some(usage)) => {
                process.rest(&mut self.reader.budget);
                usage
            }
            (Look::IdleRefreshed, Some(usage)) => {
                process.refresh(&mut self.reader)?;
                usage
            }
            (_, Some(usage)) if process.is_idle_group(seen.stats) => {
                process.rest(&mut self.reader.budget);
                usage
            }
            _ => process.read(&mut self.reader, seen.stats)?,
        };
        let started_ns = process.identity.started_ticks * self.reader.tick_ns;
        let before = match (process.usage.replace(now), self.previous_boot_ns) {
            (Some(before), _) => before,
            // Started since the last sample (two ticks of grace): all that it used falls into this interval.
            (None, Some(previous)) if started_ns + 2 * self.reader.tick_ns >= previous => {
                self.short_lived.born(process.identity.ppid as u32);
                now.at_birth()
            }
            _ => return Ok(()),
        };
        if interval.seconds.is_some() {
            let states = Microstates::between(&before, &now, process.threads, self.reader.tick_ns, interval);
            let found = process.end_closer_look();
            self.involuntary = self
                .involuntary
                .and_then(|sum| Some(sum + forced_since(before.icsw, now.icsw)?));
            let started_us = self.booted_us + (started_ns / 1000) as i64;
            add_row(
                &mut self.sheet,
                interval,
                (process, started_us),
                (&before, &now),
                &states,
                &found,
            );
            if let Some(translation) = found.translation {
                let entity = entity(&process.identity.command, process.pid);
                self.translations.push((entity, translation));
            }
            if seen.look == Look::Active {
                self.suspects.push((states.system.unwrap_or(0.0), process.pid, states));
            }
        }
        Ok(())
    }

    /// What is told of processes that start others: how many, and, at times, the memory that a fork has to copy.
    fn add_parents(&mut self, interval: &Interval, statistics: &mut Statistics) {
        let processes = &self.processes;
        let name_of = |pid: u32| Some(processes.get(&pid)?.identity.command.to_string());
        self.short_lived.add_rows(interval, name_of, statistics);
        if self.samples % REST != SIZED {
            return;
        }
        for (pid, process) in &self.processes {
            if !self.short_lived.parents.contains(pid) && !command::is_server(&process.identity.command) {
                continue;
            }
            let Ok(status) = files::read(&process.folder.join("status")) else {
                continue; // it ended, or is hidden, which is said elsewhere
            };
            let entity = entity(&process.identity.command, *pid);
            for (key, name) in SIZES {
                if let Some(kib) = value(&status, key) {
                    statistics.gauge(interval, of(&entity, name, "bytes"), (kib * 1024) as f64);
                }
            }
        }
    }

    fn add_translations(&mut self, interval: &Interval, statistics: &mut Statistics) {
        for (entity, counted) in self.translations.drain(..) {
            if let Some(pct) = counted.walk_pct() {
                statistics.gauge(interval, of(&entity, "process.dtlb_walk_pct", "pct"), percent(pct));
            }
            for (name, count) in [
                ("process.cycles_per_s", Some(counted.cycles)),
                ("process.dtlb_misses_per_s", counted.misses),
            ] {
                if let Some(rate) = count.and_then(|count| interval.rate(count)) {
                    statistics.rate(interval, of(&entity, name, "per_s"), rate);
                }
            }
        }
    }

    /// Number, name and folder in /proc of each process.
    pub fn named(&self) -> impl Iterator<Item = (u32, &str, &Path)> {
        let processes = self.processes.values();
        processes.map(|process| (process.pid, &*process.identity.command, process.folder.as_path()))
    }

    /// Looks closer at those that give reason for it, the busiest in the kernel first: not all of them may be.
    fn look_closer(&mut self) {
        let mut suspects = std::mem::take(&mut self.suspects);
        suspects.sort_by(|one, other| other.0.total_cmp(&one.0));
        for (_, pid, states) in suspects {
            if let Some(process) = self.processes.get_mut(&pid) {
                process.begin_closer_look(&states, &mut self.reader.closely);
            }
        }
    }

    /// Folders in /proc of the database servers' processes.
    pub fn database_folders(&self) -> impl Iterator<Item = &Path> {
        let processes = self.processes.values();
        processes
            .filter(|process| command::is_database(&process.identity.command))
            .map(|process| process.folder.as_path())
    }

    pub fn finish(&mut self, batches: &mut Vec<Batch>) -> Result<(), ArrowError> {
        self.sheet.finish(batches)
    }
}

/// Involuntary switches since the last sample. Those of threads that ended meanwhile are gone from the sum of their process.
fn forced_since(before: Option<u64>, now: Option<u64>) -> Option<u64> {
    Some(now?.saturating_sub(before?))
}

fn open_taskstats(events: &mut Events) -> Option<Taskstats> {
    match Taskstats::open() {
        Ok(taskstats) => Some(taskstats),
        Err(error) => {
            not_measured::taskstats(events, &error);
            None
        }
    }
}

fn system_figure(name: libc::c_int, fallback: u64) -> u64 {
    // SAFETY: sysconf only looks a number up.
    u64::try_from(unsafe { libc::sysconf(name) })
        .ok()
        .filter(|figure| *figure > 0)
        .unwrap_or(fallback)
}
