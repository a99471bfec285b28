//! Counts of system calls by process: a performance event on the tracepoint raw_syscalls:sys_enter for each of its threads.
//!
//! While there is one, each call of the host takes a longer way through the kernel. So there is one for a second at a time, and
//! only of processes that give reason for it (`closer_look.rs`).

use std::ffi::CStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};

use crate::host::cpus::perf::{self, TRACEPOINT};

const PLACES: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
const EVENT: &CStr = c"events/raw_syscalls/sys_enter/id";
/// FSOPEN_CLOEXEC and FSMOUNT_CLOEXEC, and FSCONFIG_CMD_CREATE, of linux/mount.h.
const CLOSE_ON_EXEC: libc::c_uint = 1;
const CREATE: libc::c_uint = 6;
const ANY_CPU: i64 = -1;

/// The kernel's number of the tracepoint.
#[derive(Clone, Copy, Debug)]
pub struct Tracepoint(pub u64);

impl Tracepoint {
    /// Looks the number up in tracefs. Where nobody has mounted it, root gets a mount that is attached nowhere (fsmount(2),
    /// Linux 5.2): no other process can see it, and it ends here.
    pub fn find() -> io::Result<Self> {
        let mounted = PLACES
            .map(|place| Path::new(place).join(EVENT.to_string_lossy().as_ref()))
            .into_iter()
            .find_map(|path: PathBuf| fs::read_to_string(path).ok());
        let text = match mounted {
            Some(text) => text,
            None => read_in(&tracefs()?)?,
        };
        text.trim()
            .parse()
            .map(Self)
            .map_err(|_| io::ErrorKind::InvalidData.into())
    }
}

/// Counts the calls of the threads that a process had when it was opened.
pub struct SystemCalls {
    by_thread: Vec<File>,
}

impl SystemCalls {
    pub fn open(Tracepoint(id): Tracepoint, threads: impl Iterator<Item = i32>) -> io::Result<Self> {
        let by_thread = threads
            .map(|thread| perf::counter(TRACEPOINT, id, thread, ANY_CPU))
            .collect::<io::Result<_>>()?;
        Ok(Self { by_thread })
    }

    /// Calls so far.
    pub fn read(&mut self) -> io::Result<u64> {
        let mut value = [0; 8];
        let counts = self.by_thread.iter_mut().map(|counter| {
            counter.read_exact(&mut value)?;
            Ok(u64::from_ne_bytes(value))
        });
        counts.sum()
    }
}

impl Drop for SystemCalls {
    fn drop(&mut self) {
        close(std::mem::take(&mut self.by_thread));
    }
}

/// The last one to close makes the kernel wait until no CPU is in the tracepoint any more: 50 ms that no sample should wait.
pub fn close(counters: Vec<File>) {
    let closing = std::thread::Builder::new().spawn(move || drop(counters));
    drop(closing); // where no thread can be started, the counters were closed with what it was to do
}

/// Tracefs in a mount of our own.
fn tracefs() -> io::Result<OwnedFd> {
    // SAFETY: the name ends with a null byte and outlives the call.
    let context = owned(unsafe { libc::syscall(libc::SYS_fsopen, c"tracefs".as_ptr(), CLOSE_ON_EXEC) })?;
    let null = std::ptr::null::<libc::c_char>();
    // SAFETY: the descriptor is open, and this command takes no strings.
    if unsafe { libc::syscall(libc::SYS_fsconfig, context.as_raw_fd(), CREATE, null, null, 0) } == -1 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is open.
    owned(unsafe { libc::syscall(libc::SYS_fsmount, context.as_raw_fd(), CLOSE_ON_EXEC, 0) })
}

fn read_in(mount: &OwnedFd) -> io::Result<String> {
    // SAFETY: the name ends with a null byte and outlives the call.
    let descriptor = unsafe { libc::openat(mount.as_raw_fd(), EVENT.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
    let mut text = String::new();
    File::from(owned(descriptor.into())?).read_to_string(&mut text)?;
    Ok(text)
}

fn owned(descriptor: libc::c_long) -> io::Result<OwnedFd> {
    match descriptor {
        -1 => Err(io::Error::last_os_error()),
        // SAFETY: the kernel has just handed it out, to nobody else.
        descriptor => Ok(unsafe { OwnedFd::from_raw_fd(descriptor as RawFd) }),
    }
}
