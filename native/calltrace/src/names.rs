//! System calls by name, and what kind of work each does: Linux, Solaris and AIX names side by side.

/// What a call does, as far as the analyses tell calls apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Class {
    /// Moves data in from a descriptor, at its position.
    Read,
    /// Moves data out to a descriptor, at its position.
    Write,
    /// Moves data at a position that the call names.
    ReadAt,
    WriteAt,
    Seek,
    /// Makes a descriptor from a path.
    Open,
    Close,
    /// Makes a descriptor that means what another means.
    Duplicate,
    /// Makes a pair of descriptors that talk to each other.
    Pipe,
    Socket,
    Connect,
    Accept,
    /// Waits until a descriptor is ready.
    Poll,
    Fork,
    Exec,
    Exit,
    /// Waits for a child.
    Wait,
    Sleep,
    /// Waits for, or wakes, another thread or process: futexes, semaphores, signals.
    Lock,
    /// Forces data to disk.
    Sync,
    Map,
    Unmap,
    Break,
    Advise,
    /// Asks about a path.
    Path,
    #[default]
    Other,
}

impl Class {
    pub fn has_descriptor(self) -> bool {
        use Class::*;
        matches!(
            self,
            Read | Write | ReadAt | WriteAt | Seek | Close | Duplicate | Accept | Connect | Sync
        )
    }

    /// The word for it in the document.
    pub fn words(self) -> &'static str {
        use Class::*;
        match self {
            Read | ReadAt => "read",
            Write | WriteAt => "write",
            Seek => "seek",
            Open => "open",
            Close => "close",
            Duplicate => "duplicate",
            Pipe => "pipe",
            Socket => "socket",
            Connect => "connect",
            Accept => "accept",
            Poll => "poll",
            Fork => "fork",
            Exec => "exec",
            Exit => "exit",
            Wait => "wait",
            Sleep => "sleep",
            Lock => "lock",
            Sync => "sync",
            Map | Unmap | Break | Advise => "memory",
            Path => "path",
            Other => "other",
        }
    }

    pub fn moves_data(self) -> bool {
        matches!(self, Class::Read | Class::Write | Class::ReadAt | Class::WriteAt)
    }
}

pub const UNKNOWN: u16 = 0;

