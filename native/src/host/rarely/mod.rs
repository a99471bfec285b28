//! What is looked at once a minute and less: the kernel's large free blocks, the pages and the files of database servers.
//!
//! A collector of its own, since a walk through a large folder, or a disk that does not answer, must not delay the figures of each
//! second. All of it only reads; each part says what it costs to be asked more often.

mod dasd;
mod data_files;
mod descriptors;
mod device_path;
mod extents;
mod mappings;
mod memory;
mod page_cache;
mod places;
mod servers;

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use arrow_schema::ArrowError;
use pyo3::prelude::*;

use self::data_files::DataFile;
use self::descriptors::{Descriptors, Open};
use self::memory::KernelMemory;
use self::page_cache::Cached;
use self::places::Places;
use self::servers::Server;
use super::events::Events;
use super::interval::{Interval, Moment};
use super::setting::{Settings, is_real};
use super::statistics::{Figure, Statistics};
use super::text::number;
use crate::batch::{Batch, value_error};
use crate::sheet::Layouts;

/// Mappings and descriptors take the kernel some milliseconds a server, a walk through ten thousand files some tens of them.
const SELDOM_S: i64 = 300;
/// Where a file lies changes slowly, and the file system may have to read to tell.
const EXTENTS_S: i64 = 3600;
const EXTENTS_OF: usize = 8;
/// A smaller file is read in a few requests, in however many pieces it lies.
const EXTENTS_FROM_BYTES: u64 = 8 << 20;
const GRANT: &str =
    "run as root, or grant CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH (doctord record --print-unit --with ptrace,files)";

/// Samples what changes slowly on this host. See `doctord.collect.linux` for the collector around it.
#[pyclass(module = "doctord._native")]
pub struct RareSampler {
    proc: PathBuf,
    sys: PathBuf,
    page_bytes: u64,
    memory: KernelMemory,
    statistics: Statistics,
    settings: Settings,
    events: Events,
    before: Option<Moment>,
    seldom: Option<Moment>,
    extents: Option<Moment>,
    /// Data files of each server's folder, largest first.
    files: Vec<(String, Vec<DataFile>)>,
    /// Settings that were told.
    told: HashMap<String, String>,
}

#[pymethods]
impl RareSampler {
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
}

