//! On which NUMA nodes the pages of a process lie, and by which policy: /proc/PID/numa_maps, on a host with several nodes.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use super::mappings::{self, KINDS};
use crate::host::cpus::numa::nodes;
use crate::host::processes::command;
use crate::host::text::{fields, lines, number};

/// Position in /proc/PID/stat after the name (proc(5): the CPU that it ran on last is field 39, the name field 2).
const PROCESSOR: usize = 36;

/// The CPUs of each node, by its number.
pub struct Nodes(Vec<(u64, Vec<(u64, u64)>)>);

impl Nodes {
    /// Nothing on a host with one node, where no page can lie elsewhere.
    pub fn of(sys: &Path) -> Option<Self> {
        let found = nodes(sys);
        let cpus = |folder: &Path| ranges(&std::fs::read(folder.join("cpulist")).unwrap_or_default());
        (found.len() > 1).then(|| Self(found.iter().map(|(number, folder)| (*number, cpus(folder))).collect()))
    }

    fn of_cpu(&self, cpu: u64) -> Option<u64> {
        let has = |ranges: &[(u64, u64)]| ranges.iter().any(|(first, last)| (*first..=*last).contains(&cpu));
        self.0.iter().find(|(_, cpus)| has(cpus)).map(|(node, _)| *node)
    }
}

/// Where the pages of a process lie that it has touched.
#[derive(Debug, Default, PartialEq)]
pub struct Placement {
    /// Bytes by kind of mapping (its place in `KINDS`) and node.
    pub bytes: BTreeMap<(usize, u64), u64>,
    /// The policy of the process, as its heap and its stack show it.
    pub policy: Option<String>,
    /// That of its largest shared memory, where it differs.
    pub shared_policy: Option<String>,
    /// The node of the CPU that it ran on last.
    pub runs_on: Option<u64>,
}

impl Placement {
    /// Bytes of a kind on the node that it ran on, and on all others; nothing where either is not known.
    pub fn local_and_remote(&self, kind: usize) -> Option<(u64, u64)> {
        let runs_on = self.runs_on?;
        let of_kind = || self.bytes.iter().filter(|((of, _), _)| *of == kind);
        let local = of_kind()
            .filter(|((_, node), _)| *node == runs_on)
            .map(|(_, bytes)| bytes)
            .sum();
        let all: u64 = of_kind().map(|(_, bytes)| bytes).sum();
        (all > 0).then(|| (local, all - local))
    }
}

/// The kernel walks through all pages for this, and nobody can map anything in the process meanwhile: nothing of one that is large.
pub fn read(process: &Path, nodes: &Nodes, page_bytes: u64) -> io::Result<Option<Placement>> {
    if mappings::is_large(&std::fs::read(process.join("status"))?) {
        return Ok(None);
    }
    let mut placement = parse(&std::fs::read(process.join("numa_maps"))?, page_bytes);
    let stat = std::fs::read(process.join("stat"))?;
    placement.runs_on = processor(&stat).and_then(|cpu| nodes.of_cpu(cpu));
    Ok(Some(placement))
}

/// What the process is called, as everywhere.
pub fn name(process: &Path) -> String {
    let comm = std::fs::read(process.join("comm")).unwrap_or_default();
    let comm = comm.trim_ascii();
    match command::has_title(comm) {
        true => command::postgres(&std::fs::read(process.join("cmdline")).unwrap_or_default()),
        false => command::name(comm),
    }
}

/// Lines of `ADDRESS POLICY [file=PATH|heap|stack] [huge] [anon=PAGES ...] N0=PAGES N1=PAGES kernelpagesize_kB=4`.
fn parse(text: &[u8], page_bytes: u64) -> Placement {
    let mut found = Placement::default();
    let mut largest_shared = 0;
    for line in lines(text) {
        let (policy, words) = policy(line);
        let kind = kind_of(&words);
        let page = assigned(&words, b"kernelpagesize_kB=").map_or(page_bytes, |kib| kib * 1024);
        let mut sum = 0;
        for (node, pages) in words.iter().filter_map(|word| on_node(word)) {
            *found.bytes.entry((kind, node)).or_default() += pages * page;
            sum += pages * page;
        }
        if words.iter().any(|word| [b"heap".as_slice(), b"stack"].contains(word)) && found.policy.is_none() {
            found.policy = Some(policy);
        } else if KINDS[kind] == "shared memory" && sum > largest_shared {
            (largest_shared, found.shared_policy) = (sum, Some(policy));
        }
    }
    found
        .shared_policy
        .take_if(|policy| found.policy.as_ref() == Some(policy));
    found
}

/// The policy of a line, of which two have names of two words (mempolicy.c), and what follows it.
fn policy(line: &[u8]) -> (String, Vec<&[u8]>) {
    let words: Vec<_> = fields(line).skip(1).collect();
    let is_second = |word: &&&[u8]| word.starts_with(b"(many)") || word.starts_with(b"interleave");
    let of = match words.first() {
        Some(&(b"prefer" | b"weighted")) if words.get(1).as_ref().is_some_and(is_second) => 2,
        first => usize::from(first.is_some()),
    };
    let policy = String::from_utf8_lossy(&words[..of].join(&b' ')).into_owned();
    (policy, words[of..].to_vec())
}

