//! Numbers for the names of calls, for sites and for targets, given when each is met first.

use rustc_hash::FxHashMap;

use crate::details;
use crate::journal::{CallName, Journal, Site, SiteId};
use crate::names::{self, CALLS, UNKNOWN};
use crate::profile::{CallSum, Profile, Target};

/// Beyond these many, sites of a call are no longer told apart, and targets are counted together.
const MOST_SITES: usize = 200_000;
const MOST_TARGETS: usize = 50_000;

#[derive(Default)]
pub struct Numbers {
    calls: Vec<Option<u16>>,
    other_calls: FxHashMap<Vec<u8>, u16>,
    sites: FxHashMap<u64, SiteId>,
    targets: FxHashMap<String, u32>,
}

impl Numbers {
    /// Index of a call in the journal and in the profile.
    pub fn call(&mut self, known: u16, name: &[u8], journal: &mut Journal, profile: &mut Profile) -> u16 {
        if known != UNKNOWN {
            if let Some(&Some(call)) = self.calls.get(known as usize) {
                return call;
            }
        } else if let Some(&call) = self.other_calls.get(name) {
            return call;
        }
        let Ok(call) = u16::try_from(journal.calls.len()) else {
            return u16::MAX; // 65,536 names are no system's calls: a damaged log; the last one takes the rest
        };
        journal.calls.push(CallName {
            name: String::from_utf8_lossy(name).into_owned(),
            class: names::class(known),
        });
        profile.calls.push(CallSum::default());
        if known == UNKNOWN {
            self.other_calls.insert(name.to_vec(), call);
        } else {
            self.calls.resize(CALLS.len(), None);
            self.calls[known as usize] = Some(call);
        }
        call
    }

    /// Index of a site; the text of its arguments is kept when it is new.
    pub fn site(
        &mut self,
        hash: u64,
        call: u16,
        known: u16,
        arguments: &[u8],
        target: &str,
        journal: &mut Journal,
    ) -> SiteId {
        if let Some(&site) = self.sites.get(&hash) {
            return site;
        }
        let full = journal.sites.len() >= MOST_SITES;
        let key = if full { u64::from(call) } else { hash };
        *self.sites.entry(key).or_insert_with(|| {
            journal.sites.push(Site {
                call,
                class: names::class(known),
                arguments: if full {
                    "...".to_owned()
                } else {
                    details::shown(known, arguments)
                },
                target: target.to_owned(),
            });
            (journal.sites.len() - 1) as SiteId
        })
    }

    /// Index of a target in the profile; 0, the unnamed one, when there are too many.
    pub fn target(&mut self, name: String, profile: &mut Profile) -> u32 {
        if let Some(&target) = self.targets.get(&name) {
            return target;
        }
        if profile.targets.len() >= MOST_TARGETS {
            return 0;
        }
        let target = profile.targets.len() as u32;
        profile.targets.push(Target {
            target: name.clone(),
            ..Target::default()
        });
        self.targets.insert(name, target);
        target
    }
}
