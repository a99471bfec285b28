//! One process: its files, what was read from them last, and how they are read as seldom as possible.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::closer_look::{About as Suspect, Closely, Found, Looks};
use super::command;
use super::microstates::{Microstates, Usage};
use super::stat::{Schedstat, Stat, storage_bytes, switches};
use super::taskstats::{About, Stats, Taskstats};
use super::unit::unit;
use super::users::Users;
use crate::host::files::{self, Budget, ProcessFile};
use crate::host::text::value;

/// A process that does nothing is still looked at once in so many samples: its memory may be reclaimed, its parent end.
pub const REST: u64 = 10;
/// One that does nothing all the time keeps its name, user and threads; only what others do to it may have changed.
const REST_IDLE: u64 = 4 * REST;
/// The kernel's own processes have no memory, and one parent for good.
const KTHREADD: u64 = 2;
/// A process hardly ever changes its control group.
const REST_OF_UNIT: u64 = 10 * REST;
/// Reading more threads than this one by one would cost more than the figure is worth.
const THREADS_AT_MOST: u64 = 256;

/// What a sample needs while it reads processes, and what the kernel grants it.
pub struct Reader {
    /// Nothing where the kernel refuses it.
    pub taskstats: Option<Taskstats>,
    /// Whether /proc/PID/schedstat counts time on the CPU (it needs CONFIG_SCHED_INFO).
    pub has_schedstat: bool,
    /// Whether kernel.task_delayacct is on now.
    pub has_delays: bool,
    /// Whether some process' I/O was refused.
    pub io_refused: bool,
    pub boot_ns: u64,
    pub tick_ns: u64,
    pub page_bytes: u64,
    pub budget: Budget,
    pub users: Users,
    pub closely: Closely,
    pub buffer: Box<[u8; 4096]>,
    /// Whether memory of their own is told of the database's processes that were at work.
    pub sizes: bool,
}

/// What a first look at a process shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Look {
    /// It was not on a CPU since the last sample.
    Idle,
    /// Nor this one, but it is its turn to have memory, parent, name and user read.
    IdleRefreshed,
    Active,
}

/// Who a process is.
#[derive(Default)]
pub struct Identity {
    pub started_ticks: u64,
    pub ppid: u64,
    pub command: Arc<str>,
    pub user: Option<Arc<str>>,
    pub unit: Option<Arc<str>>,
    comm: Vec<u8>,
}

pub struct Process {
    pub pid: u32,
    pub folder: PathBuf,
    pub identity: Identity,
    pub threads: u64,
    pub rss_bytes: u64,
    /// Memory of its own and what of it was swapped out, of a database's processes; as of the last reading.
    pub anon_bytes: Option<u64>,
    pub swap_bytes: Option<u64>,
    /// Sums at the last reading; nothing before the first.
    pub usage: Option<Usage>,
    stat: ProcessFile,
    schedstat: ProcessFile,
    status: ProcessFile,
    io: ProcessFile,
    io_refused: bool,
    scheduled: Option<Schedstat>,
    group: Option<Stats>,
    sightings: u64,
    looks: Looks,
}

impl Process {
    pub fn new(proc: &Path, pid: u32) -> Self {
        Self {
            pid,
            folder: proc.join(pid.to_string()),
            identity: Identity::default(),
            threads: 1,
            rss_bytes: 0,
            anon_bytes: None,
            swap_bytes: None,
            usage: None,
            stat: ProcessFile::new("stat"),
            schedstat: ProcessFile::new("schedstat"),
            status: ProcessFile::new("status"),
            io: ProcessFile::new("io"),
            io_refused: false,
            scheduled: None,
            group: None,
            sightings: 0,
            looks: Looks::default(),
        }
    }

    /// Whether this is a sample in which name and user are read again: the first two, since a process that was just
    /// forked still looks like its parent, and then one in `REST`.
    pub fn is_refreshed(&self) -> bool {
        self.sightings <= 2 || (self.sightings + u64::from(self.pid)).is_multiple_of(REST)
    }

    /// Whether this is a sample in which memory and parent of a process that does nothing are read again.
    fn is_idle_refreshed(&self) -> bool {
        let is_kernels = self.rss_bytes == 0 && self.identity.ppid == KTHREADD;
        self.sightings <= 2
            || self.is_regrouped()
            || !is_kernels && (self.sightings + u64::from(self.pid)).is_multiple_of(REST_IDLE)
    }

    /// Whether this is a sample in which its control group is read again.
    fn is_regrouped(&self) -> bool {
        self.sightings <= 2 || (self.sightings + u64::from(self.pid)).is_multiple_of(REST_OF_UNIT)
    }

