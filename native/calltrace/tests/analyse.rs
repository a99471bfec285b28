//! Whole analyses of files: several of one trace, compressed ones, and what is no trace.

use std::io::Write;
use std::path::PathBuf;

use calltrace::analyse::{Problem, Request, analyse};
use calltrace::document::Trace;
use tempfile::TempDir;

fn written(folder: &TempDir, name: &str, content: &[u8]) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    path
}

fn analysed(paths: &[PathBuf]) -> Result<Trace, Problem> {
    let request = Request {
        paths: paths.to_vec(),
        threads: 2,
        ..Request::default()
    };
    analyse(&request, &mut |_| Ok(()))
}

fn refusal(content: &[u8]) -> (String, String) {
    let folder = TempDir::new().unwrap();
    match analysed(&[written(&folder, "log", content)]) {
        Err(Problem::Refused { message, hint }) => (message, hint),
        other => panic!("{other:?}"),
    }
}

const PARENT: &str = "1700000000.100000 clone(child_stack=NULL, flags=SIGCHLD) = 12 <0.000300>
1700000000.100400 wait4(-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 12 <0.200000>
";
const CHILD: &str = "1700000000.100350 getpid() = 12 <0.000010>
1700000000.300000 exit_group(0) = ?
1700000000.300100 +++ exited with 0 +++
";

#[test]
fn files_of_one_trace_are_put_in_order_and_joined_by_their_names() {
    let folder = TempDir::new().unwrap();
    let paths = [
        written(&folder, "log.13", b""),
        written(&folder, "log.12", CHILD.as_bytes()),
        written(&folder, "log.11", PARENT.as_bytes()),
    ];
    let document = analysed(&paths).unwrap();
    let pids: Vec<(u32, Option<u32>)> = document.processes.iter().map(|row| (row.pid, row.parent)).collect();
    assert_eq!(pids, [(11, None), (12, Some(11))]);
    assert_eq!(document.trace.began.as_deref(), Some("2023-11-14T22:13:20.100000Z"));
    assert_eq!(document.processes[1].end.as_deref(), Some("exited with 0"));
}

#[test]
fn compressed_logs_read_as_plain_ones_and_a_torn_one_as_far_as_it_goes() {
    let folder = TempDir::new().unwrap();
    let text = PARENT.repeat(5000);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    let packed = gzip.finish().unwrap();
    let whole = analysed(&[written(&folder, "log.gz", &packed)]).unwrap();
    assert_eq!((whole.trace.calls, whole.trace.damage.len()), (10_000, 0));
    let torn = analysed(&[written(&folder, "torn.gz", &packed[..packed.len() / 2])]).unwrap();
    assert!(
        torn.trace.calls > 1000 && torn.trace.calls < 10_000,
        "{}",
        torn.trace.calls
    );
    assert!(torn.trace.damage[0].contains("gzip"), "{:?}", torn.trace.damage);
}

#[test]
fn what_is_no_trace_is_refused_in_words() {
    assert!(refusal(b"").0.ends_with("is empty"));
    assert!(refusal(b"\n  \n").0.ends_with("is empty"));
    assert!(refusal(b"\x7fELF\0\0\0\x01\x02").0.contains("binary"));
    let (message, hint) = refusal(b"Jan  1 00:00:00 host sshd[1]: Accepted password for root\n");
    assert!(
        message.contains("no call trace") && hint.contains("strace"),
        "{message} {hint}"
    );
    assert!(
        refusal(b"select 1;\ninsert into t values (1);\n")
            .0
            .contains("no call trace")
    );
    let missing = analysed(&[PathBuf::from("/no/such/file")]);
    assert!(matches!(missing, Err(Problem::Io(_, error)) if error.kind() == std::io::ErrorKind::NotFound));
}

#[test]
fn a_hundred_megabytes_on_one_line_are_one_line_too_long() {
    let folder = TempDir::new().unwrap();
    let mut log = PARENT.as_bytes().to_vec();
    log.extend_from_slice(b"1700000000.500000 write(1, \"");
    log.resize(log.len() + 100_000_000, b'x');
    log.extend_from_slice(b"\", 5) = 5 <0.000001>\n1700000001.000000 getpid() = 11 <0.000001>\n");
    let document = analysed(&[written(&folder, "log", &log)]).unwrap();
    assert_eq!((document.trace.lines, document.trace.calls), (4, 3));
    assert_eq!(
        (document.trace.skipped[0].lines, document.trace.skipped[0].first_line),
        (1, Some(3))
    );
    assert!(
        document.trace.skipped[0].why.starts_with("longer than"),
        "{:?}",
        document.trace.skipped
    );
}

#[test]
fn a_line_cut_off_at_the_end_is_counted_and_shows_no_contents() {
    let folder = TempDir::new().unwrap();
    let log = format!("{PARENT}1700000000.600000 write(3, \"PASSWORD 'secret'");
    let document = analysed(&[written(&folder, "log", log.as_bytes())]).unwrap();
    let skipped = &document.trace.skipped[0];
    assert_eq!(
        (skipped.why, skipped.lines, skipped.first_line),
        ("cut off", 1, Some(3))
    );
    assert!(!skipped.example.contains("secret"), "{}", skipped.example);
}
