//! Files of /proc and /sys that stay open between samples: a second read costs a third of opening, reading and closing.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Left for whoever else lives in this process: databases, the lake, Python.
const FILES_FOR_OTHERS: usize = 512;
/// The kernel keeps a page of text with every open file of /proc. A process beyond these costs 4 us more a sample.
const FILES_AT_MOST: usize = 512;

/// A file read whole, again and again, into its own buffer.
pub struct Kept {
    pub path: PathBuf,
    file: Option<File>,
    buffer: Vec<u8>,
}

impl Kept {
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            file: None,
            buffer: Vec::new(),
        }
    }

    /// The file's content now. After an error the next call opens the file anew.
    pub fn read(&mut self) -> io::Result<&[u8]> {
        let file = match self.file.take() {
            Some(file) => file,
            None => File::open(&self.path)?,
        };
        let length = read_whole(&file, &mut self.buffer)?;
        self.file = Some(file);
        Ok(&self.buffer[..length])
    }
}

/// A file read once, whole. Those of /proc tell no length, so that `std::fs::read` asks for them some eight times.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut buffer = Vec::new();
    let length = read_whole(&File::open(path)?, &mut buffer)?;
    buffer.truncate(length);
    Ok(buffer)
}

/// Reads to the end: the kernel hands out tables like diskstats a page at a time, whatever the buffer holds.
fn read_whole(file: &File, buffer: &mut Vec<u8>) -> io::Result<usize> {
    let mut length = 0;
    loop {
        if buffer.len() - length < 4096 {
            buffer.resize(buffer.len() + 16384, 0);
        }
        match file.read_at(&mut buffer[length..], length as u64) {
            Ok(0) => return Ok(length),
            Ok(count) => length += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// How many more files may stay open.
pub struct Budget {
    left: usize,
}

impl Budget {
    /// Raises the soft limit of open files to the hard one and takes what the rest of the program can spare.
    pub fn raise() -> Self {
        let mut limit = libc::rlimit {
            rlim_cur: 0,
            rlim_max: 0,
        };
        // SAFETY: both calls get a valid pointer to a rlimit that outlives them.
        let granted = unsafe {
            libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit);
            let wanted = libc::rlimit {
                rlim_cur: limit.rlim_max,
                rlim_max: limit.rlim_max,
            };
            match libc::setrlimit(libc::RLIMIT_NOFILE, &wanted) {
                0 => limit.rlim_max,
                _ => limit.rlim_cur,
            }
        };
        Self::of((granted as usize).saturating_sub(FILES_FOR_OTHERS))
    }

    pub fn of(files: usize) -> Self {
        Self {
            left: files.min(FILES_AT_MOST),
        }
    }
}

/// A small file of one process, kept open while the budget lasts and opened each time afterwards.
pub struct ProcessFile {
    name: &'static str,
    kept: Option<File>,
}

impl ProcessFile {
    pub fn new(name: &'static str) -> Self {
        Self { name, kept: None }
    }

    /// Reads what fits into the buffer with one call: these files are shorter than any buffer given here.
    pub fn read<'a>(&mut self, folder: &Path, buffer: &'a mut [u8], budget: &mut Budget) -> io::Result<&'a [u8]> {
        let length = match &self.kept {
            Some(file) => file.read_at(buffer, 0)?,
            None => self.open_and_read(folder, buffer, budget)?,
        };
        Ok(&buffer[..length])
    }

    fn open_and_read(&mut self, folder: &Path, buffer: &mut [u8], budget: &mut Budget) -> io::Result<usize> {
        let file = File::open(folder.join(self.name))?;
        let length = file.read_at(buffer, 0)?;
        if budget.left > 0 {
            budget.left -= 1;
            self.kept = Some(file);
        }
        Ok(length)
    }

    /// Closes the file and gives its place back.
    pub fn close(&mut self, budget: &mut Budget) {
        if self.kept.take().is_some() {
            budget.left += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_file_is_read_anew_and_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stat");
        std::fs::write(&path, vec![b'x'; 50_000]).unwrap();
        let mut kept = Kept::new(&path);
        assert_eq!(kept.read().unwrap().len(), 50_000);
        std::fs::write(&path, "short").unwrap();
        assert_eq!(kept.read().unwrap(), b"short");
    }

    #[test]
    fn a_missing_file_is_found_once_it_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("late");
        let mut kept = Kept::new(&path);
        assert!(kept.read().is_err());
        std::fs::write(&path, "here").unwrap();
        assert_eq!(kept.read().unwrap(), b"here");
    }

    #[test]
    fn without_budget_files_are_opened_each_time() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["stat", "io"] {
            std::fs::write(folder.path().join(name), name).unwrap();
        }
        let mut budget = Budget::of(1);
        let mut buffer = [0; 64];
        let (mut first, mut second) = (ProcessFile::new("stat"), ProcessFile::new("io"));
        for _ in 0..2 {
            assert_eq!(first.read(folder.path(), &mut buffer, &mut budget).unwrap(), b"stat");
            assert_eq!(second.read(folder.path(), &mut buffer, &mut budget).unwrap(), b"io");
        }
        assert!(first.kept.is_some() && second.kept.is_none());
        first.close(&mut budget);
        assert_eq!(budget.left, 1);
    }
}
