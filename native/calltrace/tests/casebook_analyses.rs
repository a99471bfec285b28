//! Analyses the casebook's traces, which are kept apart from this repository: skipped when they are not there.

use calltrace::analyse::{Request, analyse};
use calltrace::document::Trace;

mod shared;

/// The document of a file of the casebook; null, with a message, when there is no casebook.
fn analysed(name: &str) -> Option<Trace> {
    let request = Request {
        paths: vec![shared::casebook(name)?],
        threads: 1,
        ..Request::default()
    };
    Some(analyse(&request, &mut |_| Ok(())).expect("a trace"))
}

#[test]
fn the_listener_waits_for_its_child_in_nine_tenths_of_a_pass() {
    let Some(document) = analysed("listener/before.truss") else {
        return;
    };
    let found = document.r#loop.expect("a loop");
    assert_eq!((found.pid, found.passes, found.complete_passes), (15697, 1, 1));
    assert!((found.seconds_per_pass - 0.30).abs() < 0.01);
    assert!((found.max_passes_per_second.expect("a rate") - 3.3).abs() < 0.2);
    let waits = &found.waits[..4];
    let calls: Vec<_> = waits.iter().map(|wait| (wait.call.as_str(), wait.nth)).collect();
    assert_eq!(calls, [("read", 2), ("read", 1), ("waitid", 1), ("fork1", 1)]);
    assert!(waits.iter().all(|wait| wait.on == Some("child")));
    let sum_s: f64 = waits.iter().map(|wait| wait.seconds).sum();
    assert!((sum_s - 0.2806).abs() < 0.0005);
    let path_s: f64 = found.path.iter().map(|part| part.seconds).sum();
    assert!((path_s - found.mean_s).abs() < 1e-6);
}

#[test]
fn the_listener_is_slow_because_its_grandchild_repeats_a_call() {
    let Some(document) = analysed("listener/before.truss") else {
        return;
    };
    let cladm = &document.repetitions[0];
    assert_eq!((cladm.call.as_str(), cladm.calls, cladm.pid), ("cladm", 75, 8197));
    assert!((cladm.seconds - 0.117).abs() < 0.001);
    assert!((cladm.cpu_s.expect("CPU") - 0.114).abs() < 0.001);
    assert!(cladm.on_critical_path && cladm.role.starts_with("grandchild"));
    assert!((cladm.share_of_pass.expect("a share") - 0.39).abs() < 0.01);
    let forks: Vec<_> = document.births.iter().map(|row| (row.parent, row.count)).collect();
    assert_eq!(forks, [(15697, 1), (8195, 1)]);
}

#[test]
fn the_excerpt_taken_afterwards_gives_its_pass_at_least() {
    let Some(document) = analysed("listener/after.truss") else {
        return;
    };
    let found = document.r#loop.expect("a loop");
    assert!(found.at_least && found.complete_passes == 0);
    assert!((found.seconds_per_pass - 0.2032).abs() < 0.0005);
    let second = found
        .steps
        .iter()
        .find(|step| step.arguments.starts_with("16,") && step.nth == 2);
    assert!((second.expect("the second read").seconds - 0.0050).abs() < 1e-6);
}

#[test]
fn memory_grows_in_chunks_with_or_without_a_page_size() {
    let (kib, mib) = (1024, 1024 * 1024);
    for (name, extent, chunk, requested) in [
        ("solaris-64k.truss", 2 * mib, 64 * kib, false),
        ("solaris-512k.truss", 4_718_592, 512 * kib, true),
        ("solaris-4m.truss", 20 * mib, 4 * mib, true),
        ("linux-64k.strace", mib, 64 * kib, false),
        ("linux-4m.strace", 16 * mib, 4 * mib, false),
        ("linux-8m.strace", 16 * mib, 8 * mib, false),
    ] {
        let Some(document) = analysed(&format!("pagesize/{name}")) else {
            return;
        };
        let [growth] = &document.memory[..] else {
            panic!("{name}: {:?}", document.memory);
        };
        assert_eq!(growth.extents[0].bytes, extent, "{name}");
        assert_eq!(growth.chunks[0].bytes, chunk, "{name}");
        assert_eq!(growth.page_size_requested, requested, "{name}");
    }
}