fn kind_of(words: &[&[u8]]) -> usize {
    let path = words.iter().find_map(|word| word.strip_prefix(b"file="));
    let is_heap = words.contains(&b"heap".as_slice());
    mappings::kind_of(path.unwrap_or(if is_heap { b"[heap]" } else { b"" }))
}

fn assigned(words: &[&[u8]], key: &[u8]) -> Option<u64> {
    words.iter().find_map(|word| number(word.strip_prefix(key)?))
}

/// Node and pages of `N1=77`.
fn on_node(word: &[u8]) -> Option<(u64, u64)> {
    let rest = word.strip_prefix(b"N")?;
    let equals = rest.iter().position(|&byte| byte == b'=')?;
    Some((number(&rest[..equals])?, number(&rest[equals + 1..])?))
}

fn processor(stat: &[u8]) -> Option<u64> {
    let close = stat.iter().rposition(|&byte| byte == b')')?;
    fields(&stat[close + 1..]).nth(PROCESSOR).and_then(number)
}

/// Ranges of a list such as `0-15,32-47`.
fn ranges(list: &[u8]) -> Vec<(u64, u64)> {
    let parts = list.trim_ascii().split(|&byte| byte == b',');
    let range = |part: &[u8]| {
        let first = number(part)?;
        let last = part
            .iter()
            .position(|&byte| byte == b'-')
            .and_then(|dash| number(&part[dash + 1..]));
        Some((first, last.unwrap_or(first)))
    };
    parts.filter_map(range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // After show_numa_map of fs/proc/task_mmu.c and mpol_to_str of mm/mempolicy.c, Linux 6.18.
    const MAPS: &[u8] = b"55d0c0000000 default file=/usr/lib/postgresql/15/bin/postgres mapped=300 mapmax=9 N0=200 N1=100 \
        kernelpagesize_kB=4\n55d0c2000000 default heap anon=50 dirty=50 N1=50 kernelpagesize_kB=4\n\
        7f0000000000 interleave:0-1 file=/anon_hugepage\\040(deleted) huge dirty=128 N0=64 N1=64 kernelpagesize_kB=2048\n\
        7f0010000000 default anon=10 dirty=10 N0=6 N1=4 kernelpagesize_kB=4\n7ffc00000000 default stack anon=3 dirty=3 N1=3 kernelpagesize_kB=4\n\
        7ffc10000000 default\n";

    #[test]
    fn pages_are_added_up_by_kind_and_node() {
        let found = parse(MAPS, 4096);
        let kib = |kind: usize, node: u64| found.bytes.get(&(kind, node)).map(|bytes| bytes / 1024);
        assert_eq!((kib(0, 0), kib(0, 1)), (Some(131_072), Some(131_072)));
        assert_eq!((kib(1, 0), kib(1, 1)), (None, Some(200)));
        assert_eq!((kib(2, 0), kib(2, 1)), (Some(24), Some(28)));
        assert_eq!((kib(3, 0), kib(3, 1)), (Some(800), Some(400)));
        assert_eq!(found.policy.as_deref(), Some("default"));
        assert_eq!(found.shared_policy.as_deref(), Some("interleave:0-1"));
        assert_eq!(found.local_and_remote(0), None, "where it ran is not known");
        let on_one = Placement {
            runs_on: Some(1),
            ..found
        };
        assert_eq!(on_one.local_and_remote(1), Some((200 << 10, 0)));
        assert_eq!(on_one.local_and_remote(3), Some((400 << 10, 800 << 10)));
        assert_eq!(parse(&MAPS[..40], 4096), Placement::default(), "cut off");
    }

    #[test]
    fn policies_of_two_words_are_one() {
        for (line, expected) in [
            ("7f00 prefer (many):0-1 heap N0=1", "prefer (many):0-1"),
            ("7f00 weighted interleave:0-1 heap N0=1", "weighted interleave:0-1"),
            ("7f00 prefer:1 heap", "prefer:1"),
            ("7f00 bind=static:0 heap", "bind=static:0"),
            ("7f00", ""),
        ] {
            let (told, _) = policy(line.as_bytes());
            assert_eq!(told, expected, "{line}");
        }
    }

    #[test]
    fn a_cpu_is_of_the_node_that_lists_it() {
        let nodes = Nodes(vec![
            (0, ranges(b"0-15,32-47\n")),
            (1, ranges(b"16-31,48\n")),
            (2, ranges(b"\n")),
        ]);
        let of = |cpu| nodes.of_cpu(cpu);
        assert_eq!(
            (of(0), of(47), of(48), of(16), of(49)),
            (Some(0), Some(0), Some(1), Some(1), None)
        );
    }
}
