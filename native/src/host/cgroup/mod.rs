//! Control groups of database servers, and the groups above them that set a limit: what throttles a server in a container.

mod files;

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use self::files::{Reading, Value};
use crate::host::interval::Interval;
use crate::host::mounts;
use crate::host::statistics::{Figure, Statistics};

/// Processes are looked up anew every so many samples.
const REST: u64 = 10;

/// The files of one kind of hierarchy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Unified,
    Cpu,
    Memory,
    Blkio,
}

/// A mounted hierarchy. In a container `root` is the part of it that is mounted.
#[derive(Debug, PartialEq)]
struct Hierarchy {
    kind: Kind,
    root: String,
    point: PathBuf,
}

/// A group to read; `own` when a server's process is in it, else it is one above.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Group {
    kind: Kind,
    path: String,
    folder: PathBuf,
    own: bool,
}

pub struct Cgroups {
    hierarchies: Vec<Hierarchy>,
    devices: Devices,
    groups: BTreeSet<Group>,
    /// Counters at the last sample, by entity and name.
    before: HashMap<(String, &'static str), f64>,
    samples: u64,
}

impl Cgroups {
    pub fn new(proc: &Path, sys: &Path) -> Self {
        let mountinfo = std::fs::read_to_string(proc.join("self/mountinfo")).unwrap_or_default();
        Self {
            hierarchies: hierarchies(&mountinfo, sys),
            devices: Devices {
                folder: sys.join("dev/block"),
                names: HashMap::new(),
            },
            groups: BTreeSet::new(),
            before: HashMap::new(),
            samples: 0,
        }
    }

    pub fn sample<'a>(
        &mut self,
        interval: &Interval,
        database_folders: impl Iterator<Item = &'a Path>,
        statistics: &mut Statistics,
    ) {
        if self.samples.is_multiple_of(REST) || self.groups.is_empty() {
            self.groups = self.find_groups(database_folders);
        }
        self.samples += 1;
        let mut counters = HashMap::new();
        for group in &self.groups {
            for reading in files::read(group.kind, &group.folder, group.own) {
                let entity = match &reading.device {
                    Some(device) => format!("{} {}", group.path, self.devices.name(device)),
                    None => group.path.clone(),
                };
                add(interval, &entity, &reading, &self.before, statistics);
                if let Value::Counter(value) | Value::Share(value) = reading.value {
                    counters.insert((entity, reading.name), value);
                }
            }
        }
        self.before = counters;
    }

    fn find_groups<'a>(&self, folders: impl Iterator<Item = &'a Path>) -> BTreeSet<Group> {
        let mut groups = BTreeSet::new();
        // A process that ended meanwhile is in no group.
        for text in folders.filter_map(|folder| std::fs::read_to_string(folder.join("cgroup")).ok()) {
            for (kind, path) in text.lines().flat_map(memberships) {
                for hierarchy in self.hierarchies.iter().filter(|hierarchy| hierarchy.kind == kind) {
                    groups.extend(hierarchy.with_ancestors(path));
                }
            }
        }
        groups
    }
}

