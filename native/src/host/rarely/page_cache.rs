//! How much of a file is in the page cache: cachestat(2) (Linux 6.5), else mincore(2), which tells what is cached and no more.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// The number of the call is the same on all architectures but Alpha.
const CACHESTAT: libc::c_long = 451;
/// Of a larger file so many windows are asked, evenly spread: the kernel walks through all pages that it is asked about.
const WINDOWS: u64 = 16;
const WINDOW_BYTES: u64 = 4 << 20;

/// Bytes of files; nothing for what the way of asking does not tell.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cached {
    pub cached: f64,
    pub dirty: Option<f64>,
    /// Was cached, and dropped.
    pub evicted: Option<f64>,
    /// Dropped so lately that it would still be there if the cache were as large as the memory in use.
    pub recently_evicted: Option<f64>,
}

#[repr(C)]
struct Range {
    offset: u64,
    length: u64,
}

/// `struct cachestat` of include/uapi/linux/mman.h, in pages.
#[repr(C)]
#[derive(Default)]
struct Pages {
    cached: u64,
    dirty: u64,
    writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

impl std::ops::AddAssign for Cached {
    fn add_assign(&mut self, other: Self) {
        let add = |one: Option<f64>, other: Option<f64>| Some(one.unwrap_or(0.0) + other?);
        self.cached += other.cached;
        self.dirty = add(self.dirty, other.dirty);
        self.evicted = add(self.evicted, other.evicted);
        self.recently_evicted = add(self.recently_evicted, other.recently_evicted);
    }
}

/// What of a file of so many bytes is cached. The file is opened for reading, and nothing is read.
pub fn of(path: &Path, bytes: u64, page_bytes: u64) -> io::Result<Cached> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let windows = windows(bytes);
    let asked: u64 = windows.iter().map(|window| window.length).sum();
    let mut sum = Cached::default();
    for window in &windows {
        sum += match cachestat(&file, window, page_bytes) {
            Err(error) if error.raw_os_error() == Some(libc::ENOSYS) => mincore(&file, window, page_bytes)?,
            found => found?,
        };
    }
    let whole = bytes as f64 / asked.max(1) as f64;
    Ok(Cached {
        cached: (sum.cached * whole).min(bytes as f64),
        dirty: sum.dirty.map(|dirty| dirty * whole),
        evicted: sum.evicted.map(|evicted| evicted * whole),
        recently_evicted: sum.recently_evicted.map(|evicted| evicted * whole),
    })
}

fn windows(bytes: u64) -> Vec<Range> {
    if bytes <= WINDOWS * WINDOW_BYTES {
        return vec![Range {
            offset: 0,
            length: bytes,
        }];
    }
    let step = (bytes - WINDOW_BYTES) / (WINDOWS - 1) / WINDOW_BYTES * WINDOW_BYTES;
    (0..WINDOWS)
        .map(|number| Range {
            offset: number * step,
            length: WINDOW_BYTES,
        })
        .collect()
}

fn cachestat(file: &File, window: &Range, page_bytes: u64) -> io::Result<Cached> {
    let mut pages = Pages::default();
    // SAFETY: both structures outlive the call and are laid out as the kernel's.
    let status = unsafe { libc::syscall(CACHESTAT, file.as_raw_fd(), window as *const Range, &raw mut pages, 0) };
    if status != 0 {
        return Err(io::Error::last_os_error());
    }
    let bytes = |count: u64| (count * page_bytes) as f64;
    Ok(Cached {
        cached: bytes(pages.cached),
        dirty: Some(bytes(pages.dirty)),
        evicted: Some(bytes(pages.evicted)),
        recently_evicted: Some(bytes(pages.recently_evicted)),
    })
}

/// To who neither owns the file nor is root the kernel says since 5.2 that all of it is cached.
fn mincore(file: &File, window: &Range, page_bytes: u64) -> io::Result<Cached> {
    // SAFETY: asks for a number.
    let user = unsafe { libc::geteuid() };
    if user != 0 && file.metadata()?.uid() != user {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let length = window.length as usize;
    let mut resident = vec![0u8; window.length.div_ceil(page_bytes) as usize];
    // SAFETY: the mapping is made and undone here, never read, and as long as the array has pages.
    let told = unsafe {
        let offset = window.offset as libc::off_t;
        let map = libc::mmap(
            std::ptr::null_mut(),
            length,
            libc::PROT_READ,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            offset,
        );
        if map == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let told = libc::mincore(map, length, resident.as_mut_ptr().cast());
        libc::munmap(map, length);
        told
    };
    if told != 0 {
        return Err(io::Error::last_os_error());
    }
    let pages = resident.iter().filter(|page| *page & 1 == 1).count() as u64;
    Ok(Cached {
        cached: (pages * page_bytes) as f64,
        ..Cached::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: u64 = 4096;

    #[test]
    fn what_was_just_written_is_cached_by_both_accounts() {
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        let path = folder.path().join("table");
        std::fs::write(&path, vec![7; 1 << 20]).unwrap();
        let file = File::open(&path).unwrap();
        let window = Range {
            offset: 0,
            length: 1 << 20,
        };
        assert_eq!(mincore(&file, &window, PAGE).unwrap().cached, (1 << 20) as f64);
        assert_eq!(of(&path, 1 << 20, PAGE).unwrap().cached, (1 << 20) as f64);
        file.sync_all().unwrap();
        // SAFETY: advice about a file that is open.
        unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
        assert_eq!(mincore(&file, &window, PAGE).unwrap().cached, 0.0);
        assert_eq!(of(&path, 1 << 20, PAGE).unwrap().cached, 0.0);
    }

    #[test]
    fn a_large_file_is_asked_in_windows_from_its_beginning_to_its_end() {
        let windows = windows(1 << 30);
        assert_eq!(windows.len(), 16);
        let last = windows.last().unwrap();
        assert!(last.offset + last.length <= 1 << 30 && last.offset > 900 << 20);
        assert!(windows.iter().all(|window| window.offset % PAGE == 0));
    }
}
