//! Which processes are database servers, and which belong to each.

use std::path::{Path, PathBuf};

use crate::host::processes::command::is_database;
use crate::host::processes::stat::Stat;
use crate::host::text::number;

/// Of the processes of one server so many of the largest are looked at: the others do the same.
const MEMBERS: usize = 8;

/// One server: its first process, and the largest of the others.
pub struct Server {
    pub pid: u64,
    /// Its folder in /proc.
    pub process: PathBuf,
    /// Folders in /proc of its other processes, the largest first.
    pub members: Vec<PathBuf>,
}

struct Seen {
    pid: u64,
    parent: u64,
    name: String,
    rss_pages: u64,
}

/// The servers of this host, in the order of their pids.
pub fn find(proc: &Path) -> std::io::Result<Vec<Server>> {
    let seen: Vec<Seen> = std::fs::read_dir(proc)?
        .flatten()
        .filter_map(|entry| number(entry.file_name().as_encoded_bytes()))
        .filter_map(|pid| look(proc, pid))
        .collect();
    let mut servers: Vec<Server> = seen
        .iter()
        .filter(|one| is_first(one, &seen))
        .map(|first| Server {
            pid: first.pid,
            process: proc.join(first.pid.to_string()),
            members: members(proc, first, &seen),
        })
        .collect();
    servers.sort_by_key(|server| server.pid);
    Ok(servers)
}

fn look(proc: &Path, pid: u64) -> Option<Seen> {
    let text = std::fs::read(proc.join(pid.to_string()).join("stat")).ok()?;
    let stat = Stat::parse(&text)?;
    let name = String::from_utf8_lossy(stat.comm).into_owned();
    is_database(&name).then_some(Seen {
        pid,
        parent: stat.ppid,
        name,
        rss_pages: stat.rss_pages,
    })
}

/// Oracle's processes are all children of init: the process monitor stands for its instance.
fn is_first(one: &Seen, seen: &[Seen]) -> bool {
    if one.name.starts_with("ora") {
        return one.name.starts_with("ora_pmon_");
    }
    !seen.iter().any(|other| other.pid == one.parent)
}

fn members(proc: &Path, first: &Seen, seen: &[Seen]) -> Vec<PathBuf> {
    let instance = first.name.strip_prefix("ora_pmon_");
    let is_member = |one: &&Seen| match instance {
        Some(name) => one.pid != first.pid && one.name.starts_with("ora_") && one.name.ends_with(name),
        None => one.parent == first.pid,
    };
    let mut found: Vec<&Seen> = seen.iter().filter(is_member).collect();
    found.sort_by_key(|one| (std::cmp::Reverse(one.rss_pages), one.pid));
    let largest = found.into_iter().take(MEMBERS);
    largest.map(|one| proc.join(one.pid.to_string())).collect()
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn add_process(proc: &Path, pid: u64, name: &str, parent: u64, rss_pages: u64) -> PathBuf {
        let folder = proc.join(pid.to_string());
        std::fs::create_dir_all(&folder).unwrap();
        let stat = format!("{pid} ({name}) S {parent} 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 100 0 {rss_pages} 0");
        std::fs::write(folder.join("stat"), stat).unwrap();
        folder
    }

    #[test]
    fn a_server_is_who_has_no_server_above_it() {
        let proc = tempfile::tempdir().unwrap();
        for (pid, name, parent, rss) in [
            (10, "postgres", 1, 5),
            (11, "postgres", 10, 50),
            (12, "postgres", 10, 500),
            (20, "mariadbd", 9, 7),
            (30, "ora_pmon_ORCL", 1, 7),
            (31, "ora_dbw0_ORCL", 1, 70),
            (32, "ora_dbw0_OTHER", 1, 70),
            (40, "pgbench", 1, 9),
        ] {
            add_process(proc.path(), pid, name, parent, rss);
        }
        let servers = find(proc.path()).unwrap();
        assert_eq!(
            servers.iter().map(|server| server.pid).collect::<Vec<_>>(),
            [10, 20, 30]
        );
        assert_eq!(servers[0].members, [proc.path().join("12"), proc.path().join("11")]);
        assert_eq!(servers[2].members, [proc.path().join("31")]);
    }
}
