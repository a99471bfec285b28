use super::*;
use crate::journal::Action;
use crate::passes::loops;
use crate::roles::roles;
use crate::script::Script;

fn followed(script: &Script) -> (Path, timeline::Timeline) {
    let roles = roles(&script.journal);
    let loops = loops(&script.journal, &roles).found;
    let path = path(&script.journal, &roles, &loops[0]);
    (path, timeline::timeline(&script.journal, &roles, &loops[0]).unwrap())
}

fn row<'a>(path: &'a Path, role: &str, call: &str) -> &'a PathPart {
    let found = path.rows.iter().find(|row| row.role == role && row.call == call);
    found.unwrap_or_else(|| panic!("{role} {call} in {:#?}", path.rows))
}

#[test]
fn a_read_from_a_pipe_is_followed_into_the_grandchild() {
    let (script, _) = Script::listener();
    let (path, _) = followed(&script);
    let total: f64 = path.rows.iter().map(|row| row.seconds).sum();
    assert!((total - 0.2999).abs() < 1e-6, "{total}");
    let cladm = &path.rows[0];
    assert_eq!(
        (cladm.role.as_str(), cladm.call.as_str(), cladm.count),
        ("grandchild", "cladm", 75.0)
    );
    assert!((cladm.seconds - 0.12).abs() < 0.001);
    assert_eq!(
        cladm.why.as_deref(),
        Some("while the server reads what the grandchild writes")
    );
    assert!((row(&path, "grandchild", NOT_IN_TRACE).seconds - 0.0629).abs() < 1e-6);
    assert!((row(&path, "15697", "fork1").seconds - 0.03).abs() < 1e-6);
    assert_eq!(
        row(&path, "15697", "fork1").why.as_deref(),
        Some("the cost of copying the process")
    );
    // The child is gone at once, but the system takes it apart until the wait returns.
    assert!((row(&path, "child", "_exit").seconds - 0.0236).abs() < 1e-6);
    assert_eq!(
        row(&path, "child", "_exit").why.as_deref(),
        Some("while the server waits for the child to end")
    );
}

#[test]
fn the_timeline_has_a_row_for_each_process_and_marks_the_path() {
    let (script, _) = Script::listener();
    let (_, timeline) = followed(&script);
    let roles: Vec<_> = timeline.rows.iter().map(|row| row.role.as_str()).collect();
    assert_eq!(roles, ["15697", "child", "grandchild"]);
    let reads = timeline.rows[0].bars.iter().filter(|bar| bar.call == "read");
    assert!(
        reads
            .clone()
            .any(|bar| !bar.on_path && (bar.seconds - 0.1298).abs() < 1e-6)
    );
    let on_path: f64 = timeline
        .rows
        .iter()
        .flat_map(|row| &row.bars)
        .filter(|bar| bar.on_path)
        .map(|bar| bar.seconds)
        .sum();
    assert!((on_path - timeline.seconds).abs() < 1e-6);
    assert_eq!(timeline.bars_left_out, 0);
}

#[test]
fn two_that_wait_for_each_other_are_not_followed_for_ever() {
    let mut script = Script::new();
    let server = script.process(1);
    let child = script.child(server, 2);
    for pass in 0..4 {
        let now_s = f64::from(pass) * 10.0;
        script.call(server, now_s + 5.0, 5.0, "poll(3)");
        script.call(server, now_s + 5.0, 0.0, "accept(3)");
        script.call(server, now_s + 9.0, 4.0, "read(4)");
        script.action(server, Action::Took(1));
        script.call(server, now_s + 9.5, 0.5, "write(5)");
        script.action(server, Action::Gave(2));
        script.call(child, now_s + 8.5, 3.5, "read(6)");
        script.action(child, Action::Took(2));
        script.call(child, now_s + 8.9, 0.2, "write(7)");
        script.action(child, Action::Gave(1));
    }
    let (path, _) = followed(&script);
    let total: f64 = path.rows.iter().map(|row| row.seconds).sum();
    assert!((total - 5.0).abs() < 1e-6, "{:#?}", path.rows);
    assert!((row(&path, "child", "read").seconds - 3.5).abs() < 1e-6);
    assert!((row(&path, "child", NO_CALL).seconds - 0.2).abs() < 1e-6);
}

#[test]
fn a_wait_that_nobody_explains_stays_with_the_waiter() {
    let mut script = Script::new();
    let server = script.process(1);
    let unseen = script.child(server, 2);
    for pass in 0..5 {
        let now_s = f64::from(pass);
        script.call(server, now_s + 0.5, 0.5, "epoll_wait(3)");
        script.call(server, now_s + 0.9, 0.4, "wait4(-1)");
        script.action(server, Action::Reaped(unseen));
    }
    let (path, _) = followed(&script);
    assert!((row(&path, "1", "wait4").seconds - 0.4).abs() < 1e-6);
}

#[test]
fn a_reused_pid_is_another_process() {
    let mut script = Script::new();
    let server = script.process(1);
    for pass in 0..5 {
        let now_s = f64::from(pass);
        let child = script.child(server, 7);
        script.began(child, now_s + 0.5);
        script.call(server, now_s + 0.5, 0.5, "epoll_wait(3)");
        script.call(server, now_s + 0.9, 0.4, "wait4(-1)");
        script.action(server, Action::Reaped(child));
        script.call(child, now_s + 0.8, 0.3, "stat(\"/x\")");
        script.call(child, now_s + 0.85, 0.0, "exit_group(0)");
    }
    let (path, timeline) = followed(&script);
    assert!((row(&path, "child", "stat").count - 1.0).abs() < 1e-9);
    assert!((row(&path, "child", "stat").seconds - 0.3).abs() < 1e-6);
    assert!((row(&path, "child", "exit_group").seconds - 0.05).abs() < 1e-6);
    assert_eq!(timeline.rows.len(), 2);
}
