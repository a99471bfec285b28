//! Where a server's files are, as it sees them itself: in a container its root is another one than ours.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::servers::Server;
use crate::host::filesystem::is_remote;
use crate::host::mounts::{self, Mount};

/// A folder of files that belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// As the server calls it.
    pub name: PathBuf,
    /// What leads there from here.
    pub path: PathBuf,
}

/// Folders of a server, and what is mounted where it lives.
pub struct Places {
    pub data: Place,
    /// The log and the tablespaces that lie elsewhere.
    pub linked: Vec<Place>,
    mounts: Vec<Mount>,
    root: PathBuf,
}

impl Places {
    /// PostgreSQL and MySQL work in their data directory, Oracle in that of its parameter files.
    pub fn of(server: &Server) -> io::Result<Self> {
        let name = fs::read_link(server.process.join("cwd"))?;
        let mut found = Self {
            data: Place {
                name,
                path: server.process.join("cwd"),
            },
            linked: Vec::new(),
            mounts: mounts::parse(&fs::read_to_string(server.process.join("mountinfo"))?),
            root: server.process.join("root"),
        };
        if !found.is_remote(&found.data.name) {
            found.linked = found.links();
        }
        Ok(found)
    }

    /// Where the server's path leads to from here.
    pub fn path_of(&self, name: &Path) -> PathBuf {
        self.root.join(name.strip_prefix("/").unwrap_or(name))
    }

    /// The mount that a path of the server lies on.
    pub fn mount(&self, name: &Path) -> Option<&Mount> {
        mounts::holding(&self.mounts, name)
    }

    pub fn mounts(&self) -> &[Mount] {
        &self.mounts
    }

    /// Whether to touch a path is to ask another host, that may not answer.
    pub fn is_remote(&self, name: &Path) -> bool {
        self.mount(name).is_some_and(is_remote)
    }

    fn links(&self) -> Vec<Place> {
        let tablespaces = fs::read_dir(self.data.path.join("pg_tblspc")).into_iter().flatten();
        let tablespaces = tablespaces.flatten().map(|entry| entry.path());
        let logs = ["pg_wal", "pg_xlog"].map(|log| self.data.path.join(log));
        let mut names: Vec<PathBuf> = logs
            .into_iter()
            .chain(tablespaces)
            .filter_map(|link| fs::read_link(link).ok())
            .filter(|target| target.is_absolute())
            .collect();
        names.sort();
        names
            .into_iter()
            .map(|name| Place {
                path: self.path_of(&name),
                name,
            })
            .collect()
    }
}
