//! Where the passes of a process begin and end: the wait that it comes back to when it has nothing to do.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::journal::{Entry, Journal, Process, SiteId};
use crate::names::Class;

/// A server polls, asks for an address or two, and accepts: no more calls than these lie between.
const MOST_BEFORE_ACCEPT: usize = 8;
/// Another process has a loop when it came back to its wait more often than this.
const LEAST_WAITS: u32 = 4;

/// What the choice needs to know of each site.
pub struct Sites {
    pub class: Vec<Class>,
    /// A process that has nothing to do may wait here.
    may_idle: Vec<bool>,
}

impl Sites {
    pub fn of(journal: &Journal) -> Sites {
        let sites = journal.sites.iter();
        let seeks = sites
            .clone()
            .filter(|site| site.class == Class::Seek && !site.target.is_empty());
        let files: FxHashSet<&str> = seeks.map(|site| site.target.as_str()).collect();
        Sites {
            class: journal.classes(),
            may_idle: sites
                .map(|site| match site.class {
                    Class::Poll | Class::Lock | Class::Sleep | Class::Wait => true,
                    // A read of a file does not wait for work.
                    Class::Read => !site.target.starts_with('/') && !files.contains(site.target.as_str()),
                    _ => false,
                })
                .collect(),
        }
    }

    pub fn class_of(&self, entry: &Entry) -> Class {
        self.class[entry.site() as usize]
    }

    fn accepts(&self, entry: &Entry) -> bool {
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
pub fn anchor(process: &Process, sites: &Sites) -> Option<Anchor> {
    server(process, sites).or_else(|| worker(process, sites))
}

/// A process that accepts is idle in the poll right before its accepts, or without any in accept itself.
fn server(process: &Process, sites: &Sites) -> Option<Anchor> {
    let mut polls: FxHashMap<SiteId, u32> = FxHashMap::default();
    let mut accepts: FxHashMap<SiteId, u32> = FxHashMap::default();
    let mut waited_s = 0.0;
    let mut elapsed_s = 0.0;
    for (at, entry) in process.entries.iter().enumerate() {
        if sites.accepts(entry) {
            *accepts.entry(entry.site()).or_default() += 1;
            elapsed_s += entry.seconds();
            waited_s += entry.seconds() - process.cpu_of(at as u32).unwrap_or(0.0);
            if let Some(poll) = poll_before(&process.entries[..at], sites) {
                *polls.entry(poll).or_default() += 1;
            }
        }
    }
    let accept = most(&accepts)?;
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

/// Another process is idle where it spent most time waiting, if it did so again and again.
fn worker(process: &Process, sites: &Sites) -> Option<Anchor> {
    let mut waits: FxHashMap<SiteId, (u32, f64)> = FxHashMap::default();
    for entry in &process.entries {
        if sites.may_idle[entry.site() as usize] {
            let (count, seconds) = waits.entry(entry.site()).or_default();
            *count += 1;
            *seconds += entry.seconds();
        }
    }
    let often = waits.into_iter().filter(|(_, (count, _))| *count >= LEAST_WAITS);
    let longest = |a: &(SiteId, (u32, f64)), b: &(SiteId, (u32, f64))| a.1.1.total_cmp(&b.1.1).then(b.0.cmp(&a.0));
    let (site, _) = often.max_by(longest)?;
    Some(Anchor {
        idle: Some(site),
        server: false,
        site,
    })
}
