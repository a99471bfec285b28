//! A row of the table: who a process is, and what it did over an interval.

use super::closer_look::Found;
use super::microstates::{Microstates, Usage};
use super::process::Process;
use crate::host::interval::Interval;
use crate::sheet::{Sheet, columns};

columns!(ProcessColumns {
    pid,
    ppid,
    started,
    command,
    user,
    unit,
    usr_pct,
    sys_pct,
    run_wait_pct,
    io_wait_pct,
    memory_wait_pct,
    sleep_pct,
    vcsw_per_s,
    icsw_per_s,
    migrations_per_s,
    minor_faults_per_s,
    major_faults_per_s,
    rss_bytes,
    anon_bytes,
    swap_bytes,
    read_bytes_per_s,
    write_bytes_per_s,
    syscalls_per_s,
    threads,
});

pub fn add_row(
    sheet: &mut Sheet<ProcessColumns>,
    interval: &Interval,
    (process, started_us): (&Process, i64),
    (before, now): (&Usage, &Usage),
    states: &Microstates,
    found: &Found,
) {
    let (columns, identity) = (sheet.columns, &process.identity);
    sheet.begin(interval.ts_us, interval.rounded_s());
    sheet.i64(columns.pid, i64::from(process.pid));
    sheet.count(columns.ppid, Some(identity.ppid));
    sheet.i64(columns.started, started_us);
    sheet.str(columns.command, &*identity.command);
    sheet.str(columns.user, identity.user.as_deref());
    sheet.str(columns.unit, identity.unit.as_deref());
    sheet.count(columns.rss_bytes, Some(process.rss_bytes));
    sheet.count(columns.anon_bytes, process.anon_bytes);
    sheet.count(columns.swap_bytes, process.swap_bytes);
    sheet.count(columns.threads, Some(process.threads));
    for (column, value) in [
        (columns.usr_pct, states.user),
        (columns.sys_pct, states.system),
        (columns.run_wait_pct, states.run_wait),
        (columns.io_wait_pct, states.io_wait),
        (columns.memory_wait_pct, states.memory_wait),
        (columns.sleep_pct, states.sleep),
        (columns.vcsw_per_s, interval.increase(before.vcsw, now.vcsw)),
        (columns.icsw_per_s, interval.increase(before.icsw, now.icsw)),
        (columns.migrations_per_s, interval.increase(Some(0), found.moves)),
        (columns.syscalls_per_s, interval.increase(Some(0), found.calls)),
        (
            columns.minor_faults_per_s,
            interval.increase(Some(before.minor_faults), Some(now.minor_faults)),
        ),
        (
            columns.major_faults_per_s,
            interval.increase(Some(before.major_faults), Some(now.major_faults)),
        ),
        (
            columns.read_bytes_per_s,
            interval.increase(before.read_bytes, now.read_bytes),
        ),
        (
            columns.write_bytes_per_s,
            interval.increase(before.write_bytes, now.write_bytes),
        ),
    ] {
        sheet.f64(column, value);
    }
    sheet.end();
}
