//! The Linux sampler: one call gives one sample of the host and of every process, as rows for the dataset's tables.
//!
//! One file per source: cpus/cpu.rs reads /proc/stat, disk.rs /proc/diskstats, processes/ the processes, and so on. Each keeps its
//! files open, remembers the last reading, and adds its rows to the sheet of its table. Three rules hold everywhere: what was
//! not read is null; what cannot be read is said once, as an event; a counter that went down gives an event, never a rate.

mod cgroup;
mod cpus;
mod disk;
mod events;
mod files;
mod filesystem;
mod interval;
mod listeners;
mod memory;
mod mounts;
mod netlink;
mod network;
mod not_measured;
mod pressure;
pub mod processes;
mod queue;
pub mod rarely;
mod setting;
mod statistics;
mod text;

use std::path::PathBuf;

use arrow_schema::ArrowError;
use pyo3::prelude::*;

use crate::batch::{Batch, value_error};
use crate::sheet::Layouts;
use cgroup::Cgroups;
use cpus::cpu::{Cpu, OfProcesses};
use cpus::interrupts::Interrupts;
use cpus::numa::Nodes;
use cpus::scheduling::Scheduling;
use disk::Disks;
use events::Events;
use filesystem::Filesystems;
use interval::{Interval, Moment};
use memory::Memory;
use network::Network;
use pressure::Pressure;
use processes::Processes;
use setting::Settings;
use statistics::{Figure, Statistics};

/// Seconds between two looks at what changes slowly.
const SLOW_S: i64 = 30;
/// The same of file systems in the first half minute: a check-up sees that one fills, a long recording is not burdened.
const EARLY_S: i64 = 2;
const EARLY_LOOKS: u32 = 16;

/// Samples this host. See `doctord.collect.linux` for the collector around it.
#[pyclass(module = "doctord._native")]
pub struct HostSampler {
    cpu: Cpu,
    interrupts: Interrupts,
    memory: Memory,
    nodes: Nodes,
    disks: Disks,
    filesystems: Filesystems,
    network: Network,
    processes: Processes,
    cgroups: Cgroups,
    settings: Settings,
    scheduling: Scheduling,
    io_pressure: Pressure,
    statistics: Statistics,
    events: Events,
    before: Option<Moment>,
    slow_before: Option<Moment>,
    room_before: Option<Moment>,
    room_looks: u32,
}

#[pymethods]
impl HostSampler {
    /// `layouts` holds name and type of each column of each table; `proc` and `sys` may point to recorded trees.
    #[new]
    #[pyo3(signature = (host, layouts, proc=PathBuf::from("/proc"), sys=PathBuf::from("/sys")))]
    fn new(host: &str, layouts: Layouts, proc: PathBuf, sys: PathBuf) -> PyResult<Self> {
        Self::open(host, &layouts, proc, sys).map_err(value_error)
    }

    /// Takes a sample: one batch per table that has rows. The first call has no rates, since it has nothing to compare with.
    fn sample(&mut self, py: Python<'_>) -> PyResult<Vec<Batch>> {
        py.detach(|| {
            let now = Moment::now()?;
            self.take(&now).map_err(value_error)
        })
    }

    /// CPU time in milliseconds that threads beside those who call `sample` have used so far.
    fn cpu_beside_ms(&self) -> f64 {
        self.network.cpu_beside_ns() as f64 / 1e6
    }
}