fn add(
    interval: &Interval,
    entity: &str,
    reading: &Reading,
    before: &HashMap<(String, &'static str), f64>,
    statistics: &mut Statistics,
) {
    let figure = Figure {
        component: "cgroup",
        entity: Some(entity),
        name: reading.name,
        unit: reading.unit,
    };
    let passed = |now: f64| {
        let before = before.get(&(entity.to_string(), reading.name))?;
        Some(now - before).filter(|passed| *passed >= 0.0)
    };
    match reading.value {
        Value::Gauge(value) => statistics.gauge(interval, figure, value),
        Value::Counter(now) => {
            if let Some(rate) = passed(now).and_then(|passed| interval.precise_rate(passed)) {
                statistics.rate(interval, figure, rate);
            }
        }
        Value::Share(seconds) => {
            if let Some(share) = passed(seconds).and_then(|passed| interval.share(passed * 1e9)) {
                statistics.gauge(interval, figure, share.min(100.0));
            }
        }
    }
}

/// Names of block devices by MAJOR:MINOR.
struct Devices {
    folder: PathBuf,
    names: HashMap<String, String>,
}

impl Devices {
    fn name(&mut self, id: &str) -> &str {
        self.names.entry(id.to_string()).or_insert_with(|| {
            let link = std::fs::read_link(self.folder.join(id)).unwrap_or_default();
            link.file_name()
                .map_or(id.to_string(), |name| name.to_string_lossy().into_owned())
        })
    }
}

impl Hierarchy {
    /// The group at `path` and those above it that are mounted here.
    fn with_ancestors(&self, path: &str) -> Vec<Group> {
        let inside = match self.root.as_str() {
            "/" => path,
            root => path.strip_prefix(root).unwrap_or("/"),
        };
        if inside.starts_with("/..") {
            return Vec::new(); // above what this container sees
        }
        let relative = Path::new(inside.trim_start_matches('/'));
        let group = |ancestor: &Path| Group {
            kind: self.kind,
            path: format!("/{}", ancestor.display()),
            folder: self.point.join(ancestor),
            // The top group is the host itself, unless it is a container's.
            own: ancestor == relative && (self.root != "/" || ancestor != Path::new("")),
        };
        relative.ancestors().map(group).collect()
    }
}

fn hierarchies(mountinfo: &str, sys: &Path) -> Vec<Hierarchy> {
    let mut found = Vec::new();
    for mount in mounts::parse(mountinfo) {
        let point = match mount.point.strip_prefix("/sys") {
            Ok(rest) => sys.join(rest),
            Err(_) => mount.point.clone(),
        };
        let kinds: Vec<Kind> = match mount.kind.as_str() {
            "cgroup2" => vec![Kind::Unified],
            "cgroup" => mount.options.split(',').filter_map(controller).collect(),
            _ => continue,
        };
        found.extend(kinds.into_iter().map(|kind| Hierarchy {
            kind,
            root: mount.root.clone(),
            point: point.clone(),
        }));
    }
    found
}

fn controller(name: &str) -> Option<Kind> {
    match name {
        "cpu" => Some(Kind::Cpu),
        "memory" => Some(Kind::Memory),
        "blkio" => Some(Kind::Blkio),
        _ => None,
    }
}

/// Kind and path of a line of /proc/PID/cgroup: `4:cpu,cpuacct:/db` or, for the unified hierarchy, `0::/db`.
fn memberships(line: &str) -> Vec<(Kind, &str)> {
    let mut parts = line.splitn(3, ':').skip(1);
    let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else {
        return Vec::new();
    };
    match controllers {
        "" => vec![(Kind::Unified, path)],
        names => names
            .split(',')
            .filter_map(controller)
            .map(|kind| (kind, path))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTINFO: &str = "30 1 0:25 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n\
        31 1 0:26 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
        32 1 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n\
        33 1 0:28 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n";

    #[test]
    fn hierarchies_are_found_by_controller() {
        let found = hierarchies(MOUNTINFO, Path::new("/tmp/sys"));
        let kinds: Vec<Kind> = found.iter().map(|hierarchy| hierarchy.kind).collect();
        assert_eq!(kinds, [Kind::Cpu, Kind::Memory, Kind::Unified]);
        assert_eq!(found[0].point, Path::new("/tmp/sys/fs/cgroup/cpu"));
    }

    #[test]
    fn a_group_comes_with_those_above_it() {
        let found = hierarchies(MOUNTINFO, Path::new("/sys"));
        let groups = found[0].with_ancestors("/lab/db");
        let paths: Vec<(&str, bool)> = groups.iter().map(|group| (group.path.as_str(), group.own)).collect();
        assert_eq!(paths, [("/lab/db", true), ("/lab", false), ("/", false)]);
        assert!(!found[0].with_ancestors("/")[0].own);
    }

    #[test]
    fn a_container_sees_its_own_group_at_the_top() {
        let memory = &hierarchies(MOUNTINFO, Path::new("/sys"))[1];
        let groups = memory.with_ancestors("/docker/abc");
        assert_eq!((groups.len(), groups[0].path.as_str(), groups[0].own), (1, "/", true));
        assert_eq!(groups[0].folder, Path::new("/sys/fs/cgroup/memory/"));
    }

    #[test]
    fn both_versions_of_membership() {
        assert_eq!(memberships("4:cpu,cpuacct:/db"), [(Kind::Cpu, "/db")]);
        assert_eq!(
            memberships("0::/system.slice/a:b.service"),
            [(Kind::Unified, "/system.slice/a:b.service")]
        );
        assert_eq!(memberships("9:name=systemd:/"), []);
        assert_eq!(memberships("cut"), []);
    }
}
