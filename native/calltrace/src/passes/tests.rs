use super::*;
use crate::journal::Action;
use crate::roles::roles;
use crate::script::Script;

fn found(script: &Script) -> Vec<Loop> {
    loops(&script.journal, &roles(&script.journal)).found
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-6
}

#[test]
fn the_listener_waits_on_its_child() {
    let (script, server) = Script::listener();
    let loops = found(&script);
    assert_eq!(loops.len(), 1);
    let listener = &loops[0];
    assert_eq!(
        (listener.process, listener.passes, listener.complete_passes),
        (server, 1, 1)
    );
    assert_eq!(listener.anchor.arguments, "0x1, 2");
    assert!(near(listener.seconds_per_pass, 0.2999), "{}", listener.seconds_per_pass);
    assert!(near(listener.max_passes_per_second.unwrap(), 1.0 / 0.2999));
    assert!(near(listener.idle_s.unwrap(), 1.8922) && near(listener.idle_share.unwrap(), 1.8922 / 2.1921));
    assert!(!listener.at_least);
    let first: Vec<_> = listener.waits.iter().take(4).collect();
    let names: Vec<_> = first.iter().map(|row| (row.call.as_str(), row.nth, row.on)).collect();
    let child = Some("child");
    assert_eq!(
        names,
        [
            ("read", 2, child),
            ("read", 1, child),
            ("waitid", 1, child),
            ("fork1", 1, child)
        ]
    );
    assert!(near(first.iter().map(|row| row.seconds).sum(), 0.2806));
    assert_eq!(listener.own_cpu_s, None);
}

/// A server whose passes are short four times out of five.
fn two_modes() -> Script {
    let mut script = Script::new();
    let server = script.process(1);
    let mut now_s = 0.0;
    for pass in 0..50 {
        let busy_s = if pass % 5 == 0 { 0.120 } else { 0.003 };
        now_s += 0.1;
        script.call(server, now_s, 0.1, "epoll_wait(4)");
        script.call(server, now_s + 0.001, 0.001, "accept4(5)");
        script.call(server, now_s + 0.001 + busy_s, busy_s, "clone(CLONE_CHILD_SETTID)");
        now_s += 0.001 + busy_s;
        if pass % 2 == 0 {
            script.failed(server, now_s + 0.1, 0.1, "epoll_wait(4)"); // a signal
            script.call(server, now_s + 0.11, 0.01, "wait4(-1)");
            now_s += 0.11;
        }
    }
    script.call(server, now_s + 0.1, 0.1, "epoll_wait(4)");
    script
}

#[test]
fn two_modes_show_in_the_distribution_and_signals_are_no_passes() {
    let loops = found(&two_modes());
    let server = &loops[0];
    assert_eq!((server.passes, server.complete_passes, server.wakeups), (50, 50, 25));
    assert!(near(server.p50_s, 0.004) && near(server.p95_s, 0.121), "{server:?}");
    assert!(near(server.mean_s, 0.8 * 0.004 + 0.2 * 0.121));
    let modes: Vec<_> = server.distribution.iter().filter(|bucket| bucket.passes > 0).collect();
    assert_eq!(modes.iter().map(|bucket| bucket.passes).collect::<Vec<_>>(), [40, 10]);
    assert!(near(modes[0].le_s, 0.005) && near(modes[1].le_s, 0.2));
    assert_eq!(server.waits[0].on, Some("child"));
    assert!(near(server.outside_calls_s.unwrap(), 0.0));
}

#[test]
fn a_process_that_never_comes_back_has_no_loop() {
    let mut script = Script::new();
    let process = script.process(1);
    for at in 0..1000 {
        script.call(process, f64::from(at), 0.5, &format!("stat(\"/{at}\")"));
    }
    script.call(process, 1001.0, 0.5, "poll(3)");
    assert!(found(&script).is_empty());
    assert!(found(&Script::new()).is_empty());
}

#[test]
fn what_a_process_does_for_a_moment_is_not_its_loop() {
    let with_one_socket_each = |sockets: u32| {
        let mut script = Script::new();
        let client = script.process(1);
        let mut now_s = 0.0;
        for socket in 0..sockets {
            for _ in 0..5 {
                now_s += 0.02;
                script.call(client, now_s, 0.015, &format!("ppoll([{{fd=3<socket:[{socket}]>}}])"));
                script.call(client, now_s + 0.001, 0.001, "sendto(3)");
                now_s += 0.001;
            }
        }
        found(&script).len()
    };
    assert_eq!((with_one_socket_each(1), with_one_socket_each(40)), (1, 0));
}

