//! A closer look at processes that give reason for it, over one interval in ten or twenty: moves between CPUs, system calls, and
//! what address translation costs.
//!
//! Reading either all the time would cost the sampler, or the host, more than the figures are worth.

use std::fs;
use std::io;
use std::path::Path;

use super::command;
use super::microstates::Microstates;
use super::system_calls::{SystemCalls, Tracepoint};
use super::translation::{Counters, Translation, Walks, walks_here};
use crate::host::cpus::perf::is_passing;
use crate::host::files;
use crate::host::text::value;

/// Intervals from one look at a process to the next, and from one count of calls to the next.
const EVERY: u64 = 10;
const EVERY_COUNT: u64 = 20;
/// What a process has to use of a CPU for its moves to matter: a database's own, since others wait for it, and any.
const DATABASE_PCT: f64 = 1.0;
const BUSY_PCT: f64 = 10.0;
/// Time in the kernel, % of a CPU, from which on its calls are counted, if it is a third of what it uses.
const SYSTEM_PCT: f64 = 10.0;
const SYSTEM_SHARE: f64 = 1.0 / 3.0;
/// More threads than this are not read one by one.
const THREADS_AT_MOST: u64 = 32;
/// Processes whose calls are counted at the same time.
const COUNTED_AT_MOST: u64 = 8;

/// What a database's process has to use of a CPU for the cost of its address translation to matter.
const TRANSLATING_PCT: f64 = 10.0;

/// Whose system calls may be counted, over all processes: while one process' are, everybody's take longer, so that those of all who
/// give reason for it are counted over the same interval.
#[derive(Default)]
pub struct Closely {
    /// Looked for when there is reason for the first time.
    tracepoint: Option<Result<Tracepoint, String>>,
    sample: u64,
    counted: Option<u64>,
    counting: u64,
    /// Threads whose address translation is counted from this sample on: each takes up to five descriptors. A process counts
    /// as several, so that `COUNTED_AT_MOST` fit in.
    translating: u64,
    counters: Processor,
}

/// What is known of the processor's counters.
#[derive(Default)]
enum Processor {
    #[default]
    NotAsked,
    Counts(Option<Walks>),
    /// It has none, or not for this machine, as most virtual ones.
    CountsNothing,
    Refused(String),
}

impl Closely {
    pub fn begin_sample(&mut self) {
        self.sample += 1;
        self.counting = 0;
        self.translating = 0;
    }

    /// Why system calls cannot be counted, once that was tried.
    pub fn refused(&self) -> Option<&str> {
        self.tracepoint.as_ref()?.as_ref().err().map(String::as_str)
    }

    /// Why the processor's counters cannot be read although it may have some, once that was tried.
    pub fn counters_refused(&self) -> Option<&str> {
        match &self.counters {
            Processor::Refused(error) => Some(error),
            _ => None,
        }
    }

    fn translation(&mut self, folder: &Path, threads: u64) -> Option<Counters> {
        if self.translating + threads > THREADS_AT_MOST {
            return None;
        }
        if matches!(self.counters, Processor::NotAsked) {
            self.counters = Processor::Counts(folder.parent().and_then(walks_here));
        }
        let Processor::Counts(walks) = self.counters else {
            return None;
        };
        match Counters::open(walks, numbers_of_threads(folder).into_iter()) {
            Ok(counters) => {
                self.translating += threads.max(THREADS_AT_MOST / COUNTED_AT_MOST);
                Some(counters)
            }
            Err(error) => {
                self.counters = without_counters(&error, self.counters.walks());
                None
            }
        }
    }

    /// Whether a count of system calls began with this sample.
    pub fn counts_calls(&self) -> bool {
        self.counting > 0
    }

    fn may_count(&self) -> bool {
        let is_due = self
            .counted
            .is_none_or(|counted| counted == self.sample || self.sample >= counted + EVERY_COUNT);
        is_due && self.counting < COUNTED_AT_MOST
    }

    fn system_calls(&mut self, folder: &Path, threads: u64) -> Option<SystemCalls> {
        if threads > THREADS_AT_MOST || !self.may_count() {
            return None;
        }
        let known = match &self.tracepoint {
            Some(known) => Ok(known.as_ref().copied().ok()?),
            None => Tracepoint::find(),
        };
        let opened = known.and_then(|tracepoint| {
            self.tracepoint = Some(Ok(tracepoint));
            SystemCalls::open(tracepoint, numbers_of_threads(folder).into_iter())
        });
        match opened {
            Ok(calls) => {
                self.counted = Some(self.sample);
                self.counting += 1;
                Some(calls)
            }
            Err(error) => {
                if !is_passing(&error) {
                    self.tracepoint = Some(Err(error.to_string()));
                }
                None
            }
        }
    }
}

