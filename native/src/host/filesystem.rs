//! The `filesystem` table: statvfs of each mounted disk file system, asked rarely.

use std::collections::HashSet;
use std::ffi::CString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use arrow_schema::ArrowError;

use super::events::Events;
use super::interval::{Interval, percent};
use super::mounts::{self, Mount};
use crate::batch::Batch;
use crate::sheet::{Layouts, Sheet, columns};

columns!(FilesystemColumns {
    mount,
    device,
    size_bytes,
    used_bytes,
    available_bytes,
    inodes_used_pct,
});

/// A server that does not answer would stop the sampler in statvfs for good.
const REMOTE: [&str; 10] = [
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "ceph",
    "glusterfs",
    "lustre",
    "gpfs",
    "ocfs2",
    "afs",
];
/// Images, always full.
const READ_ONLY: [&str; 3] = ["squashfs", "iso9660", "erofs"];

pub struct Filesystems {
    mountinfo: PathBuf,
    kinds: PathBuf,
    /// The kernel's list of kinds, read again where a mount is of none of them: a module may have brought it.
    known: String,
    sheet: Sheet<FilesystemColumns>,
}

impl Filesystems {
    pub fn new(proc: &Path, host: &str, layouts: &Layouts) -> Result<Self, ArrowError> {
        Ok(Self {
            mountinfo: proc.join("self/mountinfo"),
            kinds: proc.join("filesystems"),
            known: String::new(),
            sheet: Sheet::new("filesystem", host, layouts)?,
        })
    }

    pub fn sample(&mut self, interval: &Interval, events: &mut Events) {
        let text = match fs::read_to_string(&self.mountinfo) {
            Ok(text) => text,
            Err(error) => return events.not_measured("/proc/self/mountinfo", &error.to_string(), "mount /proc"),
        };
        let mounts = mounts::parse(&text);
        if mounts.iter().any(|mount| !is_known(&self.known, &mount.kind)) {
            self.known = fs::read_to_string(&self.kinds).unwrap_or_default();
        }
        let known = std::mem::take(&mut self.known);
        let virtual_kinds = virtual_kinds(&known);
        let mut seen = HashSet::new();
        for mount in mounts {
            if is_remote(&mount) {
                events.not_measured(
                    &format!("space of {}", mount.point.display()),
                    &format!("a {} server that does not answer would stop the sampler", mount.kind),
                    "look at it with df on the server",
                );
            } else if is_wanted(&mount, &virtual_kinds) && seen.insert(mount.device_id.clone()) {
                self.add(interval, &mount, events);
            }
        }
        self.known = known;
    }

    fn add(&mut self, interval: &Interval, mount: &Mount, events: &mut Events) {
        let point = mount.point.to_string_lossy();
        let space = match statvfs(&mount.point) {
            Ok(space) => space,
            Err(error) => {
                return events.not_measured(
                    &format!("space of {point}"),
                    &error.to_string(),
                    "grant search on the folders above it",
                );
            }
        };
        let columns = self.sheet.columns;
        self.sheet.begin_at(interval.ts_us);
        self.sheet.str(columns.mount, point.as_ref());
        self.sheet.str(columns.device, mount.source.as_str());
        self.sheet
            .count(columns.size_bytes, Some(space.f_blocks * space.f_frsize));
        let used = space.f_blocks.saturating_sub(space.f_bfree);
        self.sheet.count(columns.used_bytes, Some(used * space.f_frsize));
        self.sheet
            .count(columns.available_bytes, Some(space.f_bavail * space.f_frsize));
        if space.f_files > 0 {
            let used = space.f_files.saturating_sub(space.f_ffree) as f64 / space.f_files as f64;
            self.sheet.f64(columns.inodes_used_pct, percent(used * 100.0));
        }
        self.sheet.end();
    }

    pub fn finish(&mut self, batches: &mut Vec<Batch>) -> Result<(), ArrowError> {
        self.sheet.finish(batches)
    }
}

/// Whether to ask about it may take for ever.
pub fn is_remote(mount: &Mount) -> bool {
    REMOTE.contains(&mount.kind.as_str()) || mount.kind.starts_with("fuse.")
}

/// Whether the kernel's list names a kind; of `fuse.sshfs` it names what is before the dot.
fn is_known(text: &str, kind: &str) -> bool {
    let kind = kind.split('.').next().unwrap_or(kind);
    text.split_ascii_whitespace().any(|word| word == kind)
}

/// Kinds of file system without a device, by the kernel's own list.
fn virtual_kinds(text: &str) -> HashSet<&str> {
    text.lines()
        .filter_map(|line| line.strip_prefix("nodev"))
        .map(str::trim)
        .collect()
}

/// File systems on devices, ZFS (which brings its own devices), and /dev/shm, which parallel queries fill up.
fn is_wanted(mount: &Mount, virtual_kinds: &HashSet<&str>) -> bool {
    let kind = mount.kind.as_str();
    let on_device = !virtual_kinds.contains(kind) && !READ_ONLY.contains(&kind);
    on_device || kind == "zfs" || (kind == "tmpfs" && mount.point == Path::new("/dev/shm"))
}

fn statvfs(point: &Path) -> io::Result<libc::statvfs> {
    let path = CString::new(point.as_os_str().as_bytes())?;
    let mut space = std::mem::MaybeUninit::uninit();
    // SAFETY: path ends with NUL, and the structure is only read when the call says that it filled it.
    match unsafe { libc::statvfs(path.as_ptr(), space.as_mut_ptr()) } {
        0 => Ok(unsafe { space.assume_init() }),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disks_and_shared_memory_are_wanted_and_images_are_not() {
        let virtual_kinds = virtual_kinds("nodev\tsysfs\nnodev\ttmpfs\n\text4\n\tsquashfs\nnodev\tzfs\n");
        let wanted = |kind: &str, point: &str| {
            let mount = Mount {
                device_id: "1:1".into(),
                root: "/".into(),
                point: point.into(),
                kind: kind.into(),
                source: "x".into(),
                options: String::new(),
            };
            is_wanted(&mount, &virtual_kinds)
        };
        assert!(wanted("ext4", "/") && wanted("zfs", "/tank") && wanted("tmpfs", "/dev/shm"));
        assert!(!wanted("tmpfs", "/run") && !wanted("squashfs", "/snap/x") && !wanted("sysfs", "/sys"));
    }
}
