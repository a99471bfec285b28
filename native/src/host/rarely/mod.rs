//! What is looked at once a minute and less: the kernel's large free blocks, the pages and the files of database servers.
//!
//! A collector of its own, since a walk through a large folder, or a disk that does not answer, must not delay the figures of each
//! second. All of it only reads; each part says what it costs to be asked more often.

mod clock;
mod dasd;
mod data_files;
mod descriptors;
mod device_path;
mod extents;
mod look;
mod mappings;
mod memory;
mod page_cache;
mod placement;
mod places;
mod servers;
mod told;

use std::path::{Path, PathBuf};

use arrow_schema::ArrowError;
use pyo3::prelude::*;

use self::data_files::{DataFile, DataFiles};
use self::memory::KernelMemory;
use self::page_cache::Cached;
use self::told::Told;
use super::interval::{Interval, Moment};
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

/// Samples what changes slowly on this host. See `doctord.collect.linux` for the collector around it.
#[pyclass(module = "doctord._native")]
pub struct RareSampler {
    proc: PathBuf,
    sys: PathBuf,
    page_bytes: u64,
    memory: KernelMemory,
    told: Told,
    before: Option<Moment>,
    seldom: Option<Moment>,
    extents: Option<Moment>,
    files: Vec<(String, DataFiles)>,
}

#[pymethods]
impl RareSampler {
    /// `layouts` holds name and type of each column of each table; `proc` and `sys` may point to recorded trees.
    #[new]
    #[pyo3(signature = (host, layouts, proc=PathBuf::from("/proc"), sys=PathBuf::from("/sys")))]
    fn new(host: &str, layouts: Layouts, proc: PathBuf, sys: PathBuf) -> PyResult<Self> {
        let now = Moment::now()?;
        Self::open(host, &layouts, proc, sys, &now).map_err(value_error)
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
    fn open(host: &str, layouts: &Layouts, proc: PathBuf, sys: PathBuf, now: &Moment) -> Result<Self, ArrowError> {
        // SAFETY: looks a number up.
        let page_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) }.max(1) as u64;
        Ok(Self {
            page_bytes,
            memory: KernelMemory::new(&proc, &sys, page_bytes),
            told: Told::new(host, layouts, &proc, &sys, Interval::between(None, now))?,
            before: None,
            seldom: None,
            extents: None,
            files: Vec::new(),
            proc,
            sys,
        })
    }

    fn take(&mut self, now: &Moment) -> Result<Vec<Batch>, ArrowError> {
        let interval = Interval::between(self.before.as_ref(), now);
        self.told.at(interval);
        self.memory.sample(&interval, &mut self.told.statistics);
        self.add_clock();
        if is_due(&mut self.seldom, now, SELDOM_S) {
            self.add_aio();
            self.add_dasds();
            self.look_at_servers();
        }
        for (folder, files) in &self.files {
            add_page_cache(folder, files, self.page_bytes, &mut self.told);
        }
        if is_due(&mut self.extents, now, EXTENTS_S) {
            for (_, files) in &self.files {
                add_extents(&files.largest, &mut self.told);
            }
        }
        self.before = Some(*now);
        self.told.finish()
    }

    /// A recorded tree of files tells nothing of the clock.
    fn add_clock(&mut self) {
        if let Some(clock) = clock::read().filter(|_| self.proc == Path::new("/proc")) {
            let unsynchronised = f64::from(u8::from(clock.is_unsynchronised));
            self.told.gauge(None, "clock.unsynchronised", "boolean", unsynchronised);
            self.told.gauge(None, "clock.max_error_s", "s", clock.max_error_s);
        }
    }

    /// Events that the contexts for asynchronous I/O of all processes were made for (io_setup(2)); rings are no part of them.
    fn add_aio(&mut self) {
        let text = std::fs::read(self.proc.join("sys/fs/aio-nr")).unwrap_or_default();
        if let Some(events) = number(&text) {
            self.told.gauge(None, "open_files.aio_nr", "events", events as f64);
        }
    }

    fn add_dasds(&mut self) {
        for (name, unit) in dasd::control_units(&self.sys) {
            self.told.gauge(&*name, "dasd.volumes", "volumes", unit.volumes as f64);
            self.told.gauge(&*name, "dasd.aliases", "aliases", unit.aliases as f64);
        }
    }

    /// That /proc cannot be listed is said by the host's own sampler.
    fn look_at_servers(&mut self) {
        self.files.clear();
        for server in servers::find(&self.proc).unwrap_or_default() {
            match look::look_at(&server, &self.sys, self.page_bytes, &mut self.told) {
                Ok(found) => self.files.push(found),
                Err(error) => self.told.refused("memory and data files of database servers", &error),
            }
        }
    }
}

fn add_page_cache(folder: &str, files: &DataFiles, page_bytes: u64, told: &mut Told) {
    let mut sum = Cached::default();
    let mut bytes = 0;
    for file in &files.largest {
        match page_cache::of(&file.path, file.bytes, page_bytes) {
            Ok(cached) => {
                sum += cached;
                bytes += file.bytes;
            }
            Err(error) => told.refused("page cache of data files", &error),
        }
    }
    for (name, value) in [
        ("page_cache.data_bytes", files.all_bytes.map(|all| all as f64)),
        ("page_cache.file_bytes", Some(bytes as f64)),
        ("page_cache.cached_bytes", Some(sum.cached)),
        ("page_cache.dirty_bytes", sum.dirty),
        ("page_cache.evicted_bytes", sum.evicted),
        ("page_cache.recently_evicted_bytes", sum.recently_evicted),
    ] {
        if let Some(value) = value.filter(|_| bytes > 0) {
            told.gauge(folder, name, "bytes", value.round());
        }
    }
}

fn add_extents(files: &[DataFile], told: &mut Told) {
    let largest = files.iter().take(EXTENTS_OF);
    for file in largest.filter(|file| file.bytes >= EXTENTS_FROM_BYTES) {
        // Some file systems do not tell, and a table may be gone.
        let Ok(extents) = extents::count(&file.path) else {
            continue;
        };
        let name = file.name.to_string_lossy();
        told.gauge(&*name, "extents.count", "extents", f64::from(extents));
        told.gauge(&*name, "extents.file_bytes", "bytes", file.bytes as f64);
    }
}

/// Whether so many seconds have passed since a look; then now is the time of the next.
fn is_due(last: &mut Option<Moment>, now: &Moment, seconds: i64) -> bool {
    let is_due = last.is_none_or(|last| now.monotonic - last.monotonic >= seconds * 1_000_000_000);
    if is_due {
        *last = Some(*now);
    }
    is_due
}
