//! Which process holds a listening socket: looked for only where connections wait long, for it takes a look at all descriptors.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::host::text::number;

/// Below this nobody asks who accepts.
const SLOW_S: f64 = 0.05;
/// A socket whose process was not found, or may have changed, is looked for again after this.
const AGAIN: Duration = Duration::from_secs(60);

pub struct Owners {
    proc: PathBuf,
    known: HashMap<u32, (Instant, Option<u32>)>,
}

impl Owners {
    pub fn new(proc: &Path) -> Self {
        Self {
            proc: proc.to_path_buf(),
            known: HashMap::new(),
        }
    }

    /// The process that accepts at this socket, where that takes long: the first of those that hold it.
    pub fn of_slow(&mut self, inode: Option<u32>, accept_delay_s: Option<f64>) -> Option<u32> {
        let inode = inode?;
        if accept_delay_s? < SLOW_S {
            return None;
        }
        match self.known.get(&inode) {
            Some((when, pid)) if when.elapsed() < AGAIN => *pid,
            _ => {
                let pid = self.search(inode);
                self.known.insert(inode, (Instant::now(), pid));
                pid
            }
        }
    }

    fn search(&self, inode: u32) -> Option<u32> {
        let wanted = format!("socket:[{inode}]");
        let holds = |pid: &u32| {
            let descriptors = std::fs::read_dir(self.proc.join(pid.to_string()).join("fd"));
            descriptors.is_ok_and(|mut found| {
                found.any(|one| {
                    one.is_ok_and(|one| std::fs::read_link(one.path()).is_ok_and(|to| to.as_os_str() == &*wanted))
                })
            })
        };
        let names = std::fs::read_dir(&self.proc).ok()?.flatten();
        let mut pids: Vec<u32> = names
            .filter_map(|name| number(name.file_name().as_encoded_bytes())?.try_into().ok())
            .collect();
        pids.sort_unstable_by_key(|pid| (*pid == 1, *pid)); // init holds what it listens on for others
        pids.into_iter().find(holds)
    }
}