/// Known calls. The first is the one that stands for all that are not known.
pub const CALLS: &[(&str, Class)] = &[
    ("?", Class::Other),
    ("read", Class::Read),
    ("readv", Class::Read),
    ("kread", Class::Read),
    ("kreadv", Class::Read),
    ("recv", Class::Read),
    ("recvfrom", Class::Read),
    ("recvmsg", Class::Read),
    ("recvmmsg", Class::Read),
    ("nrecvfrom", Class::Read),
    ("erecv", Class::Read),
    ("getmsg", Class::Read),
    ("write", Class::Write),
    ("writev", Class::Write),
    ("kwrite", Class::Write),
    ("kwritev", Class::Write),
    ("send", Class::Write),
    ("sendto", Class::Write),
    ("sendmsg", Class::Write),
    ("sendmmsg", Class::Write),
    ("esend", Class::Write),
    ("putmsg", Class::Write),
    ("sendfile", Class::Write),
    ("sendfilev", Class::Write),
    ("pread", Class::ReadAt),
    ("pread64", Class::ReadAt),
    ("preadv", Class::ReadAt),
    ("preadv2", Class::ReadAt),
    ("kpread", Class::ReadAt),
    ("pwrite", Class::WriteAt),
    ("pwrite64", Class::WriteAt),
    ("pwritev", Class::WriteAt),
    ("pwritev2", Class::WriteAt),
    ("kpwrite", Class::WriteAt),
    ("lseek", Class::Seek),
    ("llseek", Class::Seek),
    ("_llseek", Class::Seek),
    ("klseek", Class::Seek),
    ("open", Class::Open),
    ("open64", Class::Open),
    ("openat", Class::Open),
    ("openat2", Class::Open),
    ("openat64", Class::Open),
    ("creat", Class::Open),
    ("kopen", Class::Open),
    ("close", Class::Close),
    ("dup", Class::Duplicate),
    ("dup2", Class::Duplicate),
    ("dup3", Class::Duplicate),
    ("pipe", Class::Pipe),
    ("pipe2", Class::Pipe),
    ("socketpair", Class::Pipe),
    ("so_socketpair", Class::Pipe),
    ("socket", Class::Socket),
    ("so_socket", Class::Socket),
    ("connect", Class::Connect),
    ("accept", Class::Accept),
    ("accept4", Class::Accept),
    ("naccept", Class::Accept),
    ("poll", Class::Poll),
    ("ppoll", Class::Poll),
    ("pollsys", Class::Poll),
    ("_poll", Class::Poll),
    ("select", Class::Poll),
    ("_select", Class::Poll),
    ("_newselect", Class::Poll),
    ("__fd_select", Class::Poll),
    ("pselect6", Class::Poll),
    ("epoll_wait", Class::Poll),
    ("epoll_pwait", Class::Poll),
    ("epoll_pwait2", Class::Poll),
    ("port_get", Class::Poll),
    ("port_getn", Class::Poll),
    ("fork", Class::Fork),
    ("fork1", Class::Fork),
    ("forkx", Class::Fork),
    ("forksys", Class::Fork),
    ("forkall", Class::Fork),
    ("kfork", Class::Fork),
    ("vfork", Class::Fork),
    ("vforkx", Class::Fork),
    ("clone", Class::Fork),
    ("clone2", Class::Fork),
    ("clone3", Class::Fork),
    ("lwp_create", Class::Other),
    ("execve", Class::Exec),
    ("execveat", Class::Exec),
    ("exece", Class::Exec),
    ("exec", Class::Exec),
    ("exit", Class::Exit),
    ("_exit", Class::Exit),
    ("exit_group", Class::Exit),
    ("wait", Class::Wait),
    ("wait3", Class::Wait),
    ("wait4", Class::Wait),
    ("waitid", Class::Wait),
    ("waitpid", Class::Wait),
    ("waitsys", Class::Wait),
    ("kwaitpid", Class::Wait),
    ("_nsleep", Class::Sleep),
    ("nanosleep", Class::Sleep),
    ("clock_nanosleep", Class::Sleep),
    ("alarm", Class::Other),
    ("pause", Class::Sleep),
    ("yield", Class::Other),
    ("futex", Class::Lock),
    ("lwp_park", Class::Lock),
    ("lwp_unpark", Class::Lock),
    ("lwp_cond_wait", Class::Lock),
    ("lwp_mutex_timedlock", Class::Lock),
    ("thread_wait", Class::Lock),
    ("semop", Class::Lock),
    ("semtimedop", Class::Lock),
    ("semsys", Class::Lock),
    ("flock", Class::Lock),
    ("sigsuspend", Class::Lock),
    ("rt_sigsuspend", Class::Lock),
    ("sigtimedwait", Class::Lock),
    ("rt_sigtimedwait", Class::Lock),
    ("fsync", Class::Sync),
    ("fdatasync", Class::Sync),
    ("fdsync", Class::Sync),
    ("sync_file_range", Class::Sync),
    ("msync", Class::Sync),
    ("sync", Class::Sync),
    ("syncfs", Class::Sync),
    ("mmap", Class::Map),
    ("mmap2", Class::Map),
    ("mmap64", Class::Map),
    ("mremap", Class::Map),
    ("munmap", Class::Unmap),
    ("brk", Class::Break),
    ("sbrk", Class::Break),
    ("madvise", Class::Advise),
    ("memcntl", Class::Advise),
    ("stat", Class::Path),
    ("stat64", Class::Path),
    ("lstat", Class::Path),
    ("lstat64", Class::Path),
    ("xstat", Class::Path),
    ("lxstat", Class::Path),
    ("statx", Class::Path),
    ("fstatat", Class::Path),
    ("fstatat64", Class::Path),
    ("newfstatat", Class::Path),
    ("access", Class::Path),
    ("faccessat", Class::Path),
    ("faccessat2", Class::Path),
    ("readlink", Class::Path),
    ("readlinkat", Class::Path),
    ("unlink", Class::Path),
    ("unlinkat", Class::Path),
    ("rename", Class::Path),
    ("renameat", Class::Path),
    ("renameat2", Class::Path),
    ("mkdir", Class::Path),
    ("mkdirat", Class::Path),
    ("rmdir", Class::Path),
    ("chdir", Class::Path),
    ("truncate", Class::Path),
    ("resolvepath", Class::Path),
    ("statfs", Class::Path),
    ("statvfs", Class::Path),
    ("chmod", Class::Path),
    ("chown", Class::Path),
    // Frequent ones that belong to no class: known, so that their names are not looked up as text.
    ("fstat", Class::Other),
    ("fcntl", Class::Other),
    ("ioctl", Class::Other),
    ("getpid", Class::Other),
    ("getppid", Class::Other),
    ("gettid", Class::Other),
    ("getrusage", Class::Other),
    ("gettimeofday", Class::Other),
    ("clock_gettime", Class::Other),
    ("time", Class::Other),
    ("times", Class::Other),
    ("kill", Class::Other),
    ("rt_sigaction", Class::Other),
    ("rt_sigprocmask", Class::Other),
    ("rt_sigreturn", Class::Other),
    ("setitimer", Class::Other),
    ("timer_settime", Class::Other),
    ("epoll_ctl", Class::Other),
    ("epoll_create1", Class::Other),
    ("mprotect", Class::Other),
    ("setsockopt", Class::Other),
    ("getsockopt", Class::Other),
    ("getsockname", Class::Other),
    ("getpeername", Class::Other),
    ("getdents64", Class::Other),
    ("getrandom", Class::Other),
    ("sched_yield", Class::Other),
    ("restart_syscall", Class::Other),
    ("io_submit", Class::Other),
    ("io_getevents", Class::Poll),
    ("io_uring_enter", Class::Other),
    ("ftruncate", Class::Other),
    ("fallocate", Class::Other),
    ("fadvise64", Class::Other),
    ("shmdt", Class::Other),
    ("shutdown", Class::Other),
    ("cladm", Class::Other),
];

