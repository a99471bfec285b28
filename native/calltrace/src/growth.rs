//! Memory growth: how much address space a process took, in which pieces, by how many calls, and of which page size.

use std::collections::BTreeMap;

use crate::part::part;

use crate::details::number;
use crate::event::NO_NUMBER;
use crate::journal::{Journal, MemoryAct, MemoryCall, Process};
use crate::names::Class;
use crate::roles::Roles;

const MOST_ROWS: usize = 50;
const MIB: f64 = 1_048_576.0;

part! {
    /// How a process's memory grew.
    #[derive(Clone, Debug, Default)]
    pub struct Growth {
        /// Whose memory.
        pub pid: u32,
        /// Its place in the tree.
        pub role: String,
        /// By which call.
        pub call: String,
        /// Address space set aside without access, to be mapped piece by piece: the sum of the extents.
        pub reserved_bytes: u64,
        /// Sizes of what was set aside.
        pub extents: Vec<Amount>,
        /// Sizes of the pieces.
        pub chunks: Vec<Amount>,
        /// Sum of the pieces.
        pub mapped_bytes: u64,
        /// Calls that mapped a piece or asked for its page size; reservations are left out.
        pub calls: u64,
        /// Calls per MiB.
        pub calls_per_mb: Option<f64>,
        /// Whether a page size was asked for over at least one piece (`memcntl`, `madvise`).
        pub page_size_requested: bool,
        /// How often.
        pub requests: u64,
        /// How: the call's flag.
        pub advice: Option<String>,
    }
}

part! {
    /// How often memory of one size was asked for.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Amount {
        /// The size.
        pub bytes: u64,
        /// How often.
        pub count: u64,
    }
}

/// What a call of class Map, Unmap, Break, Advise or Exec did, from its arguments; null for another call, a failed one,
/// or one whose arguments are not to be understood. The entry's number is for the caller to set.
pub fn memory_call(class: Class, name: &[u8], arguments: &[u8], result: i64) -> Option<MemoryCall> {
    if !matches!(
        class,
        Class::Map | Class::Unmap | Class::Break | Class::Advise | Class::Exec
    ) || result == NO_NUMBER
    {
        return None;
    }
    let words: Vec<&[u8]> = arguments.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).collect();
    let value = |nth: usize| words.get(nth).copied().and_then(number);
    let (address, bytes, act) = match class {
        // Linux returns the new end, Solaris 0.
        Class::Break if result != 0 => (result, 0, MemoryAct::Break),
        Class::Break => (value(0)?, 0, MemoryAct::Break),
        Class::Exec => (0, 0, MemoryAct::Begin),
        Class::Unmap => (value(0)?, value(1)?, MemoryAct::Unmap),
        Class::Advise => (value(0)?, value(1)?, asks_page_size(&words)?),
        _ if name == b"mremap" => (result, value(2)?.saturating_sub(value(1)?), MemoryAct::MapAnonymous),
        _ => (result, value(1)?, mapping(&words)),
    };
    Some(MemoryCall {
        entry: 0,
        address: address as u64, // addresses use all 64 bits
        bytes: u64::try_from(bytes).ok()?,
        act,
    })
}

fn asks_page_size(words: &[&[u8]]) -> Option<MemoryAct> {
    let asks = words
        .iter()
        .any(|word| matches!(*word, b"MC_HAT_ADVISE" | b"MADV_HUGEPAGE"));
    asks.then_some(MemoryAct::AskPageSize)
}

/// What `mmap(address, bytes, protection, flags, fd, offset)` maps.
fn mapping(words: &[&[u8]]) -> MemoryAct {
    let flags = words.get(3).copied().unwrap_or_default();
    let has = |name: &[u8]| flags.split(|&byte| byte == b'|').any(|flag| flag == name);
    let anonymous = has(b"MAP_ANONYMOUS") || has(b"MAP_ANON") || words.get(4) == Some(&&b"-1"[..]);
    if words.get(2) == Some(&&b"PROT_NONE"[..]) && (anonymous || has(b"MAP_NORESERVE")) {
        MemoryAct::Reserve
    } else if flags.windows(11).any(|part| part == b"MAP_HUGETLB") {
        MemoryAct::MapHuge
    } else if anonymous {
        MemoryAct::MapAnonymous
    } else {
        MemoryAct::MapFile
    }
}

/// Growth of all processes, most bytes first.
pub fn growth(journal: &Journal, roles: &Roles) -> Vec<Growth> {
    let mut rows = Vec::new();
    for (id, process) in journal
        .processes
        .iter()
        .enumerate()
        .filter(|(_, process)| !process.memory.is_empty())
    {
        let role = roles.name(id as u32);
        rows.extend(Maps::of(process).growth(journal, process, role));
        rows.extend(heap(journal, process, role));
    }
    rows.sort_by_key(|row| std::cmp::Reverse((row.mapped_bytes, row.reserved_bytes)));
    rows.truncate(MOST_ROWS);
    rows
}

/// Bytes that a process has mapped beyond what it gave back since it began its program, heap included.
pub fn mapped_bytes(process: &Process) -> u64 {
    let began = process.memory.iter().rposition(|call| call.act == MemoryAct::Begin);
    let calls = &process.memory[began.unwrap_or(0)..];
    let sum = |wanted: fn(MemoryAct) -> bool| {
        let bytes = calls.iter().filter(|call| wanted(call.act)).map(|call| call.bytes);
        bytes.fold(0, u64::saturating_add)
    };
    let maps = |act| matches!(act, MemoryAct::MapFile | MemoryAct::MapAnonymous | MemoryAct::MapHuge);
    let heap_bytes = heap_steps(calls).fold(0, u64::saturating_add);
    let mapped = sum(maps).saturating_add(heap_bytes);
    mapped.saturating_sub(sum(|act| act == MemoryAct::Unmap))
}