impl Processor {
    fn walks(&self) -> Option<Walks> {
        match self {
            Self::Counts(walks) => *walks,
            _ => None,
        }
    }
}

/// What an error tells of the processor's counters; one of the moment tells nothing.
fn without_counters(error: &io::Error, walks: Option<Walks>) -> Processor {
    match error.raw_os_error() {
        _ if is_passing(error) => Processor::Counts(walks),
        Some(libc::EACCES | libc::EPERM) => Processor::Refused(error.to_string()),
        _ => Processor::CountsNothing,
    }
}

/// What was read of a process when its look began.
pub struct CloserLook {
    moves: Option<u64>,
    calls: Option<SystemCalls>,
    translation: Option<Counters>,
}

/// What a process did over the interval of its look; nothing where there was none.
#[derive(Clone, Copy, Default)]
pub struct Found {
    pub moves: Option<u64>,
    pub calls: Option<u64>,
    pub translation: Option<Translation>,
}

/// How often a process is looked at.
#[derive(Default)]
pub struct Looks {
    now: Option<CloserLook>,
    began: Option<u64>,
    translated: Option<u64>,
}

impl Looks {
    /// Ends the look that began with the last sample, if there was one.
    pub fn end(&mut self, folder: &Path, threads: u64) -> Found {
        let Some(mut look) = self.now.take() else {
            return Found::default();
        };
        let moves = look
            .moves
            .and_then(|before| moves(folder, threads)?.checked_sub(before));
        let calls = look.calls.as_mut().and_then(|calls| calls.read().ok());
        let translation = look.translation.as_mut().and_then(Counters::read);
        Found {
            moves,
            calls,
            translation,
        }
    }

    /// Begins one where the last interval gives reason for it, and the last look is long enough ago.
    pub fn begin(&mut self, process: &About, sighting: u64, closely: &mut Closely) {
        let used = process.states.user.unwrap_or(0.0) + process.states.system.unwrap_or(0.0);
        let least = if command::is_database(process.command) {
            DATABASE_PCT
        } else {
            BUSY_PCT
        };
        let is_due = used >= least && self.began.is_none_or(|began| sighting >= began + EVERY);
        let system = process.states.system.unwrap_or(0.0);
        let is_in_kernel = !process.is_kernels && system >= SYSTEM_PCT && system >= SYSTEM_SHARE * used;
        let translates = command::is_database(process.command)
            && used >= TRANSLATING_PCT
            && self.translated.is_none_or(|began| sighting >= began + EVERY_COUNT);
        let look = CloserLook {
            translation: translates
                .then(|| closely.translation(process.folder, process.threads))
                .flatten(),
            moves: is_due.then(|| moves(process.folder, process.threads)).flatten(),
            calls: is_in_kernel
                .then(|| closely.system_calls(process.folder, process.threads))
                .flatten(),
        };
        if is_due {
            self.began = Some(sighting);
        }
        if look.translation.is_some() {
            self.translated = Some(sighting);
        }
        let has_begun = look.moves.is_some() || look.calls.is_some() || look.translation.is_some();
        self.now = has_begun.then_some(look);
    }
}

/// The process that may give reason for a look.
pub struct About<'a> {
    pub folder: &'a Path,
    pub command: &'a str,
    pub threads: u64,
    /// A thread of the kernel's own calls nobody.
    pub is_kernels: bool,
    pub states: &'a Microstates,
}

/// How often the scheduler has moved the threads of a process to another CPU.
fn moves(folder: &Path, threads: u64) -> Option<u64> {
    match threads {
        0..=1 => moved(&folder.join("sched")).ok().flatten(),
        2..=THREADS_AT_MOST => {
            let counts = fs::read_dir(folder.join("task")).ok()?.flatten();
            counts
                .map(|thread| moved(&thread.path().join("sched")).ok().flatten())
                .sum()
        }
        _ => None,
    }
}

fn moved(sched: &Path) -> io::Result<Option<u64>> {
    Ok(value(&files::read(sched)?, b"se.nr_migrations"))
}