pub fn class(call: u16) -> Class {
    CALLS.get(call as usize).map_or(Class::Other, |(_, class)| *class)
}

const SLOTS: usize = 1 << 10;

/// Of three letters and the length, spread by the golden ratio: enough to tell nearly all names apart, and quick.
const fn slot(name: &[u8]) -> usize {
    let length = name.len();
    if length == 0 {
        return 0;
    }
    let letters = [name[0], name[length / 2], name[length - 1], length as u8];
    (u32::from_le_bytes(letters).wrapping_mul(0x9E37_79B1) >> 22) as usize
}

/// Open addressing: the slot of a name holds its index in CALLS, or one of the slots after it does.
static TABLE: [u16; SLOTS] = {
    let mut table = [0; SLOTS];
    let mut i = 1;
    while i < CALLS.len() {
        let mut at = slot(CALLS[i].0.as_bytes());
        while table[at] != 0 {
            at = (at + 1) % SLOTS;
        }
        table[at] = i as u16;
        i += 1;
    }
    table
};

/// Index of a call in `CALLS`; `UNKNOWN` when it is not there.
pub fn index(name: &[u8]) -> u16 {
    let mut at = slot(name);
    loop {
        let found = TABLE[at];
        if found == 0 || CALLS[found as usize].0.as_bytes() == name {
            return found;
        }
        at = (at + 1) % SLOTS;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_is_found_under_its_name_once() {
        for (number, (name, _)) in CALLS.iter().enumerate().skip(1) {
            assert_eq!(index(name.as_bytes()) as usize, number, "{name}");
        }
        assert_eq!(index(b"no_such_call"), UNKNOWN);
        assert_eq!(index(b""), UNKNOWN);
    }
}