    /// Finds out with one cheap read whether there is anything to read.
    ///
    /// A thread that was not put on a CPU can have counted nothing: its faults, switches, reads and writes are its own
    /// doing. /proc/PID/schedstat tells, but only about the first thread, so processes with more are asked as a group.
    pub fn look(&mut self, reader: &mut Reader) -> io::Result<Look> {
        self.sightings += 1;
        if self.threads > 1 || !reader.has_schedstat {
            return Ok(Look::Active);
        }
        let text = self
            .schedstat
            .read(&self.folder, &mut reader.buffer[..], &mut reader.budget)?;
        let now = Schedstat::parse(text);
        let before = std::mem::replace(&mut self.scheduled, now);
        Ok(match (now.is_some() && now == before, self.is_idle_refreshed()) {
            (true, false) => Look::Idle,
            (true, true) => Look::IdleRefreshed,
            (false, _) => Look::Active,
        })
    }

    /// Whom to ask taskstats about.
    pub fn about(&self) -> About {
        if self.threads > 1 {
            About::Process(self.pid)
        } else {
            About::Thread(self.pid)
        }
    }

    /// Whether the answer says that none of several threads ran since the last sample.
    pub fn is_idle_group(&mut self, stats: Option<Stats>) -> bool {
        let before = std::mem::replace(&mut self.group, stats.filter(|_| self.threads > 1));
        self.group.is_some() && self.group == before && !self.is_refreshed()
    }

    /// Reads an active process; an error of kind `NotFound` when it has ended.
    pub fn read(&mut self, reader: &mut Reader, stats: Option<Stats>) -> io::Result<Usage> {
        let was_single = self.threads <= 1;
        let mut usage = self.read_stat(reader, self.is_refreshed())?;
        if reader.sizes || self.anon_bytes.is_none() {
            self.read_sizes(reader);
        }
        let stats = match &mut reader.taskstats {
            // It has more than one thread since now: the answer was about the first alone.
            Some(taskstats) if was_single && self.threads > 1 => {
                let mut answers = [None];
                taskstats.ask(&[About::Process(self.pid)], &mut answers)?;
                answers[0]
            }
            _ => stats,
        };
        self.read_times(reader, stats, &mut usage);
        self.read_bytes(reader, stats, &mut usage);
        Ok(usage)
    }

    /// Reads what may change while a process does nothing; its sums stay what they were.
    pub fn refresh(&mut self, reader: &mut Reader) -> io::Result<()> {
        // It wrote no title and took no other user while it did nothing.
        self.read_stat(reader, self.sightings <= 2 || self.is_regrouped())?;
        self.read_sizes(reader);
        self.rest(&mut reader.budget);
        Ok(())
    }

    fn read_stat(&mut self, reader: &mut Reader, identifies: bool) -> io::Result<Usage> {
        let text = self
            .stat
            .read(&self.folder, &mut reader.buffer[..], &mut reader.budget)?;
        let stat = Stat::parse(text).ok_or(io::ErrorKind::NotFound)?;
        if self.usage.is_some() && stat.started_ticks != self.identity.started_ticks {
            return Err(io::ErrorKind::NotFound.into()); // another process under the same number
        }
        self.threads = stat.threads;
        self.rss_bytes = stat.rss_pages * reader.page_bytes;
        self.identity.ppid = stat.ppid;
        self.identity.started_ticks = stat.started_ticks;
        let usage = Usage {
            user_ticks: stat.user_ticks,
            system_ticks: stat.system_ticks,
            minor_faults: stat.minor_faults,
            major_faults: stat.major_faults,
            ..Usage::default()
        };
        if self.identity.comm != stat.comm || identifies {
            let comm = stat.comm.to_vec();
            self.identify(comm, reader);
        }
        Ok(usage)
    }

    fn identify(&mut self, comm: Vec<u8>, reader: &mut Reader) {
        let title = command::has_title(&comm).then(|| std::fs::read(self.folder.join("cmdline")));
        let command = match title {
            Some(Ok(title)) if !title.is_empty() => command::postgres(&title),
            _ => command::name(&comm),
        };
        if *self.identity.command != command {
            self.identity.command = command.into();
        }
        self.identity.comm = comm;
        // The folder belongs to the effective user. A process that ended meanwhile keeps the user it had.
        if let Ok(folder) = std::fs::metadata(&self.folder) {
            self.identity.user = Some(reader.users.name(folder.uid()));
        }
        if self.is_regrouped() {
            self.identity.unit = files::read(&self.folder.join("cgroup"))
                .ok()
                .and_then(|text| unit(std::str::from_utf8(&text).ok()?))
                .map(Arc::from);
        }
    }

