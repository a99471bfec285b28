//! Names for processes by their place in the tree, so that many that did the same are spoken of as one.

use rustc_hash::FxHashMap;

use crate::journal::{Birth, Journal, Process, ProcessId};

pub type RoleId = u32;

/// Descendants of this depth and more share one role: a runaway chain of forks must not make a chain of names.
const DEEPEST: u32 = 8;

#[derive(Clone, Debug)]
pub struct Role {
    /// `postgres`, `15697`, `child`, `grandchild (oracle)`, `child thread`.
    pub name: String,
    /// The names from the root down, joined by semicolons.
    pub chain: String,
    pub depth: u32,
    is_thread: bool,
}

#[derive(Debug, Default)]
pub struct Roles {
    of: Vec<Option<RoleId>>,
    /// Processes whose naming has begun.
    met: Vec<bool>,
    roles: Vec<Role>,
    numbers: FxHashMap<(Option<RoleId>, String), RoleId>,
}

/// The role of every process: the root's program or pid; below it "child", "grandchild" and so on, with the program
/// that it executed. Children of one parent that executed the same, or nothing, have the same role.
pub fn roles(journal: &Journal) -> Roles {
    let mut roles = Roles {
        of: vec![None; journal.processes.len()],
        met: vec![false; journal.processes.len()],
        ..Roles::default()
    };
    for process in 0..journal.processes.len() as ProcessId {
        roles.name_with_ancestors(journal, process);
    }
    roles
}

impl Roles {
    pub fn id(&self, process: ProcessId) -> RoleId {
        self.of[process as usize].unwrap_or_default() // each has one once `roles` is done
    }

    pub fn role(&self, id: RoleId) -> &Role {
        &self.roles[id as usize]
    }

    pub fn all(&self) -> &[Role] {
        &self.roles
    }

    pub fn of(&self, process: ProcessId) -> &Role {
        self.role(self.id(process))
    }

    pub fn name(&self, process: ProcessId) -> &str {
        &self.of(process).name
    }

    /// As it stands in a sentence: "the grandchild", "process 12", "postgres".
    pub fn spoken(&self, process: ProcessId) -> String {
        let role = self.of(process);
        let is_pid = role.name.bytes().all(|byte| byte.is_ascii_digit());
        match role.depth {
            0 if is_pid => format!("process {}", role.name),
            0 => role.name.clone(),
            _ => format!("the {}", role.name),
        }
    }

    /// Ancestors first; a damaged trace may make a process its own ancestor, which is then a root.
    fn name_with_ancestors(&mut self, journal: &Journal, process: ProcessId) {
        let mut line: Vec<ProcessId> = Vec::new();
        let mut next = Some(process);
        while let Some(unnamed) = next.filter(|&unnamed| self.of[unnamed as usize].is_none()) {
            if std::mem::replace(&mut self.met[unnamed as usize], true) {
                next = None;
                break;
            }
            line.push(unnamed);
            next = journal.processes[unnamed as usize].parent;
        }
        let mut parent = next.and_then(|named| self.of[named as usize]);
        for &process in line.iter().rev() {
            let id = self.make(&journal.processes[process as usize], parent);
            self.of[process as usize] = Some(id);
            parent = Some(id);
        }
    }

    fn make(&mut self, process: &Process, parent: Option<RoleId>) -> RoleId {
        let Some(above) = parent else {
            return self.number(None, root_name(process), 0, false);
        };
        let (depth, is_thread) = (self.role(above).depth, self.role(above).is_thread);
        let joins = process.birth == Birth::Thread && is_thread;
        if joins || depth >= DEEPEST {
            return above;
        }
        let is_thread = process.birth == Birth::Thread;
        let name = if is_thread && depth == 0 {
            "thread".to_owned()
        } else if is_thread {
            format!("{} thread", self.role(above).name)
        } else if process.program.is_empty() {
            generation(depth + 1).to_owned()
        } else {
            format!("{} ({})", generation(depth + 1), process.program)
        };
        self.number(parent, name, depth + 1, is_thread)
    }

    fn number(&mut self, parent: Option<RoleId>, name: String, depth: u32, is_thread: bool) -> RoleId {
        if let Some(&id) = self.numbers.get(&(parent, name.clone())) {
            return id;
        }
        let id = self.roles.len() as RoleId;
        let chain = match parent {
            Some(parent) => format!("{};{name}", self.role(parent).chain),
            None => name.clone(),
        };
        self.numbers.insert((parent, name.clone()), id);
        self.roles.push(Role {
            name,
            chain,
            depth,
            is_thread,
        });
        id
    }
}

fn root_name(process: &Process) -> String {
    match (process.program.as_str(), process.pid) {
        ("", 0) => "the process".to_owned(), // the trace names none
        ("", pid) => pid.to_string(),
        (program, _) => program.to_owned(),
    }
}

fn generation(depth: u32) -> &'static str {
    match depth {
        1 => "child",
        2 => "grandchild",
        3 => "great-grandchild",
        _ => "descendant",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::Script;

    #[test]
    fn children_that_did_the_same_have_one_role() {
        let mut script = Script::new();
        let server = script.process(10);
        let children: Vec<_> = (0..500).map(|pid| script.child(server, 11 + pid)).collect();
        let grandchild = script.child(children[0], 600);
        script.journal.processes[grandchild as usize].program = "oracle".to_owned();
        let roles = roles(&script.journal);
        assert_eq!(roles.all().len(), 3);
        assert_eq!(roles.name(server), "10");
        assert!(children.iter().all(|&child| roles.id(child) == roles.id(children[0])));
        assert_eq!(roles.of(grandchild).chain, "10;child;grandchild (oracle)");
        assert_eq!(roles.of(grandchild).depth, 2);
        assert_eq!(
            (roles.spoken(server), roles.spoken(children[0])),
            ("process 10".into(), "the child".into())
        );
    }

    #[test]
    fn threads_are_named_after_their_process_whoever_made_them() {
        let mut script = Script::new();
        let server = script.process(1);
        let first = script.child(server, 2);
        let second = script.child(first, 3);
        for thread in [first, second] {
            script.journal.processes[thread as usize].birth = Birth::Thread;
        }
        let roles = roles(&script.journal);
        assert_eq!((roles.name(first), roles.name(second)), ("thread", "thread"));
    }

    #[test]
    fn a_circle_of_parents_and_a_long_chain_end() {
        let mut script = Script::new();
        let first = script.process(1);
        let second = script.child(first, 2);
        script.journal.processes[first as usize].parent = Some(second);
        let mut last = second;
        for pid in 3..2000 {
            last = script.child(last, pid);
        }
        let roles = roles(&script.journal);
        assert!(roles.of(last).depth <= DEEPEST);
        assert!(roles.of(last).chain.len() < 200);
    }
}
