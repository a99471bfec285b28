//! What the digest makes of short logs, each as a tool would have written it.

use std::io;

use calltrace::detect::{Detected, detect};
use calltrace::digest::{Digest, MOST_DETAIL};
use calltrace::event::Reason;
use calltrace::growth::growth;
use calltrace::journal::{Action, Birth, End};
use calltrace::pipeline::{Source, run};
use calltrace::roles::roles;

struct Text(Option<Vec<u8>>);

impl Source for Text {
    fn next_chunk(&mut self, chunk: &mut Vec<u8>) -> io::Result<bool> {
        *chunk = self.0.take().unwrap_or_default();
        Ok(!chunk.is_empty())
    }
}

fn digest_of(text: &str) -> Digest {
    let Detected::Trace(layout) = detect(text.as_bytes()) else {
        panic!("not seen as a trace: {text}");
    };
    let mut digest = Digest::new(layout, MOST_DETAIL);
    run(&mut Text(Some(text.into())), layout, &mut digest, 2).unwrap();
    digest.finish();
    digest
}

fn seconds_of(digest: &Digest, call: &str) -> f64 {
    let at = digest
        .journal
        .calls
        .iter()
        .position(|known| known.name == call)
        .unwrap();
    digest.profile.calls[at].seconds
}

fn close_to(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-6, "{found} is not {expected}");
}

const PIPE: &str = r#"
100 1700000000.000000 pipe2([3, 4], O_CLOEXEC) = 0 <0.000010>
100 1700000000.000100 clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD <unfinished ...>
101 1700000000.000300 getpid()                = 101 <0.000005>
100 1700000000.000400 <... clone resumed>, child_tidptr=0x7f00) = 101 <0.000300>
100 1700000000.000500 read(3,  <unfinished ...>
101 1700000000.000600 stat("/etc/hosts", {st_mode=S_IFREG|0644, st_size=100, ...}) = 0 <0.000050>
101 1700000000.001000 write(4, "done", 4)     = 4 <0.000020>
100 1700000000.001100 <... read resumed>"done", 100) = 4 <0.000600>
101 1700000000.001200 exit_group(7)           = ?
101 1700000000.001300 +++ exited with 7 +++
100 1700000000.001400 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=101, si_uid=0, si_status=7, si_utime=0, si_stime=0} ---
100 1700000000.001500 wait4(-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 7}], 0, NULL) = 101 <0.000030>
"#;

#[test]
fn a_child_is_known_by_its_parents_fork_and_pipes_are_followed_across_it() {
    let digest = digest_of(PIPE);
    let [parent, child] = &digest.journal.processes[..] else {
        panic!("{:?}", digest.journal.processes);
    };
    assert_eq!((child.pid, child.parent, child.birth), (101, Some(0), Birth::Forked));
    assert_eq!(child.end.as_ref().map(|(_, end)| end), Some(&End::Exited(7)));
    assert_eq!(parent.signals, 1);
    let meanings: Vec<Action> = parent.actions.iter().map(|&(_, action)| action).collect();
    let [Action::Forked(1), Action::Took(channel), Action::Reaped(1)] = meanings[..] else {
        panic!("{meanings:?}");
    };
    assert_eq!(child.actions, [(2, Action::Gave(channel))]);
    assert!(digest.skipped.is_empty(), "{:?}", digest.skipped);
}

#[test]
fn a_call_on_two_lines_lasts_from_its_start_to_its_return() {
    let digest = digest_of(PIPE);
    close_to(seconds_of(&digest, "read"), 0.0006);
    close_to(seconds_of(&digest, "clone"), 0.0003);
    let read = digest.journal.processes[0].entries[2];
    assert_eq!((read.start_ns, read.end_ns()), (500_000, 1_100_000));
}

#[test]
fn time_outside_calls_is_counted_and_not_dropped() {
    let digest = digest_of(
        "1700000000.000000 getpid() = 5 <0.000010>\n1700000000.500000 getpid() = 5 <0.000010>\n1700000000.500010 getppid() = 1 <0.000005>\n",
    );
    close_to(digest.profile.processes[0].outside_calls_s, 0.499_99);
}

