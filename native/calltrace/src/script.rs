//! Journals written by hand, for the tests of the analyses.

use crate::details;
use crate::event::NO_NUMBER;
use crate::growth::memory_call;
use crate::journal::{Action, Birth, CallName, Entry, Journal, Process, ProcessId, Site, SiteId};
use crate::names;

#[derive(Default)]
pub struct Script {
    pub journal: Journal,
}

impl Script {
    pub fn new() -> Script {
        Script::default()
    }

    pub fn process(&mut self, pid: u32) -> ProcessId {
        self.journal.processes.push(Process {
            pid,
            ..Process::default()
        });
        (self.journal.processes.len() - 1) as ProcessId
    }

    pub fn child(&mut self, parent: ProcessId, pid: u32) -> ProcessId {
        let child = self.process(pid);
        let known = &mut self.journal.processes[child as usize];
        known.parent = Some(parent);
        known.birth = Birth::Forked;
        child
    }

    pub fn began(&mut self, process: ProcessId, seconds: f64) {
        self.journal.processes[process as usize].began_ns = nanoseconds(seconds);
    }

    /// A call that ended at a moment, as truss writes it: `call(process, 1.5798, 0.0300, "fork1()")`.
    pub fn call(&mut self, process: ProcessId, end_s: f64, elapsed_s: f64, text: &str) {
        let start_ns = nanoseconds(end_s - elapsed_s);
        let site = self.site(text);
        let entries = &mut self.journal.processes[process as usize].entries;
        entries.push(Entry::new(start_ns, elapsed_s as f32, site, false));
    }

    pub fn failed(&mut self, process: ProcessId, end_s: f64, elapsed_s: f64, text: &str) {
        let start_ns = nanoseconds(end_s - elapsed_s);
        let site = self.site(text);
        let entries = &mut self.journal.processes[process as usize].entries;
        entries.push(Entry::new(start_ns, elapsed_s as f32, site, true));
    }

    /// CPU seconds of the last call.
    pub fn cpu(&mut self, process: ProcessId, seconds: f32) {
        let process = &mut self.journal.processes[process as usize];
        process.cpu_s.resize(process.entries.len() - 1, 0.0);
        process.cpu_s.push(seconds);
    }

    /// What the last call meant.
    pub fn action(&mut self, process: ProcessId, action: Action) {
        let process = &mut self.journal.processes[process as usize];
        process.actions.push((process.entries.len() as u32 - 1, action));
    }

    /// Time that the trace leaves out before the next call.
    pub fn gap(&mut self, process: ProcessId, seconds: f32) {
        let process = &mut self.journal.processes[process as usize];
        process.gaps.push((process.entries.len() as u32, seconds));
    }

    /// A call on memory as the tools write it, `mmap(NULL, 4096, ...) = 0x1000`.
    pub fn memory(&mut self, process: ProcessId, line: &str) {
        let (text, result) = line.split_once(") = ").unwrap();
        let (name, arguments) = text.split_once('(').unwrap();
        self.call(process, 0.0, 0.0, &format!("{text})"));
        let class = names::class(names::index(name.as_bytes()));
        let result = details::number(result.as_bytes()).unwrap_or(NO_NUMBER);
        if let Some(mut call) = memory_call(class, name.as_bytes(), arguments.as_bytes(), result) {
            let process = &mut self.journal.processes[process as usize];
            call.entry = process.entries.len() as u32 - 1;
            process.memory.push(call);
        }
    }

    fn site(&mut self, text: &str) -> SiteId {
        let (name, arguments) = text.split_once('(').unwrap();
        let arguments = arguments.strip_suffix(')').unwrap();
        let call = self.name(name);
        let same = |site: &Site| site.call == call && site.arguments == arguments;
        let found = self.journal.sites.iter().position(same);
        found.unwrap_or_else(|| {
            self.journal.sites.push(Site {
                call,
                class: self.journal.calls[call as usize].class,
                arguments: arguments.to_owned(),
                target: String::new(),
            });
            self.journal.sites.len() - 1
        }) as SiteId
    }

    fn name(&mut self, name: &str) -> u16 {
        let found = self.journal.calls.iter().position(|call| call.name == name);
        found.unwrap_or_else(|| {
            self.journal.calls.push(CallName {
                name: name.to_owned(),
                class: names::class(names::index(name.as_bytes())),
            });
            self.journal.calls.len() - 1
        }) as u16
    }

    /// The listener of the casebook: one pass, its child, and the grandchild that repeats a call.
    pub fn listener() -> (Script, ProcessId) {
        let mut script = Script::new();
        let server = script.process(15697);
        let child = script.child(server, 8195);
        let grandchild = script.child(child, 8197);
        for (end_s, elapsed_s, text) in [
            (1.5426, 1.0901, "pollsys(0x1, 2)"),
            (1.5463, 0.0021, "accept(12)"),
            (1.5478, 0.0002, "pollsys(0x1, 3)"),
            (1.5498, 0.0002, "pipe()"),
            (1.5798, 0.0300, "fork1()"),
            (1.5853, 0.0055, "lwp_sigmask(SIG_SETMASK)"),
            (1.6395, 0.0542, "waitid(P_PID, 8195)"),
            (1.7063, 0.0666, "read(16)"),
            (1.7079, 0.0002, "write(15)"),
            (1.8377, 0.1298, "read(16)"),
            (1.8425, 0.0001, "write(3)"),
            (2.6446, 0.8021, "pollsys(0x1, 2)"),
        ] {
            script.call(server, end_s, elapsed_s, text);
            match text {
                "fork1()" => script.action(server, Action::Forked(child)),
                "waitid(P_PID, 8195)" => script.action(server, Action::Reaped(child)),
                "read(16)" => script.action(server, Action::Took(1)),
                _ => {}
            }
        }
        script.began(child, 1.5798);
        script.call(child, 1.6115, 0.0247, "fork1()");
        script.action(child, Action::Forked(grandchild));
        script.call(child, 1.6163, 0.0004, "_exit(0)");
        script.began(grandchild, 1.6115);
        script.call(grandchild, 1.6433, 0.0139, "execve(\"oracle\")");
        script.gap(grandchild, 0.0629);
        script.call(grandchild, 1.7062, 0.0, "write(17)");
        script.action(grandchild, Action::Gave(1));
        for repeat in 0..75 {
            script.call(
                grandchild,
                1.7164 + f64::from(repeat) * 0.0016,
                0.0016,
                "cladm(CL_CONFIG, 17)",
            );
        }
        script.call(grandchild, 1.8377, 0.0001, "write(17)");
        script.action(grandchild, Action::Gave(1));
        (script, server)
    }
}

fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}
