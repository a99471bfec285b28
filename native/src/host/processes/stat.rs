//! The small files of one process: /proc/PID/stat, schedstat, status and io (proc(5)).

use crate::host::text::{fields, number, numbers, value};

/// What /proc/PID/stat says about all threads of a process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stat<'a> {
    pub comm: &'a [u8],
    pub ppid: u64,
    pub minor_faults: u64,
    pub major_faults: u64,
    pub user_ticks: u64,
    pub system_ticks: u64,
    pub threads: u64,
    /// Ticks between boot and the start of the process.
    pub started_ticks: u64,
    pub rss_pages: u64,
}

impl<'a> Stat<'a> {
    /// Nothing when the text is cut off. The name may hold blanks and parentheses: it ends at the last one.
    pub fn parse(text: &'a [u8]) -> Option<Self> {
        let open = text.iter().position(|&byte| byte == b'(')?;
        let close = text.iter().rposition(|&byte| byte == b')')?;
        let mut rest = fields(text.get(close + 1..)?);
        // The fields after the name start with the third; nth(n) skips n of them.
        let mut skip_to = |skipped: usize| number(rest.nth(skipped)?);
        Some(Self {
            comm: text.get(open + 1..close)?,
            ppid: skip_to(1)?,
            minor_faults: skip_to(5)?,
            major_faults: skip_to(1)?,
            user_ticks: skip_to(1)?,
            system_ticks: skip_to(0)?,
            threads: skip_to(4)?,
            started_ticks: skip_to(1)?,
            rss_pages: skip_to(1)?,
        })
    }
}

/// /proc/PID/schedstat: about one thread alone, the first.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Schedstat {
    pub run_ns: u64,
    pub run_wait_ns: u64,
    pub scheduled: u64,
}

impl Schedstat {
    pub fn parse(text: &[u8]) -> Option<Self> {
        let [run_ns, run_wait_ns, scheduled] = numbers(text);
        Some(Self {
            run_ns: run_ns?,
            run_wait_ns: run_wait_ns?,
            scheduled: scheduled?,
        })
    }
}

/// Voluntary and involuntary switches of one thread, from /proc/PID/status.
pub fn switches(status: &[u8]) -> (Option<u64>, Option<u64>) {
    (
        value(status, b"voluntary_ctxt_switches"),
        value(status, b"nonvoluntary_ctxt_switches"),
    )
}

/// Bytes fetched from and sent to storage, from /proc/PID/io.
pub fn storage_bytes(io: &[u8]) -> (Option<u64>, Option<u64>) {
    (value(io, b"read_bytes"), value(io, b"write_bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_blanks_and_parentheses() {
        let text = b"77 (tmux: (a) b) S 1 77 77 0 -1 4194560 34800 4056220 3 1183 56 215 23089 1742 10 -10 13 0 22 46551040 3747 18446744073709551615 1";
        let stat = Stat::parse(text).unwrap();
        assert_eq!(stat.comm, b"tmux: (a) b");
        assert_eq!((stat.ppid, stat.minor_faults, stat.major_faults), (1, 34800, 3));
        assert_eq!((stat.user_ticks, stat.system_ticks), (56, 215));
        assert_eq!((stat.threads, stat.started_ticks, stat.rss_pages), (13, 22, 3747));
    }

    #[test]
    fn what_is_cut_off_is_unknown() {
        assert_eq!(Stat::parse(b"77 (sh) S 1 77 77 0 -1 4194560 34800"), None);
        assert_eq!(Stat::parse(b"77 (sh"), None);
        assert_eq!(Stat::parse(b""), None);
        assert_eq!(Stat::parse(b") ("), None);
        assert_eq!(Schedstat::parse(b"12 34"), None);
    }

    #[test]
    fn switches_and_bytes_by_name() {
        let status = b"Name:\tx\nvoluntary_ctxt_switches:\t150\nnonvoluntary_ctxt_switches:\t5\n";
        assert_eq!(switches(status), (Some(150), Some(5)));
        let io = b"rchar: 1\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 1\n";
        assert_eq!(storage_bytes(io), (Some(4096), Some(8192)));
        assert_eq!(storage_bytes(b"rchar: 1"), (None, None));
    }
}