#[test]
fn without_durations_a_call_lasts_until_the_next_one() {
    let digest = digest_of(
        "     0.000000 epoll_wait(4, [{events=EPOLLIN}], 1, -1) = 1\n     0.000218 recvfrom(6, \"Q\", 8192, 0, NULL, NULL) = 64\n     0.000359 lseek(11, 0, SEEK_END)    = 414023680\n",
    );
    close_to(seconds_of(&digest, "epoll_wait"), 0.000_218);
    close_to(seconds_of(&digest, "recvfrom"), 0.000_359);
    assert!(digest.journal.processes[0].entries[2].elapsed_s.is_nan());
    assert_eq!((digest.elapsed.until_next_call, digest.elapsed.measured), (2, 0));
}

#[test]
fn a_call_that_never_returns_lasts_until_the_end_and_is_said() {
    let digest = digest_of(
        "7 1700000000.000000 futex(0x7f00, FUTEX_WAIT, 0, NULL <unfinished ...>\n8 1700000000.100000 getpid() = 8 <0.000010>\n8 1700000003.000000 getpid() = 8 <0.000010>\n",
    );
    close_to(seconds_of(&digest, "futex"), 3.0);
    assert_eq!(digest.skipped[&Reason::NoEnd].lines, 1);
}

#[test]
fn a_return_without_its_start_counts_by_its_own_duration_or_is_named() {
    let digest = digest_of(
        "7 1700000000.000000 <... read resumed>\"x\", 5) = 5 <0.250000>\n7 1700000000.100000 getpid() = 7 <0.000010>\n",
    );
    close_to(seconds_of(&digest, "read"), 0.25);
    let digest = digest_of("7 1700000000.000000 <... read resumed>\"x\", 5) = 5\n7 1700000000.100000 getpid() = 7\n");
    assert_eq!(digest.skipped[&Reason::NoStart].lines, 1);
}

#[test]
fn a_reused_pid_is_another_process() {
    let digest = digest_of(
        "7 1700000000.000000 getpid() = 7 <0.000010>\n7 1700000000.100000 +++ killed by SIGKILL +++\n7 1700000001.000000 getpid() = 7 <0.000010>\n",
    );
    let ends: Vec<bool> = digest
        .journal
        .processes
        .iter()
        .map(|process| process.end.is_some())
        .collect();
    assert_eq!(ends, [true, false]);
    assert_eq!(
        digest.journal.processes[0].end,
        Some((100_000_000, End::Killed("SIGKILL".to_owned())))
    );
}

#[test]
fn stamps_that_go_backwards_are_counted_and_do_no_harm() {
    let at = |stamp: &str| format!("170000000{stamp} getpid() = 5 <0.000010>\n");
    let digest = digest_of(
        &["1.500000", "1.900000", "1.700000", "0.000000", "1.950000"]
            .map(at)
            .concat(),
    );
    assert_eq!(digest.backwards, 2);
    assert_eq!(digest.profile.calls[0].count, 5);
}

#[test]
fn reads_by_seek_are_told_from_sequential_ones() {
    let seek = "1700000000.000000 lseek(3, 81920, SEEK_SET) = 81920 <0.000001>\n1700000000.000010 read(3, \"\"..., 512) = 512 <0.000001>\n";
    let digest = digest_of(&format!(
        "1700000000.000000 openat(AT_FDCWD, \"/data/t\", O_RDONLY) = 3 <0.000010>\n{}",
        seek.repeat(5)
    ));
    let target = digest
        .profile
        .targets
        .iter()
        .find(|target| target.target == "/data/t")
        .unwrap();
    assert_eq!(
        (target.reads, target.read_bytes, target.seeks, target.seeks_then_read),
        (5, 2560, 5, 5)
    );
    assert_eq!((target.sequential_reads, target.random_reads), (0, 4));
}

#[test]
fn detail_beyond_the_limit_is_summed_and_said() {
    let line = "1700000000.000000 getpid() = 5 <0.000010>\n";
    let Detected::Trace(layout) = detect(line.as_bytes()) else {
        panic!()
    };
    let mut digest = Digest::new(layout, 10);
    run(&mut Text(Some(line.repeat(25).into())), layout, &mut digest, 1).unwrap();
    digest.finish();
    assert_eq!(
        (
            digest.journal.processes[0].entries.len(),
            digest.journal.calls_without_detail
        ),
        (10, 15)
    );
    assert_eq!(digest.profile.calls[0].count, 25);
}