fn numbers_of_threads(folder: &Path) -> Vec<i32> {
    let entries = fs::read_dir(folder.join("task")).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHED: &str = "x (7, #threads: 1)\n-----\nse.exec_start          :      80588695.459812\n\
        se.nr_migrations                             :                   42\nnr_switches  :   9\n";

    fn process(folder: &Path, count: u64) {
        fs::create_dir_all(folder.join("task/7")).unwrap();
        let text = SCHED.replace("42", &count.to_string());
        fs::write(folder.join("sched"), &text).unwrap();
        fs::write(folder.join("task/7/sched"), text).unwrap();
    }

    fn busy(percent: f64) -> Microstates {
        Microstates {
            user: Some(percent),
            system: Some(0.0),
            ..Microstates::default()
        }
    }

    /// Moves found at each of some samples, of a process that moves once in each.
    fn looked(command: &str, percent: f64, samples: u64) -> Vec<Option<u64>> {
        let folder = tempfile::tempdir().unwrap();
        let (mut looks, mut closely) = (Looks::default(), Closely::default());
        let sample = |sighting| {
            process(folder.path(), sighting);
            let found = looks.end(folder.path(), 1);
            let about = About {
                folder: folder.path(),
                command,
                threads: 1,
                is_kernels: false,
                states: &busy(percent),
            };
            looks.begin(&about, sighting, &mut closely);
            found.moves
        };
        (1..=samples).map(sample).collect()
    }

    #[test]
    fn a_busy_process_is_looked_at_in_one_interval_of_ten() {
        let found = looked("x", 30.0, 13);
        assert_eq!(found[..3], [None, Some(1), None]);
        assert_eq!((found[10], found[11], found[12]), (None, Some(1), None));
        assert_eq!(found.iter().flatten().count(), 2);
    }

    #[test]
    fn a_database_is_looked_at_sooner_and_an_idle_process_never() {
        assert_eq!(looked("x", 5.0, 3), [None, None, None]);
        assert_eq!(looked("postgres: walwriter", 5.0, 2), [None, Some(1)]);
        assert_eq!(looked("postgres: walwriter", 0.0, 2), [None, None]);
    }

    #[test]
    fn moves_of_several_threads_are_added_up_unless_they_are_too_many_or_not_told() {
        let folder = tempfile::tempdir().unwrap();
        process(folder.path(), 40);
        fs::create_dir_all(folder.path().join("task/8")).unwrap();
        assert_eq!(moves(folder.path(), 2), None);
        fs::write(folder.path().join("task/8/sched"), SCHED.replace("42", "2")).unwrap();
        assert_eq!(moves(folder.path(), 2), Some(42));
        assert_eq!(moves(folder.path(), 33), None);
    }

    #[test]
    fn calls_are_counted_in_one_interval_of_twenty_of_all_that_give_reason_for_it() {
        let mut closely = Closely::default();
        let counts = |closely: &mut Closely| {
            closely.begin_sample();
            let may = closely.may_count();
            if may {
                (closely.counted, closely.counting) = (Some(closely.sample), 1);
            }
            (may, closely.may_count())
        };
        let found: Vec<_> = (1..=21).map(|_| counts(&mut closely)).collect();
        assert_eq!(
            (found[0], found[1], found[19], found[20]),
            ((true, true), (false, false), (false, false), (true, true))
        );
        closely.counting = COUNTED_AT_MOST;
        assert!(!closely.may_count());
    }

    #[test]
    fn a_process_that_has_ended_has_moved_nowhere() {
        assert_eq!(moves(Path::new("/nowhere"), 1), None);
        assert_eq!(moves(Path::new("/nowhere"), 2), None);
    }

    #[test]
    fn the_descriptors_that_count_address_translation_are_limited_over_all_processes() {
        let mut closely = Closely {
            counters: Processor::Counts(None),
            ..Closely::default()
        };
        assert!(closely.translation(Path::new("/nowhere"), 30).is_some());
        assert!(closely.translation(Path::new("/nowhere"), 3).is_none());
        closely.begin_sample();
        let all = (0..9).filter(|_| closely.translation(Path::new("/nowhere"), 1).is_some());
        assert_eq!(all.count() as u64, COUNTED_AT_MOST);
    }

    #[test]
    fn a_processor_without_counters_is_not_asked_again_and_a_refusal_is_told() {
        let of = |code| without_counters(&io::Error::from_raw_os_error(code), None);
        assert!(matches!(of(libc::ENOENT), Processor::CountsNothing));
        assert!(matches!(of(libc::EOPNOTSUPP), Processor::CountsNothing));
        assert!(matches!(of(libc::EACCES), Processor::Refused(_)));
        for passing in [libc::ESRCH, libc::EMFILE, libc::ENFILE, libc::ENOMEM, libc::EBUSY] {
            assert!(matches!(of(passing), Processor::Counts(None)), "{passing}");
        }
        let closely = Closely {
            counters: of(libc::EPERM),
            ..Closely::default()
        };
        assert!(closely.counters_refused().is_some());
        assert!(Closely::default().counters_refused().is_none());
    }
}
