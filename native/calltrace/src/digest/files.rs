//! What the descriptors of a process stand for, followed from open to close, and across forks.

use crate::event::{Event, NO_NUMBER};

/// What a descriptor is. A number of 0 stands for "none" in `target` and in the channels.
#[derive(Clone, Copy, Debug, Default)]
pub struct File {
    /// Index in the profile's targets.
    pub target: u32,
    /// Hash of the name under which the trace itself last showed it (strace -y).
    pub named: u64,
    /// The channel that a write goes into, and the one that a read takes from.
    pub gives: u32,
    pub takes: u32,
    /// It has positions: a file, not a socket or a pipe.
    pub has_positions: bool,
    /// Where the next read would start if it went on from the last.
    next_offset: i64,
    /// A seek came after the last read, to this position.
    sought: Option<i64>,
    reads: u64,
}

/// How a read lay to the one before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// It went on where the last one ended; null when it was the first, or there are no positions.
    pub sequential: Option<bool>,
    /// A seek stood before it.
    pub after_seek: bool,
}

impl File {
    pub fn of(target: u32) -> File {
        File {
            target,
            ..File::default()
        }
    }

    pub fn seek(&mut self, event: &Event) {
        if event.result != NO_NUMBER {
            self.sought = Some(event.result);
            self.has_positions = true;
        }
    }

    /// Follow a read of `bytes` at an offset, or at the file's own position when the call names none.
    pub fn read(&mut self, offset: i64, bytes: i64) -> Reading {
        let own_position = offset == NO_NUMBER;
        let sought = if own_position { self.sought.take() } else { None };
        let at = if own_position {
            sought.unwrap_or(self.next_offset)
        } else {
            offset
        };
        let reading = Reading {
            sequential: (self.has_positions && self.reads > 0).then_some(at == self.next_offset),
            after_seek: sought.is_some(),
        };
        self.reads += 1;
        self.next_offset = at.saturating_add(bytes.max(0));
        reading
    }
}

/// A table of descriptors; threads of a process share one.
#[derive(Clone, Debug, Default)]
pub struct Files(Vec<File>);

/// Descriptors above this are not followed: no real table is that long, a damaged line may name any number.
const HIGHEST: i64 = 1 << 16;

impl Files {
    pub fn get(&mut self, fd: i64) -> Option<&mut File> {
        if !(0..HIGHEST).contains(&fd) {
            return None;
        }
        let at = fd as usize;
        if at >= self.0.len() {
            self.0.resize(at + 1, File::default());
        }
        self.0.get_mut(at)
    }

    pub fn set(&mut self, fd: i64, file: File) {
        if let Some(slot) = self.get(fd) {
            *slot = file;
        }
    }

    pub fn close(&mut self, fd: i64) {
        if let Some(slot) = usize::try_from(fd).ok().and_then(|at| self.0.get_mut(at)) {
            *slot = File::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_told_sequential_from_random() {
        let mut file = File {
            has_positions: true,
            ..File::default()
        };
        assert_eq!(file.read(NO_NUMBER, 512).sequential, None);
        assert_eq!(file.read(NO_NUMBER, 512).sequential, Some(true));
        file.seek(&Event {
            result: 4096,
            ..Event::default()
        });
        let after_seek = Reading {
            sequential: Some(false),
            after_seek: true,
        };
        assert_eq!(file.read(NO_NUMBER, 512), after_seek);
        assert_eq!(file.read(4608, 512).sequential, Some(true));
        assert_eq!(file.read(0, 512).sequential, Some(false));
    }

    #[test]
    fn what_has_no_positions_is_neither_sequential_nor_random() {
        let mut socket = File::default();
        socket.read(NO_NUMBER, 64);
        assert_eq!(socket.read(NO_NUMBER, 64).sequential, None);
    }

    #[test]
    fn an_absurd_descriptor_takes_no_memory() {
        let mut files = Files::default();
        assert!(files.get(2_000_000_000).is_none());
        files.close(2_000_000_000);
        files.set(
            3,
            File {
                target: 7,
                ..File::default()
            },
        );
        assert_eq!(files.get(3).map(|file| file.target), Some(7));
        files.close(3);
        assert_eq!(files.get(3).map(|file| file.target), Some(0));
    }
}
