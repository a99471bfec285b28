//! How a server has its data files open, and whether it has rings for asynchronous I/O: /proc/PID/fd and fdinfo.

use std::fs;
use std::path::Path;

use crate::host::text::lines;

/// Of each process so many descriptors are looked at.
const DESCRIPTORS: usize = 512;
/// Files that are open for writing and hold no data.
const BESIDE: [&str; 4] = [".log", ".trc", ".trm", ".pid"];
const LOGS: [&str; 5] = ["/pg_wal/", "/pg_xlog/", "/ib_logfile", "/#ib_redo", "/redo"];

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Open {
    pub files: u64,
    /// Around the page cache (O_DIRECT).
    pub direct: u64,
    /// Each write waits until it is on the disk (O_DSYNC, O_SYNC).
    pub synchronous: u64,
}

/// Of all processes that were looked at together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Descriptors {
    pub data: Open,
    pub log: Open,
    pub rings: u64,
}

impl Descriptors {
    /// Adds those of a process; an error where they may not be listed.
    pub fn add(&mut self, process: &Path) -> std::io::Result<()> {
        for entry in fs::read_dir(process.join("fd"))?.take(DESCRIPTORS).flatten() {
            let Ok(target) = fs::read_link(entry.path()) else {
                continue;
            };
            let target = target.to_string_lossy();
            if target == "anon_inode:[io_uring]" {
                self.rings += 1;
            } else if is_data(&target) {
                let is_log = LOGS.iter().any(|part| target.contains(part));
                let text = fs::read(process.join("fdinfo").join(entry.file_name())).unwrap_or_default();
                let open = if is_log { &mut self.log } else { &mut self.data };
                open.count(flags(&text));
            }
        }
        Ok(())
    }
}

impl Open {
    fn count(&mut self, flags: Option<i32>) {
        let Some(flags) = flags else { return };
        let is_appended = flags & libc::O_APPEND != 0;
        if flags & libc::O_ACCMODE == libc::O_RDONLY || is_appended {
            return; // a program, a library, a report for people
        }
        self.files += 1;
        self.direct += u64::from(flags & libc::O_DIRECT != 0);
        self.synchronous += u64::from(flags & libc::O_DSYNC != 0);
    }
}

fn is_data(target: &str) -> bool {
    let of_the_kernel = [
        "/dev/",
        "/proc/",
        "/sys/",
        "/memfd:",
        "/anon_hugepage",
        "/SYSV",
        "/run/",
    ];
    target.starts_with('/')
        && !target.ends_with(" (deleted)")
        && !of_the_kernel.iter().any(|beginning| target.starts_with(beginning))
        && !BESIDE.iter().any(|ending| target.ends_with(ending))
}

/// The flags of open(2), which fdinfo has in octal digits.
fn flags(fdinfo: &[u8]) -> Option<i32> {
    let text = lines(fdinfo).find_map(|line| line.strip_prefix(b"flags:"))?;
    i32::from_str_radix(std::str::from_utf8(text).ok()?.trim(), 8).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn flags_are_those_of_the_data_files_alone() {
        let process = tempfile::tempdir().unwrap();
        for folder in ["fd", "fdinfo"] {
            fs::create_dir(process.path().join(folder)).unwrap();
        }
        let direct = libc::O_RDWR | libc::O_DIRECT;
        for (number, (target, flags)) in [
            ("/data/base/5/1000", direct),
            ("/data/base/5/1001", libc::O_RDWR),
            ("/data/base/5/1002 (deleted)", direct),
            ("/usr/lib/libz.so", libc::O_RDONLY),
            ("/data/pg_wal/0001", libc::O_RDWR | libc::O_DSYNC),
            ("/var/log/mysql/error.txt", libc::O_WRONLY | libc::O_APPEND),
            ("anon_inode:[io_uring]", libc::O_RDWR),
            ("socket:[77]", libc::O_RDWR),
        ]
        .iter()
        .enumerate()
        {
            symlink(target, process.path().join("fd").join(number.to_string())).unwrap();
            let info = format!("pos:\t0\nflags:\t0{flags:o}\nmnt_id:\t28\n");
            fs::write(process.path().join("fdinfo").join(number.to_string()), info).unwrap();
        }
        let mut found = Descriptors::default();
        found.add(process.path()).unwrap();
        let open = |files, direct, synchronous| Open {
            files,
            direct,
            synchronous,
        };
        assert_eq!((found.data, found.log, found.rings), (open(2, 1, 0), open(1, 0, 1), 1));
    }
}
