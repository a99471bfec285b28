//! The largest data files of a server: a walk through its folders, bounded in what it looks at.

use std::fs;
use std::path::PathBuf;

use super::places::{Place, Places};

/// So many of the largest are looked at.
const FILES: usize = 64;
/// A server with more files than this has tables by the hundred thousand: these many tell enough.
const ENTRIES: usize = 20_000;
/// What is no data: the log, which is written once and read by nobody, and what servers say to people.
const BESIDE: [&str; 6] = ["pg_wal", "pg_xlog", "log", "pg_log", "pg_replslot", "#innodb_redo"];

/// The same of files, by the beginning of their names.
const LOG_FILES: [&str; 4] = ["ib_logfile", "binlog.", "mysql-bin.", "mariadb-bin."];

pub struct DataFile {
    /// As the server calls it.
    pub name: PathBuf,
    /// What opens it from here.
    pub path: PathBuf,
    pub bytes: u64,
}

#[derive(Default)]
pub struct DataFiles {
    /// Largest first.
    pub largest: Vec<DataFile>,
    /// Of all; nothing where there were too many to look at all.
    pub all_bytes: Option<u64>,
}

pub fn find(places: &Places) -> DataFiles {
    let is_log = |place: &Place| place.name.components().any(|part| is_beside(part.as_os_str()));
    let mut folders: Vec<Place> = std::iter::once(&places.data).chain(&places.linked).cloned().collect();
    folders.retain(|place| !is_log(place));
    let (mut files, mut left) = (Vec::new(), ENTRIES);
    while let Some(folder) = folders.pop() {
        if places.is_remote(&folder.name) {
            continue;
        }
        for entry in fs::read_dir(&folder.path).into_iter().flatten().flatten() {
            if left == 0 {
                return DataFiles {
                    largest: cut(files),
                    all_bytes: None,
                };
            }
            left -= 1;
            let (name, path) = (folder.name.join(entry.file_name()), entry.path());
            // Links are not followed: those to tablespaces are among the folders.
            let Ok(about) = entry.metadata() else { continue };
            if about.is_dir() && !is_beside(&entry.file_name()) {
                folders.push(Place { name, path });
            } else if about.is_file() && about.len() > 0 && !is_log_file(&entry.file_name()) {
                files.push(DataFile {
                    name,
                    path,
                    bytes: about.len(),
                });
            }
        }
    }
    let bytes = files.iter().map(|file| file.bytes).sum();
    DataFiles {
        largest: cut(files),
        all_bytes: Some(bytes),
    }
}

fn is_beside(name: &std::ffi::OsStr) -> bool {
    BESIDE.iter().any(|beside| name == *beside)
}

fn is_log_file(name: &std::ffi::OsStr) -> bool {
    let name = name.as_encoded_bytes();
    LOG_FILES.iter().any(|beginning| name.starts_with(beginning.as_bytes()))
}

fn cut(mut files: Vec<DataFile>) -> Vec<DataFile> {
    files.sort_by(|one, other| other.bytes.cmp(&one.bytes).then_with(|| one.name.cmp(&other.name)));
    files.truncate(FILES);
    files
}

#[cfg(test)]
mod tests {
    use super::super::servers;
    use super::super::servers::tests::add_process;
    use super::*;

    #[test]
    fn tables_are_found_in_tablespaces_too_and_logs_left_out() {
        let home = tempfile::tempdir().unwrap();
        let (proc, data, space) = (
            home.path().join("proc"),
            home.path().join("data"),
            home.path().join("space"),
        );
        let process = add_process(&proc, 7, "postgres", 1, 1);
        for (file, size) in [
            ("data/base/5/100", 3000),
            ("data/pg_wal/0001", 9000),
            ("data/ib_logfile0", 9000),
            ("space/PG_15/5/200", 5000),
        ] {
            let path = home.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, vec![0; size]).unwrap();
        }
        fs::create_dir(data.join("pg_tblspc")).unwrap();
        std::os::unix::fs::symlink(&space, data.join("pg_tblspc/16")).unwrap();
        std::os::unix::fs::symlink(&data, process.join("cwd")).unwrap();
        std::os::unix::fs::symlink("/", process.join("root")).unwrap();
        fs::write(process.join("mountinfo"), "1 1 8:1 / / rw - ext4 /dev/sda1 rw\n").unwrap();
        let places = Places::of(&servers::find(&proc).unwrap()[0]).unwrap();
        let files = find(&places);
        let names: Vec<_> = files
            .largest
            .iter()
            .map(|file| (file.name.clone(), file.bytes))
            .collect();
        assert_eq!(
            names,
            [(space.join("PG_15/5/200"), 5000), (data.join("base/5/100"), 3000)]
        );
        assert_eq!(files.all_bytes, Some(8000));
        assert!(files.largest.iter().all(|file| fs::read(&file.path).is_ok()));
        fs::write(process.join("mountinfo"), "1 1 0:9 / / rw - nfs4 server:/x rw\n").unwrap();
        let places = Places::of(&servers::find(&proc).unwrap()[0]).unwrap();
        assert!(find(&places).largest.is_empty());
    }
}
