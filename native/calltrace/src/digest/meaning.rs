//! What a call means beyond its time: children, descriptors, data moved.

use std::hash::Hasher;

use memchr::memchr;
use rustc_hash::FxHasher;

use super::addresses::address;
use super::files::File;
use super::processes::{birth_of, waited_for};
use super::{Digest, Done, Span};
use crate::details::{first_string, number};
use crate::event::{Event, NO_NUMBER};
use crate::growth;
use crate::journal::{Action, ProcessId};
use crate::layout::Tool;
use crate::names::Class;

impl Digest {
    pub(super) fn mean(&mut self, done: &Done, span: Span, event: &Event, chunk: &[u8], arguments: &[u8]) {
        match done.class {
            Class::Read | Class::ReadAt | Class::Write | Class::WriteAt => self.data_moved(done, event.result),
            _ if event.result == NO_NUMBER => {}
            Class::Seek => self.sought(done, event),
            Class::Sync => self.profile.targets[done.target as usize].syncs += 1,
            Class::Fork => self.forked(done, span, event.result, arguments),
            Class::Wait => {
                let child = waited_for(event.result, arguments).and_then(|pid| self.by_pid.get(pid, 0));
                if let Some(child) = child {
                    self.action(done.process, Action::Reaped(child));
                }
            }
            Class::Exec => {
                self.executed(done.process, arguments);
                self.memory(done, event.result, arguments);
            }
            Class::Open => {
                let path = first_string(arguments).map(|path| String::from_utf8_lossy(path).into_owned());
                self.opened(done.process, event.result, path);
                if let Some(file) = self.files(done.process).get(event.result) {
                    file.has_positions = true;
                }
            }
            Class::Socket => self.opened(done.process, event.result, None),
            Class::Accept => {
                let peer = address(arguments).unwrap_or_else(|| "a local socket".to_owned());
                self.opened(done.process, event.result, Some(format!("accepted from {peer}")));
            }
            Class::Close => self.files(done.process).close(i64::from(done.fd)),
            Class::Duplicate => {
                let file = self.files(done.process).get(i64::from(done.fd)).copied();
                self.files(done.process).set(event.result, file.unwrap_or_default());
            }
            Class::Pipe => self.piped(done.process, event, chunk, arguments),
            Class::Map | Class::Unmap | Class::Break | Class::Advise => self.memory(done, event.result, arguments),
            _ => {}
        }
        if done.class == Class::Connect
            && let Some(name) = address(arguments)
        {
            self.opened(done.process, i64::from(done.fd), Some(name)); // also when it goes on in the background
        }
    }

    /// A line that belongs to the one before: a frame of its stack (strace -k), the peer that was accepted (truss -v).
    pub(super) fn detail(&mut self, text: &[u8]) {
        if self.journal.layout.tool == Tool::Strace {
            if self.stacks.wanted {
                self.stacks.frame(text);
            }
            return;
        }
        if let Some(done) = self.last
            && done.class == Class::Accept
            && let Some(peer) = address(text)
            && let Some(fd) = self.states[done.process as usize].accepted.take()
        {
            self.opened(done.process, fd, Some(format!("accepted from {peer}")));
        }
    }

    /// The target of a call's descriptor: as the trace names it, as it was opened, or by its number.
    pub(super) fn target(&mut self, process: ProcessId, event: &Event, chunk: &[u8]) -> u32 {
        let shown = event.target.of(chunk);
        let named = hash_of(shown);
        let table = self.states[process as usize].files as usize;
        let Some(file) = self.files[table].get(i64::from(event.fd)) else {
            return 0;
        };
        if file.target != 0 && (shown.is_empty() || file.named == named) {
            return file.target;
        }
        let name = if shown.is_empty() {
            format!("descriptor {}", event.fd)
        } else {
            String::from_utf8_lossy(shown).into_owned()
        };
        file.named = named;
        let target = self.numbers.target(name, &mut self.profile);
        if let Some(file) = self.files[table].get(i64::from(event.fd)) {
            file.target = target;
        }
        target
    }

    fn files(&mut self, process: ProcessId) -> &mut super::Files {
        let table = self.states[process as usize].files as usize;
        &mut self.files[table]
    }

    fn opened(&mut self, process: ProcessId, fd: i64, name: Option<String>) {
        self.states[process as usize].accepted = Some(fd);
        let target = name.map_or(0, |name| self.numbers.target(name, &mut self.profile));
        self.files(process).set(fd, File::of(target));
    }

