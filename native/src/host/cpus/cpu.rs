//! The `cpu` table from /proc/stat and /proc/pressure/cpu.

use std::io;
use std::path::Path;

use arrow_schema::ArrowError;

use super::perf::{ByCpu, MIGRATIONS, SOFTWARE};
use super::system_calls::HostCalls;
use crate::batch::Batch;
use crate::host::events::Events;
use crate::host::files::Kept;
use crate::host::interval::{Interval, percent};
use crate::host::pressure::Pressure;
use crate::host::text::{fields, lines, number};
use crate::sheet::{Layouts, Sheet, columns};

columns!(CpuColumns {
    cpu,
    usr_pct,
    sys_pct,
    wait_io_pct,
    irq_pct,
    steal_pct,
    idle_pct,
    run_queue,
    blocked_tasks,
    csw_per_s,
    icsw_per_s,
    migrations_per_s,
    interrupts_per_s,
    syscalls_per_s,
    forks_per_s,
    pressure_some_pct,
});

/// Ticks of one CPU: user, nice, system, idle, iowait, irq, softirq, steal. Guest time is part of user.
type Ticks = [u64; 8];
const IDLE: usize = 3;
const WAIT_IO: usize = 4;

/// What /proc/stat says. `cpus` starts with the sum over all of them, under no number.
#[derive(Default, Debug, PartialEq)]
pub struct Stat {
    cpus: Vec<(Option<i64>, Ticks)>,
    interrupts: Option<u64>,
    switches: Option<u64>,
    pub forks: Option<u64>,
    running: Option<u64>,
    blocked: Option<u64>,
}

pub fn parse(text: &[u8]) -> Stat {
    let mut stat = Stat::default();
    for line in lines(text) {
        let mut rest = fields(line);
        let key = rest.next().unwrap_or_default();
        if let Some(id) = key.strip_prefix(b"cpu") {
            let mut ticks = Ticks::default();
            for (tick, field) in ticks.iter_mut().zip(rest) {
                *tick = number(field).unwrap_or(0);
            }
            stat.cpus.push((number(id).map(|id| id as i64), ticks));
            continue;
        }
        let first = rest.next().and_then(number);
        match key {
            b"intr" => stat.interrupts = first,
            b"ctxt" => stat.switches = first,
            b"processes" => stat.forks = first,
            b"procs_running" => stat.running = first,
            b"procs_blocked" => stat.blocked = first,
            _ => {}
        }
    }
    stat
}

/// Ticks since `before`. Idle and I/O wait may step back a little by the kernel's own word (proc(5)); anything else that
/// went down means that the CPU was taken away and came back.
fn since(before: &Ticks, now: &Ticks) -> Option<Ticks> {
    let mut ticks = Ticks::default();
    for (position, tick) in ticks.iter_mut().enumerate() {
        *tick = match position {
            IDLE | WAIT_IO => now[position].saturating_sub(before[position]),
            _ => now[position].checked_sub(before[position])?,
        };
    }
    Some(ticks)
}

/// What the processes of a sample tell of the host.
pub struct OfProcesses {
    /// Switches that they were forced to since the last one.
    pub involuntary: Option<u64>,
    /// Whether system calls of some are counted from now on.
    pub counts_calls: bool,
}

/// A second, on each CPU and, under no number, on all of them together; nothing where that was not counted.
struct Counted {
    moved: Vec<(Option<i64>, f64)>,
    called: Vec<(Option<i64>, f64)>,
}

fn with_sum(rates: Vec<(i64, f64)>) -> Vec<(Option<i64>, f64)> {
    let sum = (!rates.is_empty()).then(|| (None, rates.iter().map(|(_, rate)| rate).sum()));
    rates
        .into_iter()
        .map(|(cpu, rate)| (Some(cpu), rate))
        .chain(sum)
        .collect()
}

fn of(rates: &[(Option<i64>, f64)], cpu: Option<i64>) -> Option<f64> {
    rates.iter().find(|(known, _)| *known == cpu).map(|(_, rate)| *rate)
}

