use super::*;
use crate::passes::loops;
use crate::path::path;
use crate::roles::roles;
use crate::script::Script;

fn found(script: &Script) -> Vec<Repetition> {
    let roles = roles(&script.journal);
    let loops = loops(&script.journal, &roles);
    let path = loops.found.first().map(|found| path(&script.journal, &roles, found));
    repetitions(&script.journal, &roles, &loops, path.as_ref())
}

#[test]
fn the_repeated_call_of_the_grandchild_is_on_the_path_of_the_server() {
    let (script, _) = Script::listener();
    let rows = found(&script);
    let cladm = &rows[0];
    assert_eq!(
        (cladm.call.as_str(), cladm.pid, cladm.role.as_str()),
        ("cladm", 8197, "grandchild")
    );
    assert_eq!(
        (cladm.calls, cladm.same_arguments, cladm.sequence.is_none()),
        (75, 75, true)
    );
    assert!((cladm.seconds - 0.12).abs() < 1e-6);
    assert!(cladm.on_critical_path);
    assert_eq!(cladm.calls_per_pass, Some(75.0));
    assert!((cladm.share_of_pass.unwrap() - 0.12 / 0.2999).abs() < 0.01);
    assert_eq!(rows.len(), 1);
}

#[test]
fn what_a_loop_does_once_a_pass_is_no_repetition() {
    let mut script = Script::new();
    let server = script.process(1);
    for pass in 0..100 {
        let now_s = f64::from(pass);
        script.call(server, now_s + 0.5, 0.5, "epoll_wait(3)");
        script.call(server, now_s + 0.51, 0.01, "accept4(4)");
        script.call(server, now_s + 0.52, 0.01, "setsockopt(5, SOL_TCP, TCP_NODELAY)");
        script.call(server, now_s + 0.53, 0.01, "clone(SIGCHLD)");
        script.call(server, now_s + 0.54, 0.01, "close(5)");
    }
    assert!(found(&script).is_empty());
}

#[test]
fn a_sequence_is_one_row_and_its_members_are_none() {
    let mut script = Script::new();
    let process = script.process(1);
    for round in 0..20 {
        let now_s = f64::from(round);
        script.call(process, now_s + 0.1, 0.1, "openat(\"/etc/hosts\")");
        script.call(process, now_s + 0.3, 0.2, "pread64(3)");
        script.call(process, now_s + 0.4, 0.1, "close(3)");
    }
    let rows = found(&script);
    let [row] = &rows[..] else { panic!("{rows:?}") };
    let names: Vec<_> = row.sequence.iter().flatten().map(String::as_str).collect();
    assert_eq!(names, ["openat", "pread64", "close"]);
    assert_eq!((row.calls, row.same_arguments), (60, 60));
    assert!((row.seconds - 8.0).abs() < 1e-5 && !row.on_critical_path);
}

#[test]
fn children_of_one_role_are_merged_and_the_largest_is_named() {
    let mut script = Script::new();
    let server = script.process(1);
    for pid in 2..12 {
        let child = script.child(server, pid);
        for at in 0..20 {
            script.failed(child, f64::from(at), f64::from(pid) / 1000.0, "access(\"/etc/none\")");
            script.call(child, f64::from(at), 0.001, &format!("stat(\"/{at}\")"));
        }
    }
    let rows = found(&script);
    let [row] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!(
        (row.call.as_str(), row.pid, row.calls, row.errors),
        ("access", 11, 200, 200)
    );
    assert_eq!(row.cpu_s, None);
}

#[test]
fn different_arguments_and_waits_and_moved_data_are_no_repetition() {
    let mut script = Script::new();
    let process = script.process(1);
    for at in 0..100 {
        for text in ["read(3)", "write(4)", "futex(0x1)", "nanosleep(1)"] {
            script.call(process, f64::from(at), 0.1, text);
        }
        script.call(process, f64::from(at), 0.1, &format!("stat(\"/{at}\")"));
    }
    assert!(found(&script).is_empty());
}
