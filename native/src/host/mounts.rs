//! What is mounted where, from /proc/self/mountinfo (proc(5)).

use std::path::{Path, PathBuf};

#[derive(Debug, Clone, PartialEq)]
pub struct Mount {
    /// Device as MAJOR:MINOR.
    pub device_id: String,
    /// Which part of the file system is mounted; `/` unless it is a bind mount or a container's view.
    pub root: String,
    pub point: PathBuf,
    pub kind: String,
    pub source: String,
    /// Options of the file system itself; for cgroup v1 they name the controllers.
    pub options: String,
}

pub fn parse(text: &str) -> Vec<Mount> {
    text.lines().filter_map(parse_line).collect()
}

/// The mount that a path lies on: the deepest above it, and of several at one point the last.
pub fn holding<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    let above = mounts.iter().filter(|mount| path.starts_with(&mount.point));
    above.max_by_key(|mount| mount.point.as_os_str().len())
}

fn parse_line(line: &str) -> Option<Mount> {
    let (left, right) = line.split_once(" - ")?;
    let mut left = left.split(' ').skip(2);
    let (device_id, root, point) = (left.next()?, left.next()?, left.next()?);
    let mut right = right.split(' ');
    Some(Mount {
        device_id: device_id.to_string(),
        root: unescape(root),
        point: PathBuf::from(unescape(point)),
        kind: right.next()?.to_string(),
        source: unescape(right.next()?),
        options: right.next().unwrap_or_default().to_string(),
    })
}

/// The kernel writes blanks, tabs, newlines and backslashes in names as three octal digits.
fn unescape(name: &str) -> String {
    let mut parts = name.split('\\');
    let mut plain = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        match part.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                plain.push(byte);
                plain.extend_from_slice(&part.as_bytes()[3..]);
            }
            None => {
                plain.push(b'\\');
                plain.extend_from_slice(part.as_bytes());
            }
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn optional_fields_and_escapes() {
        let mounts = parse(
            "36 35 98:0 /mnt1 /mnt/my\\040disk rw,noatime master:1 shared:2 - ext3 /dev/root rw,errors=continue\n\
             40 35 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\ncut off",
        );
        assert_eq!(mounts.len(), 2);
        assert_eq!(mounts[0].point, PathBuf::from("/mnt/my disk"));
        assert_eq!(
            (mounts[0].root.as_str(), mounts[0].source.as_str()),
            ("/mnt1", "/dev/root")
        );
        assert_eq!(mounts[1].options, "rw,cpu,cpuacct");
    }
}
