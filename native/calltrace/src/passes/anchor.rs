//! Where the passes of a process begin and end: the wait that it comes back to when it has nothing to do.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::journal::{Action, Entry, Journal, Process, SiteId};
use crate::names::Class;

/// A server polls, asks for an address or two, and accepts: no more calls than these lie between.
const MOST_BEFORE_ACCEPT: usize = 8;
/// Another process has a loop when it came back to its wait more often than this.
const LEAST_WAITS: u32 = 4;

/// What the choice needs to know of each site.
pub struct Sites {
    class: Vec<Class>,
    idle: Vec<Idle>,
}

/// Whether a process that has nothing to do may wait at a site.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Idle {
    Never,
    May,
    /// A read from a pipe: whoever has children reads what they answer.
    WithoutChildren,
}

impl Sites {
    pub fn of(journal: &Journal) -> Sites {
        let sites = journal.sites.iter();
        let seeks = sites.clone().filter(|site| site.class == Class::Seek);
        let files: FxHashSet<&str> = seeks.map(|site| site.target.as_str()).collect();
        // A read of a file does not wait for work.
        let is_file = |target: &str| {
            let unnamed = target.starts_with("descriptor");
            target.starts_with('/') || (unnamed && files.contains(target))
        };
        let idle = sites.map(|site| match site.class {
            Class::Poll | Class::Lock | Class::Sleep | Class::Wait => Idle::May,
            Class::Read if is_file(&site.target) => Idle::Never,
            Class::Read if site.target.contains("pipe") => Idle::WithoutChildren,
            Class::Read => Idle::May,
            _ => Idle::Never,
        });
        Sites {
            class: journal.classes(),
            idle: idle.collect(),
        }
    }

    pub fn is_accept(&self, site: SiteId) -> bool {
        self.class[site as usize] == Class::Accept
    }

    fn class_of(&self, entry: &Entry) -> Class {
        self.class[entry.site() as usize]
    }

    pub fn accepts(&self, entry: &Entry) -> bool {
        self.class_of(entry) == Class::Accept && !entry.failed()
    }
}

/// The recurring wait of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// Null for a server whose trace does not show it waiting for work.
    pub idle: Option<SiteId>,
    /// The process accepts connections.
    pub server: bool,
    /// What to call the loop by: the idle wait, or the accept.
    pub site: SiteId,
}

/// The wait that a process comes back to; null when there is none.
pub fn anchor(process: &Process, sites: &Sites, waits: &mut Waits) -> Option<Anchor> {
    let mut accepts = Vec::new();
    let has_children = process
        .actions
        .iter()
        .any(|(_, action)| matches!(action, Action::Forked(_)));
    for (at, entry) in process.entries.iter().enumerate() {
        match sites.idle[entry.site() as usize] {
            Idle::May => waits.add(entry),
            Idle::WithoutChildren if !has_children => waits.add(entry),
            _ if sites.accepts(entry) => accepts.push(at as u32),
            _ => {}
        }
    }
    let worker = waits.worker();
    server(process, sites, &accepts).or(worker)
}

/// A process that accepts is idle in the poll right before its accepts, or without any in accept itself.
fn server(process: &Process, sites: &Sites, accepts: &[u32]) -> Option<Anchor> {
    let mut polls: FxHashMap<SiteId, u32> = FxHashMap::default();
    let mut own: FxHashMap<SiteId, u32> = FxHashMap::default();
    let (mut waited_s, mut elapsed_s) = (0.0, 0.0);
    for &at in accepts {
        let entry = &process.entries[at as usize];
        *own.entry(entry.site()).or_default() += 1;
        elapsed_s += entry.seconds();
        waited_s += entry.seconds() - process.cpu_of(at).unwrap_or(0.0);
        if let Some(poll) = poll_before(&process.entries[..at as usize], sites) {
            *polls.entry(poll).or_default() += 1;
        }
    }
    let accept = most(&own)?;
    // An accept that computed all its time did not wait: the trace lacks the wait before it.
    let accept_waits = waited_s >= elapsed_s / 2.0;
    let idle = most(&polls).or(accept_waits.then_some(accept));
    Some(Anchor {
        idle,
        server: true,
        site: idle.unwrap_or(accept),
    })
}

fn poll_before(entries: &[Entry], sites: &Sites) -> Option<SiteId> {
    for entry in entries.iter().rev().take(MOST_BEFORE_ACCEPT) {
        match sites.class_of(entry) {
            Class::Poll => return Some(entry.site()),
            // The connection before was still being served.
            Class::Read | Class::Write | Class::Close | Class::Fork | Class::Accept => return None,
            _ => {}
        }
    }
    None
}

fn most(counts: &FxHashMap<SiteId, u32>) -> Option<SiteId> {
    let most = counts
        .iter()
        .max_by_key(|&(&site, &count)| (count, std::cmp::Reverse(site)));
    most.map(|(&site, _)| site)
}

/// How often and how long a process waited, by site. One is used for many processes, to spare memory.
pub struct Waits {
    sums: Vec<(u32, f64)>,
    /// Sites whose sums are not empty.
    met: Vec<SiteId>,
}

impl Waits {
    pub fn new(sites: usize) -> Waits {
        Waits {
            sums: vec![(0, 0.0); sites],
            met: Vec::new(),
        }
    }

    fn add(&mut self, entry: &Entry) {
        let (count, seconds) = &mut self.sums[entry.site() as usize];
        if *count == 0 {
            self.met.push(entry.site());
        }
        *count += 1;
        *seconds += entry.seconds();
    }

    /// A process that does not accept is idle where it spent most time waiting, if it did so again and again. All
    /// sums are forgotten.
    fn worker(&mut self) -> Option<Anchor> {
        let mut longest: Option<(SiteId, f64)> = None;
        for site in self.met.drain(..) {
            let (count, seconds) = std::mem::take(&mut self.sums[site as usize]);
            if count >= LEAST_WAITS && longest.is_none_or(|(_, longest_s)| seconds > longest_s) {
                longest = Some((site, seconds));
            }
        }
        longest.map(|(site, _)| Anchor {
            idle: Some(site),
            server: false,
            site,
        })
    }
}