impl HostSampler {
    fn open(host: &str, layouts: &Layouts, proc: PathBuf, sys: PathBuf) -> Result<Self, ArrowError> {
        let mut events = Events::new(host, layouts)?;
        if let Ok(now) = Moment::now() {
            events.at(&Interval::between(None, &now));
        }
        Ok(Self {
            cpu: Cpu::new(&proc, host, layouts)?,
            interrupts: Interrupts::new(&proc),
            memory: Memory::new(&proc, host, layouts)?,
            nodes: Nodes::new(&sys),
            disks: Disks::new(&proc, &sys, host, layouts)?,
            filesystems: Filesystems::new(&proc, host, layouts)?,
            network: Network::new(&proc, host, layouts)?,
            processes: Processes::new(&proc, &sys, host, layouts, &mut events)?,
            cgroups: Cgroups::new(&proc, &sys),
            settings: Settings::new(&proc, &sys, host, layouts)?,
            scheduling: Scheduling::default(),
            io_pressure: Pressure::new(proc.join("pressure/io")),
            statistics: Statistics::new(host, layouts)?,
            events,
            before: None,
            slow_before: None,
            room_before: None,
            room_looks: 0,
        })
    }

    fn take(&mut self, now: &Moment) -> Result<Vec<Batch>, ArrowError> {
        let interval = Interval::between(self.before.as_ref(), now);
        self.events.at(&interval);
        let stat = self.cpu.read(&mut self.events);
        let forks = stat.as_ref().and_then(|stat| stat.forks);
        let involuntary = self
            .processes
            .sample(&interval, now, forks, &mut self.events, &mut self.statistics);
        if let Some(stat) = stat {
            let told = OfProcesses {
                involuntary,
                counts_calls: self.processes.counts_calls(),
            };
            self.cpu.add(stat, &told, &interval, &mut self.events);
        }
        self.interrupts.sample(now, &mut self.statistics);
        self.memory.sample(&interval, &mut self.events);
        self.nodes.sample(now, &mut self.statistics);
        self.disks.sample(&interval, &mut self.events);
        self.network.sample(&interval, &mut self.events, &mut self.statistics);
        self.cgroups
            .sample(&interval, self.processes.database_folders(), &mut self.statistics);
        self.add_io_pressure(&interval);
        self.take_slow(&interval, now);
        self.before = Some(*now);
        self.finish()
    }

    /// Waiting for block I/O has no table of its own.
    fn add_io_pressure(&mut self, interval: &Interval) {
        // That there is no pressure file is said by the cpu table.
        let Ok(shares) = self.io_pressure.sample(interval) else {
            return;
        };
        for (name, share) in [
            ("io.pressure_some_pct", shares.some),
            ("io.pressure_full_pct", shares.full),
        ] {
            let figure = Figure {
                component: "kernel",
                entity: None,
                name,
                unit: "pct",
            };
            if let Some(share) = share {
                self.statistics.gauge(interval, figure, share);
            }
        }
    }

    fn take_slow(&mut self, interval: &Interval, now: &Moment) {
        let due = |before: Option<&Moment>, every_s: i64| {
            before.is_none_or(|before| now.monotonic - before.monotonic >= every_s * 1_000_000_000)
        };
        if self.slow_before.is_none() {
            self.settings.sample(interval);
        }
        let room_s = if self.room_looks < EARLY_LOOKS { EARLY_S } else { SLOW_S };
        if due(self.room_before.as_ref(), room_s) {
            self.filesystems.sample(interval, &mut self.events);
            self.room_before = Some(*now);
            self.room_looks = self.room_looks.saturating_add(1);
        }
        if due(self.slow_before.as_ref(), SLOW_S) {
            self.scheduling
                .sample(interval, self.processes.named(), &mut self.settings);
            self.slow_before = Some(*now);
        }
    }

    fn finish(&mut self) -> Result<Vec<Batch>, ArrowError> {
        let mut batches = Vec::with_capacity(9);
        self.cpu.finish(&mut batches)?;
        self.memory.finish(&mut batches)?;
        self.disks.finish(&mut batches)?;
        self.filesystems.finish(&mut batches)?;
        self.network.finish(&mut batches)?;
        self.processes.finish(&mut batches)?;
        self.settings.finish(&mut batches)?;
        self.statistics.finish(&mut batches)?;
        self.events.finish(&mut batches)?;
        Ok(batches)
    }
}
