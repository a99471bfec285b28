//! What a process has mapped, and in pages of which size, by kind of mapping: /proc/PID/smaps, and of a large process status.

use std::path::Path;

use crate::host::text::{fields, lines, number, value};

/// For smaps the kernel walks through all pages that are not huge, and nobody can map anything in that process meanwhile: of more
/// than this, tens of milliseconds.
const WALKED_KIB: u64 = 4 << 20;

/// Kinds of mapping, in the words of the statistics.
pub const KINDS: [&str; 4] = ["shared memory", "heap", "anonymous", "file"];
/// How the kernel names memory that processes share, and that lies in no file of a disk.
const SHARED: [&[u8]; 7] = [
    b"/dev/zero",
    b"/SYSV",
    b"/dev/shm/",
    b"/anon_hugepage",
    b"/memfd:",
    b"/dev/hugepages",
    b"[anon_shmem:",
];
const HUGE: [&[u8]; 3] = [b"AnonHugePages:", b"ShmemPmdMapped:", b"FilePmdMapped:"];

/// Sizes of all mappings of a kind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Mapped {
    pub size_bytes: u64,
    pub resident_bytes: u64,
    /// In huge pages: of hugetlbfs the whole mapping, of transparent ones what is mapped so.
    pub huge_bytes: u64,
}

/// The sums by kind, in the order of `KINDS`.
pub fn read(process: &Path, page_bytes: u64) -> std::io::Result<[Mapped; 4]> {
    let status = std::fs::read(process.join("status"))?;
    if is_large(&status) {
        return Ok(of_status(&status));
    }
    Ok(parse(&std::fs::read(process.join("smaps"))?, page_bytes))
}

/// Whether a process, by its status, is too large to have its pages walked through.
pub fn is_large(status: &[u8]) -> bool {
    value(status, b"VmRSS").is_some_and(|kib| kib > WALKED_KIB)
}

/// What is resident, for what is mapped; of huge pages those of hugetlbfs alone (HugetlbPages, Linux 4.4), which databases have
/// for shared memory.
fn of_status(status: &[u8]) -> [Mapped; 4] {
    let bytes = |key: &[u8]| value(status, key).unwrap_or(0) * 1024;
    let resident = |bytes: u64| Mapped {
        size_bytes: bytes,
        resident_bytes: bytes,
        huge_bytes: 0,
    };
    let huge_bytes = bytes(b"HugetlbPages");
    let shared = Mapped {
        huge_bytes,
        ..resident(bytes(b"RssShmem") + huge_bytes)
    };
    [
        shared,
        Mapped::default(),
        resident(bytes(b"RssAnon")),
        resident(bytes(b"RssFile")),
    ]
}

fn parse(text: &[u8], page_bytes: u64) -> [Mapped; 4] {
    let mut sums = [Mapped::default(); 4];
    let (mut kind, mut size) = (0, 0);
    for line in lines(text) {
        let mut words = fields(line);
        let key = words.next().unwrap_or_default();
        if key.contains(&b'-') {
            kind = kind_of(words.nth(4).unwrap_or_default());
            continue;
        }
        let Some(bytes) = words.next().and_then(number).map(|kib| kib * 1024) else {
            continue; // VmFlags
        };
        let sum = &mut sums[kind];
        match key {
            b"Size:" => {
                size = bytes;
                sum.size_bytes += bytes;
            }
            b"KernelPageSize:" if bytes > page_bytes => sum.huge_bytes += size,
            // Pages of hugetlbfs are not counted as resident.
            b"Rss:" | b"Shared_Hugetlb:" | b"Private_Hugetlb:" => sum.resident_bytes += bytes,
            key if HUGE.contains(&key) => sum.huge_bytes += bytes,
            _ => {}
        }
    }
    sums
}

/// The place in `KINDS` of what is mapped from a path.
pub fn kind_of(path: &[u8]) -> usize {
    match path {
        b"[heap]" => 1,
        b"" => 2,
        path if SHARED.iter().any(|beginning| path.starts_with(beginning)) => 0,
        path if path.starts_with(b"[") => 2,
        _ => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // After Documentation/filesystems/proc.rst of Linux 6.18.
    const SMAPS: &[u8] = b"55d0c0000000-55d0c0a00000 r-xp 00000000 fd:00 1234    /usr/lib/postgresql/15/bin/postgres\n\
        Size:              10240 kB\nKernelPageSize:        4 kB\nMMUPageSize:           4 kB\nRss:                4096 kB\n\
        FilePmdMapped:      2048 kB\nVmFlags: rd ex mr mw me\n\
        55d0c2000000-55d0c2100000 rw-p 00000000 00:00 0    [heap]\nSize:               1024 kB\nKernelPageSize:        4 kB\n\
        Rss:                 512 kB\nAnonHugePages:         0 kB\n\
        7f0000000000-7f0010000000 rw-s 00000000 00:0f 77    /anon_hugepage (deleted)\nSize:             262144 kB\n\
        KernelPageSize:     2048 kB\nRss:                   0 kB\nShared_Hugetlb:     4096 kB\nPrivate_Hugetlb:       0 kB\n\
        7f0020000000-7f0020200000 rw-p 00000000 00:00 0\nSize:               2048 kB\nKernelPageSize:        4 kB\n\
        Rss:                2048 kB\nAnonHugePages:      2048 kB\n";

    #[test]
    fn a_large_process_is_not_walked_through() {
        let process = tempfile::tempdir().unwrap();
        let status = "VmRSS:\t 9000000 kB\nRssAnon:\t 100 kB\nRssFile:\t 50 kB\nRssShmem:\t 8999850 kB\nHugetlbPages:\t 2048 kB\n";
        std::fs::write(process.path().join("status"), status).unwrap();
        let [shared, heap, anonymous, _] = read(process.path(), 4096).unwrap();
        assert_eq!(
            (shared.size_bytes, shared.huge_bytes),
            ((8_999_850 + 2048) << 10, 2 << 20)
        );
        assert_eq!((heap.size_bytes, anonymous.resident_bytes), (0, 100 << 10));
        std::fs::write(process.path().join("status"), "VmRSS:\t 900 kB\n").unwrap();
        assert!(read(process.path(), 4096).is_err(), "there is no smaps here");
    }

    #[test]
    fn pages_are_counted_by_kind_of_mapping() {
        let kib = |size: u64, resident: u64, huge: u64| Mapped {
            size_bytes: size * 1024,
            resident_bytes: resident * 1024,
            huge_bytes: huge * 1024,
        };
        let expected = [
            kib(262_144, 4096, 262_144),
            kib(1024, 512, 0),
            kib(2048, 2048, 2048),
            kib(10240, 4096, 2048),
        ];
        assert_eq!(parse(SMAPS, 4096), expected);
        assert_eq!(parse(&SMAPS[..200], 4096)[0], Mapped::default(), "cut off");
    }
}
