//! bpf(2): maps, programs, and the tracepoints at which they run; all end with their descriptors.

use std::ffi::CStr;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use super::assembler::Instruction;

const MAP_CREATE: i32 = 0;
const MAP_LOOKUP: i32 = 1;
const MAP_UPDATE: i32 = 2;
const PROGRAM_LOAD: i32 = 5;
const RAW_TRACEPOINT_OPEN: i32 = 17;
const RAW_TRACEPOINT: u32 = 17;
/// Those helpers that read the kernel's own state are for programs that are free software too.
const LICENCE: &CStr = c"Dual MIT/GPL";
const LOG_BYTES: usize = 1 << 16;

#[derive(Clone, Copy)]
#[repr(u32)]
pub enum Kind {
    Hash = 1,
    ArrayByCpu = 6,
}

/// A map whose keys are numbers of 32 bits.
pub struct Map {
    descriptor: OwnedFd,
    value_bytes: usize,
}

impl Map {
    pub fn new(kind: Kind, value_bytes: usize, entries: u32) -> io::Result<Self> {
        #[repr(C)]
        struct Attributes {
            kind: u32,
            key_bytes: u32,
            value_bytes: u32,
            entries: u32,
        }
        let wanted = Attributes {
            kind: kind as u32,
            key_bytes: 4,
            value_bytes: value_bytes as u32,
            entries,
        };
        Ok(Self {
            descriptor: opened(MAP_CREATE, &wanted)?,
            value_bytes,
        })
    }

    pub fn descriptor(&self) -> RawFd {
        self.descriptor.as_raw_fd()
    }

    pub fn insert(&self, key: u32, value: &[u8]) -> io::Result<()> {
        assert_eq!(value.len(), self.value_bytes);
        self.access(MAP_UPDATE, key, value.as_ptr() as u64)
    }

    /// What each CPU has at a key, one after the other.
    pub fn by_cpu(&self, key: u32, cpus: usize) -> io::Result<Vec<u64>> {
        assert_eq!(self.value_bytes % 8, 0);
        let mut values = vec![0u64; self.value_bytes / 8 * cpus];
        self.access(MAP_LOOKUP, key, values.as_mut_ptr() as u64)?;
        Ok(values)
    }

    fn access(&self, command: i32, key: u32, value: u64) -> io::Result<()> {
        #[repr(C)]
        struct Attributes {
            map: u32,
            _gap: u32,
            key: u64,
            value: u64,
            flags: u64,
        }
        let key = &raw const key as u64;
        bpf(
            command,
            &Attributes {
                map: self.descriptor() as u32,
                _gap: 0,
                key,
                value,
                flags: 0,
            },
        )
        .map(drop)
    }
}

/// A program that runs at a tracepoint until it is dropped.
pub struct Attached {
    _program: OwnedFd,
    _link: OwnedFd,
}

/// Runs a program at a tracepoint from now on.
pub fn attach(tracepoint: &CStr, code: &[Instruction]) -> io::Result<Attached> {
    #[repr(C)]
    struct Attributes {
        name: u64,
        program: u32,
        _gap: u32,
    }
    let program = load(code)?;
    let wanted = Attributes {
        name: tracepoint.as_ptr() as u64,
        program: program.as_raw_fd() as u32,
        _gap: 0,
    };
    Ok(Attached {
        _link: opened(RAW_TRACEPOINT_OPEN, &wanted)?,
        _program: program,
    })
}

fn load(code: &[Instruction]) -> io::Result<OwnedFd> {
    #[repr(C)]
    struct Attributes {
        kind: u32,
        instructions: u32,
        code: u64,
        licence: u64,
        log_level: u32,
        log_bytes: u32,
        log: u64,
    }
    let mut wanted = Attributes {
        kind: RAW_TRACEPOINT,
        instructions: code.len() as u32,
        code: code.as_ptr() as u64,
        licence: LICENCE.as_ptr() as u64,
        log_level: 0,
        log_bytes: 0,
        log: 0,
    };
    let refusal = match opened(PROGRAM_LOAD, &wanted) {
        Err(refusal) if refusal.raw_os_error() != Some(libc::EPERM) => refusal,
        loaded => return loaded,
    };
    let mut log = vec![0u8; LOG_BYTES];
    (wanted.log_level, wanted.log_bytes, wanted.log) = (1, LOG_BYTES as u32, log.as_mut_ptr() as u64);
    let loaded = opened(PROGRAM_LOAD, &wanted);
    let said = String::from_utf8_lossy(&log);
    let last = said
        .trim_end_matches('\0')
        .trim_end()
        .rsplit('\n')
        .nth(1)
        .unwrap_or_default();
    loaded.map_err(|_| io::Error::new(refusal.kind(), format!("{refusal}: {last}")))
}

/// As many CPUs as a map has values for: those that could ever be there.
pub fn possible_cpus() -> io::Result<usize> {
    let told = fs::read_to_string("/sys/devices/system/cpu/possible")?;
    let last = told
        .trim()
        .rsplit(['-', ','])
        .next()
        .and_then(|number| number.parse::<usize>().ok());
    last.map(|number| number + 1)
        .ok_or_else(|| io::Error::other("/sys/devices/system/cpu/possible cannot be read"))
}

/// Before Linux 5.11 maps count as locked memory, of which a process may have little.
pub fn allow_locked_memory() {
    let all = libc::rlimit {
        rlim_cur: libc::RLIM_INFINITY,
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: the limit is read before the call returns; where it is refused, a map says so.
    unsafe { libc::setrlimit(libc::RLIMIT_MEMLOCK, &raw const all) };
}

fn opened<Attributes>(command: i32, wanted: &Attributes) -> io::Result<OwnedFd> {
    // SAFETY: the kernel has just given this descriptor to nobody else.
    bpf(command, wanted).map(|descriptor| unsafe { OwnedFd::from_raw_fd(descriptor) })
}

fn bpf<Attributes>(command: i32, wanted: &Attributes) -> io::Result<RawFd> {
    // SAFETY: the attributes, and what they point to, outlive the call, which is told their size.
    match unsafe { libc::syscall(libc::SYS_bpf, command, &raw const *wanted, size_of::<Attributes>()) } {
        -1 => Err(io::Error::last_os_error()),
        answer => Ok(answer as RawFd),
    }
}