pub struct Cpu {
    file: Kept,
    pressure: Pressure,
    sheet: Sheet<CpuColumns>,
    before: Stat,
    /// A recorded tree of files tells nothing of counters.
    is_live: bool,
    /// Nothing where the kernel does not let us count.
    migrations: Option<ByCpu>,
    moved_before: Vec<(i64, u64)>,
    calls: HostCalls,
    /// Of this sample.
    involuntary: Option<f64>,
}

impl Cpu {
    pub fn new(proc: &Path, host: &str, layouts: &Layouts) -> Result<Self, ArrowError> {
        Ok(Self {
            file: Kept::new(proc.join("stat")),
            pressure: Pressure::new(proc.join("pressure/cpu")),
            sheet: Sheet::new("cpu", host, layouts)?,
            before: Stat::default(),
            is_live: proc == Path::new("/proc"),
            migrations: None,
            moved_before: Vec::new(),
            calls: HostCalls::default(),
            involuntary: None,
        })
    }

    /// What /proc/stat says now.
    pub fn read(&mut self, events: &mut Events) -> Option<Stat> {
        match self.file.read() {
            Ok(text) => Some(parse(text)),
            Err(error) => {
                events.not_measured("/proc/stat", &error.to_string(), "mount /proc");
                None
            }
        }
    }

    /// Adds the rows of this sample, of what was read at its beginning, and what processes tell.
    pub fn add(&mut self, now: Stat, told: &OfProcesses, interval: &Interval, events: &mut Events) {
        let counted = Counted {
            moved: with_sum(self.moved(&now, interval, events)),
            called: with_sum(self.calls.end(interval)),
        };
        if self.is_live {
            let cpus = now.cpus.iter().filter_map(|(cpu, _)| *cpu);
            self.calls.begin(cpus, told.counts_calls, events);
        }
        self.involuntary = interval.increase(Some(0), told.involuntary);
        self.add_rows(interval, &now, &counted, events);
        self.before = now;
    }

    /// Tasks moved to each CPU a second; nothing where that is not told.
    fn moved(&mut self, now: &Stat, interval: &Interval, events: &mut Events) -> Vec<(i64, f64)> {
        if !self.is_live {
            return Vec::new();
        }
        let cpus = || now.cpus.iter().filter_map(|(cpu, _)| *cpu);
        if !self.migrations.as_ref().is_some_and(|counters| counters.covers(cpus())) {
            self.moved_before.clear();
            match ByCpu::open(SOFTWARE, MIGRATIONS, cpus()) {
                Ok(counters) => self.migrations = Some(counters),
                Err(error) => {
                    let hint = match error.kind() {
                        io::ErrorKind::Unsupported => "perf stat -a -e migrations -- sleep 10 tells of all of them",
                        _ => "grant CAP_PERFMON, or sysctl kernel.perf_event_paranoid=0",
                    };
                    events.not_measured("moves of tasks between CPUs", &error.to_string(), hint);
                    return Vec::new();
                }
            }
        }
        let counts = self
            .migrations
            .as_mut()
            .and_then(|counters| counters.read().ok())
            .unwrap_or_default();
        let before = std::mem::replace(&mut self.moved_before, counts);
        let pairs = before.iter().zip(&self.moved_before);
        let rates: Option<Vec<_>> = pairs
            .map(|((cpu, before), (_, now))| Some((*cpu, interval.increase(Some(*before), Some(*now))?)))
            .collect();
        rates.unwrap_or_default()
    }

    fn add_rows(&mut self, interval: &Interval, now: &Stat, counted: &Counted, events: &mut Events) {
        for (cpu, ticks) in &now.cpus {
            let before = self.before.cpus.iter().find(|(known, _)| known == cpu);
            let passed = before.map(|(_, before)| since(before, ticks));
            if passed == Some(None) {
                events.restart(&cpu.map_or("cpu".to_string(), |cpu| format!("cpu{cpu}")));
            }
            let shares = passed.flatten().filter(|ticks| ticks.iter().sum::<u64>() > 0);
            if cpu.is_some() && shares.is_none() {
                continue;
            }
            self.sheet.begin(interval.ts_us, interval.rounded_s());
            self.sheet.i64(self.sheet.columns.cpu, *cpu);
            if let Some(ticks) = shares {
                self.add_shares(&ticks);
            }
            let columns = self.sheet.columns;
            self.sheet.f64(columns.migrations_per_s, of(&counted.moved, *cpu));
            self.sheet.f64(columns.syscalls_per_s, of(&counted.called, *cpu));
            if cpu.is_none() {
                self.add_totals(interval, now, events);
            }
            self.sheet.end();
        }
    }