    /// Memory of its own (RssAnon, Linux 4.5) of a database's process, and what of that is in swap (VmSwap).
    fn read_sizes(&mut self, reader: &mut Reader) {
        if !command::is_database(&self.identity.command) {
            return;
        }
        let text = self
            .status
            .read(&self.folder, &mut reader.buffer[..], &mut reader.budget);
        let kib = |key: &[u8]| Some(value(text.as_ref().ok()?, key)? * 1024);
        (self.anon_bytes, self.swap_bytes) = (kib(b"RssAnon"), kib(b"VmSwap"));
    }

    /// Times and switches that /proc/PID/stat does not have: from taskstats where granted, else from further files.
    fn read_times(&mut self, reader: &mut Reader, stats: Option<Stats>, usage: &mut Usage) {
        if let Some(stats) = stats {
            usage.run_ns = Some(stats.run_ns);
            usage.run_wait_ns = Some(stats.run_wait_ns);
            usage.vcsw = Some(stats.vcsw);
            usage.icsw = Some(stats.icsw);
            if reader.has_delays && stats.has_delays && self.can_have_waited(reader, &stats) {
                usage.io_wait_ns = Some(stats.io_wait_ns);
                usage.memory_wait_ns = Some(stats.memory_wait_ns);
            }
        } else if self.threads <= 1 {
            usage.run_ns = self.scheduled.map(|scheduled| scheduled.run_ns);
            usage.run_wait_ns = self.scheduled.map(|scheduled| scheduled.run_wait_ns);
            if let Ok(text) = self
                .status
                .read(&self.folder, &mut reader.buffer[..], &mut reader.budget)
            {
                (usage.vcsw, usage.icsw) = switches(text);
            }
        } else if reader.has_schedstat && self.threads <= THREADS_AT_MOST {
            usage.run_wait_ns = self.run_wait_of_threads();
        }
    }

    /// Whether the process is old enough for its waits: one that was alive when delay accounting was switched can show
    /// any figure.
    fn can_have_waited(&self, reader: &Reader, stats: &Stats) -> bool {
        let age_ns = reader
            .boot_ns
            .saturating_sub(self.identity.started_ticks * reader.tick_ns);
        let most = (age_ns + reader.tick_ns).saturating_mul(self.threads.max(1));
        stats.io_wait_ns <= most && stats.memory_wait_ns <= most
    }

    fn read_bytes(&mut self, reader: &mut Reader, stats: Option<Stats>, usage: &mut Usage) {
        (usage.read_bytes, usage.write_bytes) = match stats {
            Some(stats) if self.threads <= 1 => (Some(stats.read_bytes), Some(stats.write_bytes)),
            _ => self.read_io(reader),
        };
    }

    /// Bytes from /proc/PID/io; once refused, it is not tried again.
    fn read_io(&mut self, reader: &mut Reader) -> (Option<u64>, Option<u64>) {
        if self.io_refused {
            return (None, None);
        }
        match self.io.read(&self.folder, &mut reader.buffer[..], &mut reader.budget) {
            Ok(text) => storage_bytes(text),
            Err(error) => {
                self.io_refused = error.kind() == io::ErrorKind::PermissionDenied;
                reader.io_refused |= self.io_refused;
                (None, None)
            }
        }
    }

    /// Time that all threads alive waited for a CPU; nothing when they cannot be listed.
    fn run_wait_of_threads(&self) -> Option<u64> {
        let threads = std::fs::read_dir(self.folder.join("task")).ok()?;
        let waits = threads.flatten().filter_map(|thread| {
            let text = std::fs::read(thread.path().join("schedstat")).ok()?; // a thread that ended has no part in it
            Some(Schedstat::parse(&text)?.run_wait_ns)
        });
        Some(waits.sum())
    }

    /// What a closer look found that began with the last sample.
    pub fn end_closer_look(&mut self) -> Found {
        self.looks.end(&self.folder, self.threads)
    }

    /// Looks closer until the next sample where what the process did gives reason for it.
    pub fn begin_closer_look(&mut self, states: &Microstates, closely: &mut Closely) {
        let suspect = Suspect {
            folder: &self.folder,
            command: &self.identity.command,
            threads: self.threads,
            is_kernels: self.rss_bytes == 0,
            states,
        };
        self.looks.begin(&suspect, self.sightings, closely);
    }

    /// Lets go of the files that are not read while the process does nothing: of all that sleeps, one stays open.
    pub fn rest(&mut self, budget: &mut Budget) {
        for file in [&mut self.stat, &mut self.status, &mut self.io] {
            file.close(budget);
        }
    }

    pub fn close(&mut self, budget: &mut Budget) {
        self.rest(budget);
        self.schedstat.close(budget);
    }
}