    fn data_moved(&mut self, done: &Done, result: i64) {
        let reads = matches!(done.class, Class::Read | Class::ReadAt);
        let Ok(bytes) = u64::try_from(result) else {
            return self.profile.targets[done.target as usize].calls += 1;
        };
        let file = self.files(done.process).get(i64::from(done.fd)).map(|file| {
            let reading = if reads {
                Some(file.read(done.offset, result))
            } else {
                None
            };
            (reading, if reads { file.takes } else { file.gives })
        });
        let sum = &mut self.profile.targets[done.target as usize];
        sum.calls += 1;
        if reads {
            sum.reads += 1;
            sum.read_bytes = sum.read_bytes.saturating_add(bytes);
            self.profile.reads.add(bytes);
        } else {
            sum.writes += 1;
            sum.written_bytes = sum.written_bytes.saturating_add(bytes);
            self.profile.writes.add(bytes);
        }
        let Some((reading, channel)) = file else {
            return;
        };
        if let Some(reading) = reading {
            sum.count_reading(reading);
        }
        if channel != 0 && bytes > 0 {
            self.action(
                done.process,
                if reads {
                    Action::Took(channel)
                } else {
                    Action::Gave(channel)
                },
            );
        }
    }

    fn sought(&mut self, done: &Done, event: &Event) {
        self.profile.targets[done.target as usize].seeks += 1;
        if let Some(file) = self.files(done.process).get(i64::from(done.fd)) {
            file.seek(event);
        }
    }

    fn forked(&mut self, done: &Done, span: Span, result: i64, arguments: &[u8]) {
        let Some(pid) = u32::try_from(result).ok().filter(|&pid| pid > 0) else {
            return;
        };
        let now_ns = span.start_ns.saturating_add(span.elapsed_ns.unwrap_or(0));
        self.forking.retain(|&forking| forking != done.process);
        let alive = |process: &ProcessId| self.journal.processes[*process as usize].end.is_none();
        let child = match self.by_pid.get(pid, 0) {
            // It may have lived and died before its parent's fork returned.
            Some(child) if alive(&child) || self.journal.processes[child as usize].began_ns >= span.start_ns => child,
            _ => self.new_process(pid, 0, now_ns),
        };
        self.adopt(done.process, child, birth_of(arguments), now_ns);
        self.action(done.process, Action::Forked(child));
    }

    fn executed(&mut self, process: ProcessId, arguments: &[u8]) {
        let path = first_string(arguments).unwrap_or_default();
        let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
        self.journal.processes[process as usize].program = String::from_utf8_lossy(name).into_owned();
    }

    /// Two descriptors that talk to each other: `[3, 4]` in the arguments, or truss' `= 14 [15]`.
    fn piped(&mut self, process: ProcessId, event: &Event, chunk: &[u8], arguments: &[u8]) {
        let Some((first, second)) =
            pair(arguments).or_else(|| Some((event.result, bracketed(event.remark.of(chunk))?)))
        else {
            return;
        };
        let forth = self.journal.new_channel();
        let back = self.journal.new_channel();
        let target = self.numbers.target("a pipe".to_owned(), &mut self.profile);
        // Solaris' pipes, as socket pairs, go both ways; on Linux nobody writes into the first.
        for (fd, takes, gives) in [(first, forth, back), (second, back, forth)] {
            let mut file = File::of(target);
            (file.takes, file.gives) = (takes, gives);
            self.files(process).set(fd, file);
        }
    }

    fn memory(&mut self, done: &Done, result: i64, arguments: &[u8]) {
        if self.detail_left == 0 {
            return;
        }
        let name = self.journal.calls[done.call as usize].name.as_bytes();
        if let Some(mut call) = growth::memory_call(done.class, name, arguments, result) {
            let known = &mut self.journal.processes[done.process as usize];
            call.entry = known.entries.len() as u32; // the one that `keep` adds next
            known.memory.push(call);
        }
    }

    fn action(&mut self, process: ProcessId, action: Action) {
        if self.detail_left == 0 {
            return;
        }
        let known = &mut self.journal.processes[process as usize];
        known.actions.push((known.entries.len() as u32, action)); // of the entry that `keep` adds next
    }
}

fn hash_of(text: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(text);
    hasher.finish()
}

/// The numbers of `[3, 4]`, with or without what strace -y says after each.
fn pair(arguments: &[u8]) -> Option<(i64, i64)> {
    let list = &arguments[memchr(b'[', arguments)? + 1..];
    let comma = memchr(b',', list)?;
    Some((leading(list)?, leading(list[comma + 1..].trim_ascii_start())?))
}

fn bracketed(remark: &[u8]) -> Option<i64> {
    leading(remark.trim_ascii().strip_prefix(b"[")?)
}

fn leading(text: &[u8]) -> Option<i64> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    number(&text[..digits])
}