    fn add_shares(&mut self, ticks: &Ticks) {
        let [user, nice, system, idle, wait_io, irq, softirq, steal] = *ticks;
        let total = ticks.iter().sum::<u64>() as f64;
        let share = |ticks: u64| percent(ticks as f64 / total * 100.0);
        let columns = self.sheet.columns;
        self.sheet.f64(columns.usr_pct, share(user + nice));
        self.sheet.f64(columns.sys_pct, share(system));
        self.sheet.f64(columns.wait_io_pct, share(wait_io));
        self.sheet.f64(columns.irq_pct, share(irq + softirq));
        self.sheet.f64(columns.steal_pct, share(steal));
        self.sheet.f64(columns.idle_pct, share(idle));
    }

    fn add_totals(&mut self, interval: &Interval, now: &Stat, events: &mut Events) {
        let (columns, before) = (self.sheet.columns, &self.before);
        // The sampler itself is running while it reads, so one of the running tasks is it.
        let queue = now.running.map(|running| running.saturating_sub(1) as f64);
        let blocked = now.blocked.map(|tasks| tasks as f64);
        let switches = interval.increase(before.switches, now.switches);
        let interrupts = interval.increase(before.interrupts, now.interrupts);
        let forks = interval.increase(before.forks, now.forks);
        self.sheet.f64(columns.run_queue, queue);
        self.sheet.f64(columns.blocked_tasks, blocked);
        self.sheet.f64(columns.csw_per_s, switches);
        self.sheet.f64(columns.icsw_per_s, self.involuntary);
        self.sheet.f64(columns.interrupts_per_s, interrupts);
        self.sheet.f64(columns.forks_per_s, forks);
        match self.pressure.sample(interval) {
            Ok(shares) => self.sheet.f64(columns.pressure_some_pct, shares.some),
            Err(error) => events.not_measured(
                "/proc/pressure",
                &format!("pressure stall information: {error}"),
                "needs Linux 4.20 with CONFIG_PSI, and psi=1 on the kernel's command line where it is off by default",
            ),
        }
    }

    pub fn finish(&mut self, batches: &mut Vec<Batch>) -> Result<(), ArrowError> {
        self.sheet.finish(batches)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &[u8] = b"cpu  100 20 30 4000 5 1 2 3 50 0\ncpu0 50 10 15 2000 2 1 1 1 25 0\ncpu3 50 10 15 2000 3 0 1 2 25 0\n\
        intr 123456 9 0 0\nctxt 789\nbtime 1795218786\nprocesses 4711\nprocs_running 3\nprocs_blocked 1\nsoftirq 1 2 3\n";

    #[test]
    fn stat_is_read_by_name() {
        let stat = parse(STAT);
        assert_eq!(stat.cpus.len(), 3);
        assert_eq!(stat.cpus[0], (None, [100, 20, 30, 4000, 5, 1, 2, 3]));
        assert_eq!(stat.cpus[2].0, Some(3));
        assert_eq!((stat.interrupts, stat.switches), (Some(123456), Some(789)));
        assert_eq!((stat.forks, stat.running, stat.blocked), (Some(4711), Some(3), Some(1)));
    }

    #[test]
    fn an_old_kernel_without_steal_and_a_truncated_text() {
        assert_eq!(parse(b"cpu 1 2 3 4\nctx").cpus, [(None, [1, 2, 3, 4, 0, 0, 0, 0])]);
    }

    #[test]
    fn idle_may_step_back_and_nothing_else() {
        let before = [10, 0, 10, 100, 10, 0, 0, 0];
        assert_eq!(
            since(&before, &[12, 0, 10, 99, 11, 0, 0, 0]),
            Some([2, 0, 0, 0, 1, 0, 0, 0])
        );
        assert_eq!(since(&before, &[9, 0, 10, 100, 10, 0, 0, 0]), None);
    }
}