/// What the maps of one process come to.
#[derive(Default)]
struct Maps {
    /// Start and end of each reserved extent.
    extents: BTreeMap<u64, u64>,
    extent_sizes: BTreeMap<u64, u64>,
    /// Start and end of each chunk.
    chunks: BTreeMap<u64, u64>,
    chunk_sizes: BTreeMap<u64, u64>,
    requests: u64,
    example: Option<u32>,
    advice: Option<u32>,
}

impl Maps {
    fn of(process: &Process) -> Maps {
        let mut maps = Maps::default();
        for call in &process.memory {
            maps.take(call);
        }
        maps
    }

    fn take(&mut self, call: &MemoryCall) {
        let end = call.address.saturating_add(call.bytes);
        match call.act {
            MemoryAct::Reserve => {
                self.extents.insert(call.address, end);
                *self.extent_sizes.entry(call.bytes).or_default() += 1;
                self.example.get_or_insert(call.entry);
            }
            // Libraries and data files are no growth of the heap.
            MemoryAct::MapFile if !covers(&self.extents, call.address) => {}
            MemoryAct::MapFile | MemoryAct::MapAnonymous | MemoryAct::MapHuge => {
                self.chunks.insert(call.address, end);
                *self.chunk_sizes.entry(call.bytes).or_default() += 1;
                self.example.get_or_insert(call.entry);
                if call.act == MemoryAct::MapHuge {
                    self.requests += 1;
                    self.advice.get_or_insert(call.entry);
                }
            }
            MemoryAct::AskPageSize if covers(&self.chunks, call.address) => {
                self.requests += 1;
                self.advice.get_or_insert(call.entry);
            }
            _ => {}
        }
    }

    fn growth(&self, journal: &Journal, process: &Process, role: &str) -> Option<Growth> {
        let site = |entry: u32| process.entries.get(entry as usize).map(|entry| entry.site());
        let call = journal.call_name(site(self.example?)?).to_owned();
        let chunks: u64 = self.chunk_sizes.values().sum();
        let advice = self.advice.and_then(site).map(|site| {
            let arguments = &journal.sites[site as usize].arguments;
            let flags = ["MC_HAT_ADVISE", "MADV_HUGEPAGE", "MAP_HUGETLB"];
            let flag = flags.into_iter().find(|flag| arguments.contains(flag));
            flag.unwrap_or(journal.call_name(site)).to_owned()
        });
        let row = Growth {
            pid: process.pid,
            role: role.to_owned(),
            call,
            reserved_bytes: total(&self.extent_sizes),
            extents: pieces(&self.extent_sizes),
            page_size_requested: self.requests > 0,
            requests: self.requests,
            advice,
            ..Growth::default()
        };
        Some(row.with_chunks(&self.chunk_sizes, chunks + self.requests))
    }
}

impl Growth {
    fn with_chunks(mut self, sizes: &BTreeMap<u64, u64>, calls: u64) -> Growth {
        self.chunks = pieces(sizes);
        self.mapped_bytes = total(sizes);
        self.calls = calls;
        self.calls_per_mb = (self.mapped_bytes > 0).then(|| calls as f64 / (self.mapped_bytes as f64 / MIB));
        self
    }
}

fn covers(ranges: &BTreeMap<u64, u64>, address: u64) -> bool {
    ranges
        .range(..=address)
        .next_back()
        .is_some_and(|(_, &end)| address < end)
}

fn total(sizes: &BTreeMap<u64, u64>) -> u64 {
    sizes.iter().fold(0, |sum, (&bytes, &count)| {
        sum.saturating_add(bytes.saturating_mul(count))
    })
}

/// Largest sum first.
fn pieces(sizes: &BTreeMap<u64, u64>) -> Vec<Amount> {
    let mut pieces: Vec<Amount> = sizes.iter().map(|(&bytes, &count)| Amount { bytes, count }).collect();
    pieces.sort_by_key(|piece| std::cmp::Reverse(piece.bytes.saturating_mul(piece.count)));
    pieces.truncate(20);
    pieces
}

/// Bytes by which each `brk` moved the end of the heap up; the first of a program only says where it is.
fn heap_steps(calls: &[MemoryCall]) -> impl Iterator<Item = u64> {
    let ends = calls
        .iter()
        .filter(|call| matches!(call.act, MemoryAct::Break | MemoryAct::Begin));
    let ends = ends.map(|call| (call.act == MemoryAct::Break).then_some(call.address));
    let steps = ends.scan(None, |last: &mut Option<u64>, end| {
        let step = end.zip(*last).map_or(0, |(end, last)| end.saturating_sub(last));
        *last = end;
        Some(step)
    });
    steps.filter(|&bytes| bytes > 0)
}

fn heap(journal: &Journal, process: &Process, role: &str) -> Option<Growth> {
    let first = process.memory.iter().find(|call| call.act == MemoryAct::Break)?;
    let site = process.entries.get(first.entry as usize)?.site();
    let mut sizes = BTreeMap::new();
    for bytes in heap_steps(&process.memory) {
        *sizes.entry(bytes).or_default() += 1;
    }
    let calls = sizes.values().sum();
    let row = Growth {
        pid: process.pid,
        role: role.to_owned(),
        call: journal.call_name(site).to_owned(),
        ..Growth::default()
    };
    (calls > 0).then(|| row.with_chunks(&sizes, calls))
}

#[cfg(test)]
mod tests;
