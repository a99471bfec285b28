//! The way from a folder to the disk: its mount, and the devices below it, from the file system down (/sys/dev/block).

use std::fs;
use std::path::{Path, PathBuf};

use crate::host::mounts::{self, Mount};

/// A stack that is deeper than this is a circle.
const DEEPEST: usize = 16;

/// Names of the devices under a mount, partitions among them, from the file system down; none where it has none.
pub fn devices(mount: &Mount, own_mounts: &[Mount], sys: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let first = block_device(&mount.device_id, sys).or_else(|| named(&mount.source, sys));
    descend(first, own_mounts, sys, &mut found);
    found
}

fn descend(device: Option<PathBuf>, own_mounts: &[Mount], sys: &Path, found: &mut Vec<String>) {
    let Some((device, name)) = device.and_then(|device| name(&device).map(|name| (device, name))) else {
        return;
    };
    if found.contains(&name) || found.len() >= DEEPEST {
        return;
    }
    found.push(name);
    for below in below(&device, own_mounts, sys) {
        descend(Some(below), own_mounts, sys, found);
    }
}

/// A partition lies on its disk, dm and md on their slaves, a loop device on the mount of its file.
fn below(device: &Path, own_mounts: &[Mount], sys: &Path) -> Vec<PathBuf> {
    if device.join("partition").exists() {
        return device.parent().map(Path::to_path_buf).into_iter().collect();
    }
    if let Ok(file) = fs::read_to_string(device.join("loop/backing_file")) {
        let mount = mounts::holding(own_mounts, Path::new(file.trim_end()));
        return mount
            .and_then(|mount| block_device(&mount.device_id, sys))
            .into_iter()
            .collect();
    }
    let slaves = fs::read_dir(device.join("slaves")).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = slaves.filter_map(|slave| fs::canonicalize(slave.path()).ok()).collect();
    found.sort();
    found
}

fn block_device(device_id: &str, sys: &Path) -> Option<PathBuf> {
    fs::canonicalize(sys.join("dev/block").join(device_id)).ok()
}

/// btrfs and ZFS have a number of their own: what was mounted is a device's name, or nothing is known.
fn named(source: &str, sys: &Path) -> Option<PathBuf> {
    let name = source.strip_prefix("/dev/")?;
    fs::canonicalize(sys.join("class/block").join(name)).ok()
}

fn name(device: &Path) -> Option<String> {
    // The kernel writes a slash in a device's name (cciss/c0d0) as an exclamation mark in /sys.
    Some(device.file_name()?.to_string_lossy().replace('!', "/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// A volume (dm-0) of a stripe (md0) of a partition and a disk; a loop device in a file on it.
    fn tree() -> tempfile::TempDir {
        let sys = tempfile::tempdir().unwrap();
        let at = |path: &str| sys.path().join(path);
        for folder in [
            "dev/block",
            "block/sda/sda1",
            "block/sdb",
            "block/md0/slaves",
            "block/dm-0/slaves",
            "block/loop0/loop",
        ] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        fs::write(at("block/sda/sda1/partition"), "1\n").unwrap();
        fs::write(at("block/loop0/loop/backing_file"), "/srv/images/disk.img\n").unwrap();
        for (link, target) in [
            ("block/md0/slaves/sda1", "block/sda/sda1"),
            ("block/md0/slaves/sdb", "block/sdb"),
            ("block/dm-0/slaves/md0", "block/md0"),
            ("dev/block/253:0", "block/dm-0"),
            ("dev/block/7:0", "block/loop0"),
        ] {
            symlink(at(target), at(link)).unwrap();
        }
        sys
    }

    #[test]
    fn the_stack_is_followed_down_to_the_disks() {
        let sys = tree();
        let mounts = mounts::parse(
            "1 1 9:9 / / rw - ext4 /dev/none rw\n2 1 253:0 / /srv rw - xfs /dev/mapper/vg-srv rw\n\
             3 1 7:0 / /data rw - ext4 /dev/loop0 rw\n4 1 0:40 / /zfs rw - zfs tank rw\n",
        );
        let of = |point: &str| {
            let mount = mounts::holding(&mounts, Path::new(point)).unwrap();
            devices(mount, &mounts, sys.path())
        };
        assert_eq!(of("/srv/pg/base"), ["dm-0", "md0", "sda1", "sda", "sdb"]);
        assert_eq!(of("/data"), ["loop0", "dm-0", "md0", "sda1", "sda", "sdb"]);
        assert!(of("/zfs/pg").is_empty() && of("/srvother").is_empty());
    }
}
