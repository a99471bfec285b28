//! One pass across processes, drawn as bars, with the critical path marked.

use crate::part::part;
use rustc_hash::{FxHashMap, FxHashSet};

use super::follow::{Follower, Piece};
use super::walk::{What, first_after};
use super::{NO_CALL, NOT_IN_TRACE};
use crate::journal::{Journal, ProcessId};
use crate::passes::{Loop, Pass};
use crate::roles::Roles;

const MOST_BARS: usize = 2000;

part! {
    /// One pass of usual length, for drawing.
    #[derive(Clone, Debug)]
    pub struct Timeline {
        /// Which of the loop's passes, from 1.
        pub pass: u64,
        /// When it began.
        pub began_s: f64,
        /// How long it took.
        pub seconds: f64,
        /// The loop's own process first, then those that it waited for.
        pub rows: Vec<Row>,
        /// The shortest, beyond 2,000.
        pub bars_left_out: u64,
    }
}

part! {
    /// A process on the timeline.
    #[derive(Clone, Debug)]
    pub struct Row {
        /// Process id.
        pub pid: u32,
        /// Its place in the tree.
        pub role: String,
        /// Generations below the loop's process.
        pub depth: u32,
        /// Its calls.
        pub bars: Vec<Bar>,
    }
}

part! {
    /// A call on the timeline.
    #[derive(Clone, Debug)]
    pub struct Bar {
        /// From the start of the pass.
        pub start_s: f64,
        /// How long.
        pub seconds: f64,
        /// Which call.
        pub call: String,
        /// Its arguments.
        pub arguments: String,
        /// Whether it is on the critical path.
        pub on_path: bool,
    }
}

/// A bar before it is put into words.
struct Stretch {
    process: ProcessId,
    what: What,
    from_ns: u64,
    to_ns: u64,
    on_path: bool,
}

/// The pass whose length is nearest to the median, of the first thousand; null when there is none.
pub fn timeline(journal: &Journal, roles: &Roles, found: &Loop) -> Option<Timeline> {
    let distance = |pass: &Pass| (pass.seconds() - found.p50_s).abs();
    let passes = found.kept.iter().enumerate();
    let (number, pass) = passes.min_by(|a, b| distance(a.1).total_cmp(&distance(b.1)))?;
    let mut pieces = Vec::new();
    let span = (pass.from_ns, pass.to_ns);
    Follower::new(journal).path(found.process, pass.first, span, &mut |piece| pieces.push(piece));
    let mut stretches = on_path(&pieces);
    let processes = in_order(&pieces, found.process);
    for &process in &processes {
        off_path(journal, process, pass, &pieces, &mut stretches);
    }
    let left_out = drop_shortest(&mut stretches);
    Some(Timeline {
        pass: number as u64 + 1,
        began_s: pass.from_ns as f64 / 1e9,
        seconds: pass.seconds(),
        rows: rows(journal, roles, &processes, pass, &stretches),
        bars_left_out: left_out,
    })
}

fn on_path(pieces: &[Piece]) -> Vec<Stretch> {
    let stretch = |piece: &Piece| Stretch {
        process: piece.process,
        what: piece.what,
        from_ns: piece.from_ns,
        to_ns: piece.to_ns,
        on_path: true,
    };
    pieces.iter().map(stretch).collect()
}

fn in_order(pieces: &[Piece], first: ProcessId) -> Vec<ProcessId> {
    let mut met = FxHashSet::default();
    let all = std::iter::once(first).chain(pieces.iter().map(|piece| piece.process));
    all.filter(|&process| met.insert(process)).collect()
}

/// Calls that ran beside the path, and the waits that the path goes around.
fn off_path(journal: &Journal, process: ProcessId, pass: &Pass, pieces: &[Piece], stretches: &mut Vec<Stretch>) {
    let known = &journal.processes[process as usize];
    let covered: FxHashMap<u32, (u64, u64)> = pieces
        .iter()
        .filter(|piece| piece.process == process)
        .filter_map(|piece| match piece.what {
            What::Call(entry) => Some((entry, (piece.from_ns, piece.to_ns))),
            _ => None,
        })
        .collect();
    let first = first_after(known, pass.from_ns);
    for (at, entry) in known.entries.iter().enumerate().skip(first as usize) {
        if entry.start_ns >= pass.to_ns {
            break;
        }
        let (from_ns, to_ns) = (entry.start_ns.max(pass.from_ns), entry.end_ns().min(pass.to_ns));
        let whole = |&(start_ns, end_ns): &(u64, u64)| start_ns <= from_ns && end_ns >= to_ns;
        if !covered.get(&(at as u32)).is_some_and(whole) {
            stretches.push(Stretch {
                process,
                what: What::Call(at as u32),
                from_ns,
                to_ns,
                on_path: false,
            });
        }
    }
}

fn drop_shortest(stretches: &mut Vec<Stretch>) -> u64 {
    let left_out = stretches.len().saturating_sub(MOST_BARS);
    stretches.sort_by_key(|stretch| std::cmp::Reverse(stretch.to_ns.saturating_sub(stretch.from_ns)));
    stretches.truncate(MOST_BARS);
    stretches.sort_by_key(|stretch| stretch.from_ns);
    left_out as u64
}

fn rows(journal: &Journal, roles: &Roles, processes: &[ProcessId], pass: &Pass, stretches: &[Stretch]) -> Vec<Row> {
    let row = |&process: &ProcessId| Row {
        pid: journal.processes[process as usize].pid,
        role: roles.name(process).to_owned(),
        depth: roles.of(process).depth,
        bars: stretches
            .iter()
            .filter(|stretch| stretch.process == process)
            .map(|stretch| bar(journal, pass, stretch))
            .collect(),
    };
    let rows = processes.iter().map(row);
    rows.filter(|row| !row.bars.is_empty()).collect()
}

fn bar(journal: &Journal, pass: &Pass, stretch: &Stretch) -> Bar {
    let (call, arguments) = match stretch.what {
        What::Call(entry) => {
            let site = journal.processes[stretch.process as usize].entries[entry as usize].site();
            (journal.call_name(site), journal.sites[site as usize].arguments.as_str())
        }
        What::Outside => (NO_CALL, ""),
        What::Unseen => (NOT_IN_TRACE, ""),
    };
    Bar {
        start_s: stretch.from_ns.saturating_sub(pass.from_ns) as f64 / 1e9,
        seconds: stretch.to_ns.saturating_sub(stretch.from_ns) as f64 / 1e9,
        call: call.to_owned(),
        arguments: arguments.to_owned(),
        on_path: stretch.on_path,
    }
}
