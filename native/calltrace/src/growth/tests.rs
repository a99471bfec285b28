use super::*;
use crate::journal::ProcessId;
use crate::roles::roles;
use crate::script::Script;

fn grown(lines: &[&str]) -> Vec<Growth> {
    let mut script = Script::new();
    let process: ProcessId = script.process(1);
    for line in lines {
        script.memory(process, line);
    }
    growth(&script.journal, &roles(&script.journal))
}

#[test]
fn chunks_in_a_reserved_extent_are_counted_and_the_request_for_a_page_size_is_seen() {
    let rows = grown(&[
        "mmap(0x00000000, 4718592, PROT_NONE, MAP_PRIVATE|MAP_NORESERVE, 8, 7864320) = 0xFFFFFFFF79780000",
        "munmap(0xFFFFFFFF79B80000, 524288) = 0",
        "mmap(0xFFFFFFFF79780000, 524288, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_FIXED, 8, 0) = 0xFFFFFFFF79780000",
        "memcntl(0xFFFFFFFF79780000, 524288, MC_HAT_ADVISE, 0xFFFFFFFF7FFF7EC0, 0, 0) = 0",
        "mmap(0xFFFFFFFF79800000, 524288, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_FIXED, 8, 0) = 0xFFFFFFFF79800000",
        "memcntl(0xFFFFFFFF79800000, 524288, MC_HAT_ADVISE, 0xFFFFFFFF7FFF7F80, 0, 0) = 0",
    ]);
    let [row] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!(row.call, "mmap");
    assert_eq!((row.reserved_bytes, row.mapped_bytes), (4_718_592, 1_048_576));
    let chunk = Amount {
        bytes: 524_288,
        count: 2,
    };
    assert_eq!(row.chunks, [chunk]);
    assert_eq!((row.calls, row.calls_per_mb), (4, Some(4.0)));
    assert!(row.page_size_requested);
    assert_eq!((row.requests, row.advice.as_deref()), (2, Some("MC_HAT_ADVISE")));
}

#[test]
fn without_a_request_none_is_reported() {
    let rows = grown(&[
        "mmap2(NULL, 1048576, PROT_NONE, MAP_PRIVATE|MAP_NORESERVE, 7, 0xf1) = 0xb70f1000",
        "mmap2(0xb70f1000, 65536, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_FIXED, 7, 0) = 0xb70f1000",
        "mmap2(0xb7101000, 65536, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_FIXED, 7, 0) = 0xb7101000",
        "madvise(0xb70f1000, 65536, MADV_DONTNEED) = 0",
    ]);
    assert_eq!(rows[0].mapped_bytes, 131_072);
    assert_eq!(rows[0].calls_per_mb, Some(16.0));
    assert!(!rows[0].page_size_requested && rows[0].advice.is_none());
}

#[test]
fn libraries_are_no_growth_and_brk_grows_by_differences() {
    let rows = grown(&[
        "mmap(NULL, 2097152, PROT_READ, MAP_PRIVATE|MAP_DENYWRITE, 3, 0) = 0x7f0000000000",
        "brk(NULL) = 0x1000",
        "brk(0x22000) = 0x22000",
        "brk(0x43000) = 0x43000",
        "brk(0x20000) = 0x20000",
        "execve(\"/bin/x\") = 0",
        "brk(NULL) = 0x7f0000000000",
    ]);
    let [row] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!((row.call.as_str(), row.mapped_bytes, row.calls), ("brk", 0x42000, 2));
}

#[test]
fn arguments_that_make_no_sense_are_no_memory() {
    for arguments in [
        "",
        "1",
        "NULL, -5, PROT_NONE",
        "NULL, many, PROT_NONE",
        "NULL, 99999999999999999999, X",
    ] {
        assert_eq!(
            memory_call(Class::Map, b"mmap", arguments.as_bytes(), 4096),
            None,
            "{arguments}"
        );
    }
    assert_eq!(
        memory_call(Class::Map, b"mmap", b"NULL, 4096, PROT_NONE", NO_NUMBER),
        None
    );
    assert_eq!(memory_call(Class::Read, b"read", b"1, 2", 4096), None);
}