#[test]
fn a_call_that_truss_found_asleep_is_one_call() {
    let digest = digest_of(
        "7:\t 1.0000\t 0.1000\tclose(4)\t= 0\n\
         7:\t 2.0000\t 1.0000\tpollsys(0x1, 2, 0x0, 0x0) (sleeping...)\n\
         7:\t 3.5000\t 1.5000\tpollsys(0x1, 2, 0x0, 0x0) = 1\n\
         7:\t 3.6000\t 0.1000\tclose(5)\t= 0\n\
         7:\t 4.6000\t 1.0000\tpause() (sleeping...)\n",
    );
    close_to(seconds_of(&digest, "pollsys"), 2.5);
    assert_eq!(digest.journal.processes[0].entries.len(), 3);
    assert!(digest.journal.processes[0].gaps.is_empty());
    assert_eq!(digest.skipped[&Reason::NoEnd].lines, 1);
}

#[test]
fn a_trace_of_perf_begins_with_its_first_stamp() {
    let digest = digest_of(
        "         ? (         ): a/7  ... [continued]: clone())      = \n\
         17647988.978 ( 0.014 ms): a/7 close(fd: 3)                   = 0\n\
         17647989.978 (         ): a/7 read(buf: 0x7f, count: 9)      ...\n\
         17647989.978 ( 2.000 ms): a/7  ... [continued]: read())      = 9\n",
    );
    assert_eq!(digest.span_ns, Some((17_647_988_978_000, 17_647_989_978_000)));
    assert_eq!(digest.skipped[&Reason::NoStart].lines, 1);
    close_to(seconds_of(&digest, "read"), 0.002);
}

#[test]
fn a_new_program_begins_with_a_heap_of_its_own() {
    let digest = digest_of(
        "1700000000.000000 brk(NULL) = 0x1000 <0.000001>
1700000000.000100 execve(\"/bin/true\", [\"true\"], 0x7ffe /* 3 vars */) = 0 <0.000200>
1700000000.000400 brk(NULL) = 0x7f0000000000 <0.000001>
1700000000.000500 brk(0x7f0000021000) = 0x7f0000021000 <0.000001>
",
    );
    let rows = growth(&digest.journal, &roles(&digest.journal));
    assert_eq!(rows.iter().map(|row| row.mapped_bytes).collect::<Vec<_>>(), [0x21000]);
}

/// strace -f without -o: names come and go with the second process, and messages break into lines.
const TERMINAL: &str = r#"
1700000000.000000 getpid() = 100 <0.000010>
1700000000.000100 clone(child_stack=NULL, flags=SIGCHLDstrace: Process 101 attached
 <unfinished ...>
[pid   101] 1700000000.000300 getpid() = 101 <0.000005>
[pid   100] 1700000000.000400 <... clone resumed>, child_tidptr=0x7f00) = 101 <0.000300>
[pid   100] 1700000000.000500 clone(child_stack=NULL, flags=SIGCHLDstrace: Process 102 attached
, child_tidptr=0x7f00) = 102 <0.000200>
[pid   101] 1700000000.000900 +++ exited with 0 +++
[pid   100] 1700000000.001000 +++ exited with 0 +++
1700000000.001100 getpid() = 102 <0.000005>
1700000000.001200 +++ exited with 3 +++
"#;

#[test]
fn lines_without_a_pid_find_their_process() {
    let digest = digest_of(TERMINAL);
    let processes = &digest.journal.processes;
    let pids: Vec<u32> = processes.iter().map(|process| process.pid).collect();
    assert_eq!(pids, [100, 101, 102]);
    assert_eq!([processes[1].parent, processes[2].parent], [Some(0), Some(0)]);
    assert_eq!(processes[0].entries.len(), 3);
    assert!(digest.skipped.is_empty(), "{:?}", digest.skipped);
    let ends: Vec<_> = processes
        .iter()
        .map(|process| process.end.clone().map(|(_, end)| end))
        .collect();
    assert_eq!(ends, [Some(End::Exited(0)), Some(End::Exited(0)), Some(End::Exited(3))]);
}
