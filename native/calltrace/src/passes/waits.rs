//! What a step of a pass waits on, as far as the call and its descriptor tell.

use crate::journal::{Action, Journal, Process, Site};
use crate::names::Class;

/// "child", "disk", "network", "lock", "sleep" or "name service"; null when the call does not wait, or on what is not
/// known. `example` is one of the step's entries.
pub fn waits_on(journal: &Journal, process: &Process, example: u32) -> Option<&'static str> {
    let site = &journal.sites[process.entries.get(example as usize)?.site() as usize];
    let took = |entry: u32| matches!(process.action(entry), Some(Action::Took(_)));
    match site.class {
        Class::Fork | Class::Wait => Some("child"),
        Class::Lock => Some("lock"),
        Class::Sleep => Some("sleep"),
        Class::Read | Class::Poll if took(example) => Some("child"),
        // A poll waits for what is read next.
        Class::Poll => {
            let next = process.entries.get(example as usize + 1)?;
            let reads = journal.sites[next.site() as usize].class == Class::Read;
            if reads {
                waits_on(journal, process, example + 1)
            } else {
                None
            }
        }
        Class::Sync | Class::ReadAt | Class::WriteAt => Some("disk"),
        Class::Read | Class::Write | Class::Connect => peer(site),
        Class::Accept => Some("network"),
        _ => None,
    }
}

fn peer(site: &Site) -> Option<&'static str> {
    let has = |part: &str| site.target.contains(part) || site.arguments.contains(part);
    let asks_names = has("nscd") || has("systemd/resolve") || has("htons(53)") || site.target.ends_with(":53");
    if asks_names {
        Some("name service")
    } else if site.target.starts_with('/') && site.class != Class::Connect {
        Some("disk")
    } else if site.class == Class::Connect || site.target.contains("accepted from") || is_address(&site.target) {
        Some("network")
    } else {
        None
    }
}

/// `10.0.0.1:5432`, or what strace -yy shows of a socket.
fn is_address(target: &str) -> bool {
    let sockets = ["TCP", "UDP", "UNIX", "socket:"];
    sockets.iter().any(|kind| target.starts_with(kind)) || target.parse::<std::net::SocketAddr>().is_ok()
}