impl RareSampler {
    fn open(host: &str, layouts: &Layouts, proc: PathBuf, sys: PathBuf) -> Result<Self, ArrowError> {
        // SAFETY: looks a number up.
        let page_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) }.max(1) as u64;
        Ok(Self {
            page_bytes,
            memory: KernelMemory::new(&proc, &sys, page_bytes),
            statistics: Statistics::new(host, layouts)?,
            settings: Settings::new(&proc, &sys, host, layouts)?,
            events: Events::new(host, layouts)?,
            before: None,
            seldom: None,
            extents: None,
            files: Vec::new(),
            told: HashMap::new(),
            proc,
            sys,
        })
    }

    fn take(&mut self, now: &Moment) -> Result<Vec<Batch>, ArrowError> {
        let interval = Interval::between(self.before.as_ref(), now);
        self.events.at(&interval);
        self.memory.sample(&interval, &mut self.statistics);
        if is_due(&mut self.seldom, now, SELDOM_S) {
            self.add_aio(&interval);
            self.add_dasds(&interval);
            self.look_at_servers(&interval);
        }
        self.add_page_cache(&interval);
        if is_due(&mut self.extents, now, EXTENTS_S) {
            self.add_extents(&interval);
        }
        self.before = Some(*now);
        let mut batches = Vec::with_capacity(3);
        self.statistics.finish(&mut batches)?;
        self.settings.finish(&mut batches)?;
        self.events.finish(&mut batches)?;
        Ok(batches)
    }

    /// Events that the contexts for asynchronous I/O of all processes were made for (io_setup(2)); rings are no part of them.
    fn add_aio(&mut self, interval: &Interval) {
        let text = std::fs::read(self.proc.join("sys/fs/aio-nr")).unwrap_or_default();
        if let Some(events) = number(&text) {
            let figure = Figure {
                component: "kernel",
                entity: None,
                name: "open_files.aio_nr",
                unit: "events",
            };
            self.statistics.gauge(interval, figure, events as f64);
        }
    }

    fn add_dasds(&mut self, interval: &Interval) {
        for (name, unit) in dasd::control_units(&self.sys) {
            self.gauge(interval, &name, "dasd.volumes", "volumes", unit.volumes as f64);
            self.gauge(interval, &name, "dasd.aliases", "aliases", unit.aliases as f64);
        }
    }

    /// That /proc cannot be listed is said by the host's own sampler.
    fn look_at_servers(&mut self, interval: &Interval) {
        self.files.clear();
        for server in servers::find(&self.proc).unwrap_or_default() {
            if let Err(error) = self.look_at(interval, &server) {
                self.refused("memory and data files of database servers", &error);
            }
        }
    }

    fn look_at(&mut self, interval: &Interval, server: &Server) -> io::Result<()> {
        self.add_mappings(interval, server)?;
        let places = Places::of(server)?;
        let folder = places.data.name.to_string_lossy().into_owned();
        self.add_descriptors(interval, server, &folder)?;
        self.add_paths(interval, &places);
        if places.is_remote(&places.data.name) {
            self.events.not_measured(
                &format!("data files in {folder}"),
                "a network's server that does not answer would stop the collector",
                "look at the page cache of that server",
            );
            return Ok(());
        }
        let (files, is_cut) = data_files::largest(&places);
        if is_cut {
            self.events.not_measured(
                &format!("all data files in {folder}"),
                "there are more than are looked at",
                "the figures are those of the files that were found first",
            );
        }
        self.files.push((folder, files));
        Ok(())
    }

    /// Of the first process and of the largest of the others: the rest have the same shared memory.
    fn add_mappings(&mut self, interval: &Interval, server: &Server) -> io::Result<()> {
        for process in std::iter::once(&server.process).chain(server.members.first()) {
            let pid = process.file_name().unwrap_or_default().to_string_lossy();
            for (kind, mapped) in mappings::KINDS
                .iter()
                .zip(mappings::read(process, self.page_bytes)?)
                .filter(|(_, mapped)| mapped.size_bytes > 0)
            {
                let entity = format!("{pid} {kind}");
                for (name, bytes) in [
                    ("smaps.size_bytes", mapped.size_bytes),
                    ("smaps.resident_bytes", mapped.resident_bytes),
                    ("smaps.huge_bytes", mapped.huge_bytes),
                ] {
                    self.gauge(interval, &entity, name, "bytes", bytes as f64);
                }
            }
        }
        Ok(())
    }

    fn add_descriptors(&mut self, interval: &Interval, server: &Server, folder: &str) -> io::Result<()> {
        let mut found = Descriptors::default();
        found.add(&server.process)?;
        for member in &server.members {
            found.add(member).or_else(unless_ended)?;
        }
        self.add_open(interval, &format!("{folder} data"), found.data);
        self.add_open(interval, &format!("{folder} log"), found.log);
        self.gauge(interval, folder, "open_files.io_uring", "rings", found.rings as f64);
        Ok(())
    }

    fn add_open(&mut self, interval: &Interval, entity: &str, open: Open) {
        if open.files == 0 {
            return;
        }
        for (name, count) in [
            ("open_files.writable", open.files),
            ("open_files.direct", open.direct),
            ("open_files.synchronous", open.synchronous),
        ] {
            self.gauge(interval, entity, name, "files", count as f64);
        }
    }

    /// File system, mount and devices of each folder, once and when they change; and the limits of devices that are not the
    /// host's own: those of the others are told with its settings.
    fn add_paths(&mut self, interval: &Interval, places: &Places) {
        for place in std::iter::once(&places.data).chain(&places.linked) {
            let Some(mount) = places.mount(&place.name) else {
                continue;
            };
            let devices = device_path::devices(mount, places.mounts(), &self.sys);
            for device in &devices {
                let folder = self.sys.join("class/block").join(device.replace('/', "!"));
                if self.is_new(&format!("block.{device}"), "") && is_stacked(&folder) {
                    self.settings.add_device(interval, &folder);
                }
            }
            for (name, value) in [
                ("filesystem", mount.kind.clone()),
                ("mount", mount.point.to_string_lossy().into_owned()),
                ("devices", devices.join(" ")),
            ] {
                let name = format!("path.{}.{name}", place.name.display());
                if !value.is_empty() && self.is_new(&name, &value) {
                    self.settings.tell(interval, "kernel", &name, &value, None);
                }
            }
        }
    }

    fn is_new(&mut self, name: &str, value: &str) -> bool {
        self.told.insert(name.to_string(), value.to_string()).as_deref() != Some(value)
    }

    fn add_page_cache(&mut self, interval: &Interval) {
        let folders = std::mem::take(&mut self.files);
        for (folder, files) in &folders {
            let mut sum = Cached::default();
            let mut bytes = 0;
            for file in files {
                match page_cache::of(&file.path, file.bytes, self.page_bytes) {
                    Ok(cached) => {
                        sum += cached;
                        bytes += file.bytes;
                    }
                    Err(error) => self.refused("page cache of data files", &error),
                }
            }
            for (name, value) in [
                ("page_cache.file_bytes", Some(bytes as f64)),
                ("page_cache.cached_bytes", Some(sum.cached)),
                ("page_cache.dirty_bytes", sum.dirty),
                ("page_cache.evicted_bytes", sum.evicted),
                ("page_cache.recently_evicted_bytes", sum.recently_evicted),
            ] {
                if let Some(value) = value.filter(|_| bytes > 0) {
                    self.gauge(interval, folder, name, "bytes", value.round());
                }
            }
        }
        self.files = folders;
    }

    fn add_extents(&mut self, interval: &Interval) {
        let folders = std::mem::take(&mut self.files);
        let largest = folders.iter().flat_map(|(_, files)| files.iter().take(EXTENTS_OF));
        for file in largest.filter(|file| file.bytes >= EXTENTS_FROM_BYTES) {
            // Some file systems do not tell, and a table may be gone.
            let Ok(extents) = extents::count(&file.path) else {
                continue;
            };
            let name = file.name.to_string_lossy();
            self.gauge(interval, &name, "extents.count", "extents", f64::from(extents));
            self.gauge(interval, &name, "extents.file_bytes", "bytes", file.bytes as f64);
        }
        self.files = folders;
    }

    fn gauge(&mut self, interval: &Interval, entity: &str, name: &str, unit: &str, value: f64) {
        let figure = Figure {
            component: "kernel",
            entity: Some(entity),
            name,
            unit,
        };
        self.statistics.gauge(interval, figure, value);
    }

    /// A process or file that is gone meanwhile is no error.
    fn refused(&mut self, subject: &str, error: &io::Error) {
        if !has_ended(error) {
            self.events.not_measured(subject, &error.to_string(), GRANT);
        }
    }
}

/// Devices without anything behind them, such as dm, md and loop; a partition has no limits of its own.
fn is_stacked(device: &Path) -> bool {
    !is_real(device) && !device.join("partition").exists()
}

fn has_ended(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(libc::ESRCH)
}

fn unless_ended(error: io::Error) -> io::Result<()> {
    if has_ended(&error) { Ok(()) } else { Err(error) }
}

/// Whether so many seconds have passed since a look; then now is the time of the next.
fn is_due(last: &mut Option<Moment>, now: &Moment, seconds: i64) -> bool {
    let is_due = last.is_none_or(|last| now.monotonic - last.monotonic >= seconds * 1_000_000_000);
    if is_due {
        *last = Some(*now);
    }
    is_due
}