#[test]
fn a_blocking_accept_is_the_idle_wait_though_a_poll_stands_in_the_pass() {
    let mut script = Script::new();
    let server = script.process(1);
    for pass in 0..5 {
        let now_s = f64::from(pass);
        script.call(server, now_s + 0.5, 0.5, "accept(3)");
        script.call(server, now_s + 0.6, 0.1, "poll([{fd=4}])");
        script.call(server, now_s + 0.7, 0.1, "read(4)");
        script.call(server, now_s + 0.8, 0.1, "write(4)");
        script.call(server, now_s + 0.9, 0.05, "close(4)");
    }
    script.call(server, 5.5, 0.5, "accept(3)");
    let loops = found(&script);
    assert_eq!((loops[0].anchor.call.as_str(), loops[0].complete_passes), ("accept", 5));
    assert!(near(loops[0].seconds_per_pass, 0.5));
    assert!(
        near(loops[0].outside_calls_s.unwrap(), 0.15),
        "{:?}",
        loops[0].outside_calls_s
    );
}

#[test]
fn an_excerpt_without_a_whole_pass_gives_what_it_shows_at_least() {
    let mut script = Script::new();
    let server = script.process(1);
    script.call(server, 1.6867, 0.0020, "accept(12)");
    script.cpu(server, 0.0020);
    script.call(server, 1.7276, 0.0358, "fork1()");
    script.gap(server, 0.1);
    script.call(server, 1.8879, 0.0001, "write(3)");
    let loops = found(&script);
    assert!(loops[0].at_least && loops[0].idle_s.is_none());
    assert_eq!((loops[0].passes, loops[0].complete_passes), (1, 0));
    assert!(near(loops[0].seconds_per_pass, 0.0429), "{}", loops[0].seconds_per_pass);
}

#[test]
fn the_start_of_a_server_is_no_pass_and_pipes_of_children_are_no_idleness() {
    let mut script = Script::new();
    let server = script.process(1);
    script.call(server, 90.0, 50.0, "read(/etc/config)");
    for pass in 0..6 {
        let now_s = 100.0 + f64::from(pass);
        script.call(server, now_s + 0.5, 0.5, "accept(3)");
        script.call(server, now_s + 0.7, 0.2, "read(4)");
    }
    let loops = found(&script);
    assert_eq!((loops[0].passes, loops[0].complete_passes), (6, 5));
    assert!(near(loops[0].seconds_per_pass, 0.5));

    let mut script = Script::new();
    let shell = script.process(1);
    for pass in 0..6 {
        let child = script.child(shell, 2 + pass);
        let now_s = f64::from(pass);
        script.call(shell, now_s + 0.1, 0.1, "clone()");
        script.action(shell, Action::Forked(child));
        script.call(shell, now_s + 0.8, 0.7, "read(5)");
        script.call(shell, now_s + 0.9, 0.1, "wait4(-1)");
    }
    for site in &mut script.journal.sites {
        site.target = "a pipe".to_owned();
    }
    assert_eq!(found(&script)[0].anchor.call, "wait4");
}

#[test]
fn a_server_of_one_loop_counts_all_that_it_does() {
    let mut script = Script::new();
    let server = script.process(1);
    let mut now_s = 0.0;
    for request in 0..100 {
        now_s += 0.01;
        script.call(server, now_s, 0.01, "epoll_wait(4)");
        if request % 10 == 0 {
            script.call(server, now_s + 0.0001, 0.0001, "accept4(5)");
            now_s += 0.0001;
        } else {
            script.call(server, now_s + 0.002, 0.002, "recvfrom(6)");
            now_s += 0.002;
        }
    }
    script.call(server, now_s + 0.01, 0.01, "epoll_wait(4)");
    assert_eq!(found(&script)[0].complete_passes, 100);
}

#[test]
fn times_that_go_backwards_and_absurd_ones_do_no_harm() {
    let mut script = Script::new();
    let server = script.process(1);
    for end_s in [5.0, 1.0, 3.0, 1e10, 2.0, 0.5, 7.0] {
        script.call(server, end_s, 0.5, "epoll_wait(4)");
        script.call(server, end_s / 2.0, 1e9, "accept4(5)");
        script.call(server, end_s, f64::NAN, "write(3)");
    }
    let loops = found(&script);
    assert!(
        loops
            .iter()
            .all(|found| found.mean_s.is_finite() && found.idle_s.unwrap().is_finite())
    );
}
