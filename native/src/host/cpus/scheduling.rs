//! How the processes that a whole database waits for are scheduled, and where they may run: rows of `setting`.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use crate::host::interval::Interval;
use crate::host::setting::Settings;
use crate::host::text::{fields, lines, value};

/// What their names begin with: log writers, checkpointers, those that accept connections, and servers of one process.
const AWAITED: [&str; 15] = [
    "postgres: walwriter",
    "postgres: walsender",
    "postgres: checkpointer",
    "postgres: background writer",
    "postgres: postmaster",
    "mysqld",
    "mariadbd",
    "ora_lgwr",
    "ora_lg0",
    "ora_lg1",
    "ora_ckpt",
    "ora_dbw",
    "ora_lms",
    "ora_pmon",
    "tnslsnr",
];
/// By the numbers of linux/sched.h.
const POLICIES: [&str; 8] = [
    "SCHED_OTHER",
    "SCHED_FIFO",
    "SCHED_RR",
    "SCHED_BATCH",
    "4",
    "SCHED_IDLE",
    "SCHED_DEADLINE",
    "SCHED_EXT",
];
/// Positions in /proc/PID/stat after the name (proc(5): nice is field 19, the name field 2).
const NICE: usize = 16;
const REAL_TIME_PRIORITY: usize = 37;
const POLICY: usize = 38;

type Told = Vec<(&'static str, String)>;

/// Tells of each such process once, and again when something was changed.
#[derive(Default)]
pub struct Scheduling {
    told: HashMap<u32, Told>,
}

impl Scheduling {
    /// Adds what is new about some processes: number, name and folder in /proc of each.
    pub fn sample<'a>(
        &mut self,
        interval: &Interval,
        processes: impl Iterator<Item = (u32, &'a str, &'a Path)>,
        settings: &mut Settings,
    ) {
        let mut told = HashMap::new();
        let awaited = processes.filter(|(_, command, _)| AWAITED.iter().any(|begin| command.starts_with(begin)));
        for (pid, command, folder) in awaited {
            let now = read(folder);
            let before = self.told.remove(&pid).unwrap_or_default();
            for (name, value) in now.iter().filter(|now| !before.contains(now)) {
                settings.tell(interval, "process", &format!("{pid} {command}.{name}"), value, None);
            }
            told.insert(pid, now);
        }
        self.told = told;
    }
}

/// What the kernel says of a process; nothing of one that has ended.
fn read(folder: &Path) -> Told {
    let text = |name: &str| fs::read(folder.join(name)).unwrap_or_default();
    let (stat, status, sched) = (text("stat"), text("status"), text("sched"));
    let mut told = of_stat(&stat);
    for (name, key) in [("cpus", "Cpus_allowed_list:"), ("memory_nodes", "Mems_allowed_list:")] {
        let found = lines(&status).find_map(|line| line.strip_prefix(key.as_bytes()));
        told.extend(found.map(|value| (name, String::from_utf8_lossy(value.trim_ascii()).into_owned())));
    }
    told.extend(autogroup_nice(&text("autogroup")).map(|nice| ("autogroup_nice", nice)));
    // Linux 6.6 and later have one for each task; real-time policies have none.
    let slice_ns = value(&sched, b"se.slice").filter(|_| !told.iter().any(|(name, _)| *name == "rt_priority"));
    told.extend(slice_ns.map(|slice| ("slice_ms", format!("{}", slice as f64 / 1e6))));
    told
}

/// The nice value of the session that it belongs to, of `/autogroup-7 nice 0`: with kernel.sched_autogroup_enabled the one that
/// counts against other sessions (sched(7)).
fn autogroup_nice(autogroup: &[u8]) -> Option<String> {
    let nice = fields(autogroup.trim_ascii())
        .skip_while(|field| *field != b"nice")
        .nth(1)?;
    Some(String::from_utf8_lossy(nice).into_owned())
}

fn of_stat(stat: &[u8]) -> Told {
    let close = stat.iter().rposition(|&byte| byte == b')').map_or(0, |close| close + 1);
    let values: Vec<_> = fields(&stat[close..])
        .map(|field| String::from_utf8_lossy(field.trim_ascii()))
        .collect();
    let number = |position: usize| values.get(position).and_then(|field| field.parse::<i64>().ok());
    let (Some(nice), Some(priority), Some(policy)) = (number(NICE), number(REAL_TIME_PRIORITY), number(POLICY)) else {
        return Vec::new();
    };
    let named = usize::try_from(policy).ok().and_then(|policy| POLICIES.get(policy));
    let mut told = vec![(
        "policy",
        named.map_or_else(|| policy.to_string(), |name| name.to_string()),
    )];
    told.push(if priority > 0 {
        ("rt_priority", priority.to_string())
    } else {
        ("nice", nice.to_string())
    });
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "77 (postgres) S 1 77 77 0 -1 4194560 34800 4056220 3 1183 56 215 23089 1742 NICE 13 0 22 46551040 3747 \
        18446744073709551615 1 2 3 4 5 6 7 8 9 10 11 12 17 1 RT POLICY 0 0 0\n";

    fn of(nice: &str, priority: &str, policy: &str) -> Told {
        let text = STAT.replace("NICE", &format!("20 {nice}"));
        of_stat(text.replace("RT", priority).replace("POLICY", policy).as_bytes())
    }

    fn told(pairs: &[(&'static str, &str)]) -> Told {
        pairs.iter().map(|(name, value)| (*name, value.to_string())).collect()
    }

    #[test]
    fn policies_have_their_names_and_one_of_two_priorities() {
        assert_eq!(of("-5", "0", "0"), told(&[("policy", "SCHED_OTHER"), ("nice", "-5")]));
        assert_eq!(
            of("0", "40", "1"),
            told(&[("policy", "SCHED_FIFO"), ("rt_priority", "40")])
        );
        assert_eq!(of("19", "0", "99"), told(&[("policy", "99"), ("nice", "19")]));
    }

    #[test]
    fn what_is_cut_off_is_not_told() {
        assert_eq!(of_stat(b"77 (postgres) S 1 77"), Vec::new());
        assert_eq!(of_stat(b""), Vec::new());
        assert_eq!(read(Path::new("/nowhere")), Vec::new());
    }

    #[test]
    fn cpus_nodes_and_slice_come_from_further_files() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(
            folder.path().join("status"),
            "Cpus_allowed:\t3\nCpus_allowed_list:\t0-1\nMems_allowed_list:\t0\n",
        )
        .unwrap();
        fs::write(folder.path().join("sched"), "se.slice   :    1400000\n").unwrap();
        fs::write(folder.path().join("autogroup"), "/autogroup-7 nice -5\n").unwrap();
        let expected = told(&[
            ("cpus", "0-1"),
            ("memory_nodes", "0"),
            ("autogroup_nice", "-5"),
            ("slice_ms", "1.4"),
        ]);
        assert_eq!(read(folder.path()), expected);
    }
}
