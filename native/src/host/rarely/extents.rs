//! In how many pieces a file lies on the disk: the ioctl FS_IOC_FIEMAP, which counts them (Documentation/filesystems/fiemap.rst).

use std::fs::OpenOptions;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// `_IOWR('f', 11, struct fiemap)`.
const FS_IOC_FIEMAP: libc::Ioctl = 0xC020_660B_u32 as libc::Ioctl;

/// `struct fiemap` of include/uapi/linux/fiemap.h, without room for extents: then they are only counted.
#[repr(C)]
#[derive(Default)]
struct Fiemap {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
}

/// An error where the file system does not tell.
pub fn count(path: &Path) -> io::Result<u32> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let mut asked = Fiemap {
        length: u64::MAX,
        ..Fiemap::default()
    };
    // SAFETY: the structure outlives the call, and without room for extents nothing is written behind it.
    match unsafe { libc::ioctl(file.as_raw_fd(), FS_IOC_FIEMAP, &raw mut asked) } {
        0 => Ok(asked.mapped_extents),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Seek, SeekFrom, Write};

    #[test]
    fn a_file_with_holes_has_as_many_pieces_as_were_written() {
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        let path = folder.path().join("table");
        let mut file = std::fs::File::create(&path).unwrap();
        for place in 0..3 {
            file.seek(SeekFrom::Start(place << 20)).unwrap();
            file.write_all(&[7; 8192]).unwrap();
        }
        file.sync_all().unwrap();
        match count(&path) {
            Ok(extents) => assert_eq!(extents, 3),
            Err(error) => assert_eq!(error.raw_os_error(), Some(libc::EOPNOTSUPP), "tmpfs, overlay"),
        }
    }
}
