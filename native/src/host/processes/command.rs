//! What a process is called: its name, and for PostgreSQL the role in its title. Never its arguments, which may hold secrets.

use pyo3::prelude::*;

/// Names under which the server's executable goes.
const POSTGRES: [&[u8]; 3] = [b"postgres", b"postmaster", b"edb-postgres"];
/// Roles that stand alone in the title.
const ROLES: [&str; 8] = [
    "checkpointer",
    "background writer",
    "walwriter",
    "walsummarizer",
    "autovacuum launcher",
    "logical replication launcher",
    "stats collector",
    "logger",
];
/// Roles that something follows: a number, a database, a position.
const LONGER_ROLES: [&str; 11] = [
    "autovacuum worker",
    "parallel worker",
    "logical replication parallel apply worker",
    "logical replication apply worker",
    "logical replication tablesync worker",
    "logical replication worker",
    "io worker",
    "slotsync worker",
    "walsender",
    "walreceiver",
    "startup",
];

/// Whether the title of a process with this name says more than the name.
pub fn has_title(comm: &[u8]) -> bool {
    POSTGRES.contains(&comm)
}

/// Whether the process belongs to a database server.
pub fn is_database(command: &str) -> bool {
    [
        "postgres",
        "postmaster",
        "edb-postgres",
        "mysqld",
        "mariadbd",
        "oracle",
        "ora_",
    ]
    .iter()
    .any(|name| command.starts_with(name))
}

/// Whether it is the process of a database server that the others come from: a client's own process comes and goes.
pub fn is_server(command: &str) -> bool {
    matches!(command, "postgres: postmaster" | "mysqld" | "mariadbd" | "tnslsnr")
}

/// The name of a process. A kernel worker's changes with each piece of work after a dash or plus, which is left out.
pub fn name(comm: &[u8]) -> String {
    let stable = match comm.starts_with(b"kworker/") {
        true => comm.split(|byte| b"-+".contains(byte)).next().unwrap_or(comm),
        false => comm,
    };
    String::from_utf8_lossy(stable).into_owned()
}

/// The name of a PostgreSQL process from its command line, which the server overwrites with a title.
///
/// `postgres: USER DATABASE HOST(PORT) STATE` becomes `postgres: client backend`; a command line that is no title is the
/// postmaster's, as the server's documentation of `ps` says (PostgreSQL manual, "Standard Unix Tools").
pub fn postgres(cmdline: &[u8]) -> String {
    let end = cmdline.iter().position(|&byte| byte == 0).unwrap_or(cmdline.len());
    let title = String::from_utf8_lossy(&cmdline[..end]);
    let role = match title.split_once(": ") {
        Some(("postgres" | "edb-postgres", rest)) => role(rest.trim_end()),
        _ => "postmaster",
    };
    format!("postgres: {role}")
}

/// The name of a process from its whole command line as ps, top or pidstat print it: its program, or its role.
#[pyfunction]
pub fn command_name(line: &str) -> String {
    let title = line.trim();
    if title.starts_with("postgres: ") || title.starts_with("edb-postgres: ") {
        return postgres(title.as_bytes());
    }
    let program = title.split_whitespace().next().unwrap_or_default();
    let plain = program.trim_start_matches('-').trim_end_matches(':');
    match plain.starts_with('/') {
        true => name(plain.rsplit('/').next().unwrap_or(plain).as_bytes()),
        false => name(plain.as_bytes()),
    }
}

/// The role that a title names, with or without a cluster's name and a colon before it.
fn role(rest: &str) -> &'static str {
    let after_cluster = rest.split_once(": ").map(|(_, rest)| rest);
    [Some(rest), after_cluster]
        .into_iter()
        .flatten()
        .find_map(known_role)
        .unwrap_or(if has_client(rest) {
            "client backend"
        } else {
            "background worker"
        })
}

fn known_role(rest: &str) -> Option<&'static str> {
    if rest == "archiver" || rest.starts_with("archiver last was") || rest.starts_with("archiver archiving") {
        return Some("archiver");
    }
    let alone = ROLES.iter().find(|role| **role == rest);
    let followed = || {
        LONGER_ROLES.iter().find(|role| {
            rest.strip_prefix(**role)
                .is_some_and(|more| more.is_empty() || more.starts_with(' '))
        })
    };
    alone.or_else(followed).copied()
}

/// Whether one of the words is a client's address: `[local]` or `HOST(PORT)`.
fn has_client(rest: &str) -> bool {
    rest.split(' ')
        .any(|word| word == "[local]" || (word.ends_with(')') && word.contains('(')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_keep_the_role_alone() {
        for (title, expected) in [
            ("postgres: checkpointer ", "postgres: checkpointer"),
            ("postgres: 15/main: walwriter ", "postgres: walwriter"),
            (
                "postgres: 15/main: autovacuum worker secret_db",
                "postgres: autovacuum worker",
            ),
            (
                "postgres: walsender repl 10.0.0.1(5433) streaming 0/3000060",
                "postgres: walsender",
            ),
            ("postgres: parallel worker for PID 77", "postgres: parallel worker"),
            ("postgres: io worker 2", "postgres: io worker"),
            (
                "postgres: archiver last was 000000010000000000000003",
                "postgres: archiver",
            ),
            (
                "postgres: alice shop 127.0.0.1(40812) SELECT",
                "postgres: client backend",
            ),
            ("postgres: 15/main: alice shop [local] idle", "postgres: client backend"),
            ("postgres: logger x [local] idle", "postgres: client backend"),
            ("postgres: pg_cron launcher ", "postgres: background worker"),
            (
                "/usr/lib/postgresql/15/bin/postgres\0-D\0/secret",
                "postgres: postmaster",
            ),
        ] {
            assert_eq!(postgres(title.as_bytes()), expected, "{title}");
        }
    }

    #[test]
    fn other_names_stay_as_they_are() {
        assert_eq!(name(b"tmux: server"), "tmux: server");
        assert_eq!(name(b"kworker/0:1-events_power"), "kworker/0:1");
        assert_eq!(name(&[b'a', 0xff]), "a\u{fffd}");
        assert!(is_database("mariadbd") && is_database("ora_pmon_X") && !is_database("pgbench"));
    }
}
