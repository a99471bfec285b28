//! Whose a process is beside its user's: the systemd unit, container or control group that it runs in, from /proc/PID/cgroup.

/// What runtimes put before a container's number in the name of its group (Docker, Podman, containerd, CRI-O).
const RUNTIMES: [&str; 4] = ["docker-", "libpod-", "cri-containerd-", "crio-"];
/// Digits of a container's number, and how many of them its runtime shows.
const DIGITS: usize = 64;
const SHOWN: usize = 12;

/// The innermost container or systemd unit of a process, else the path of its group; nothing where that is the root.
pub fn unit(cgroup: &str) -> Option<String> {
    let path = path(cgroup)?;
    let parts = || path.rsplit('/');
    let container = parts().find_map(container).map(|number| format!("container {number}"));
    let unit = || parts().find(|part| part.ends_with(".service") || part.ends_with(".scope"));
    Some(
        container
            .or_else(|| unit().map(str::to_string))
            .unwrap_or_else(|| path.to_string()),
    )
}

/// The group by which systemd and runtimes tell processes apart: of version 2, else systemd's own hierarchy, else the first other
/// than the root.
fn path(cgroup: &str) -> Option<&str> {
    let groups = || {
        cgroup.lines().filter_map(|line| {
            let (_, group) = line.split_once(':')?;
            group.split_once(':')
        })
    };
    let of = |wanted: &str| groups().find(|(controllers, path)| *controllers == wanted && *path != "/");
    let found = of("").or_else(|| of("name=systemd"));
    found
        .or_else(|| groups().find(|(_, path)| *path != "/"))
        .map(|(_, path)| path)
}

/// The number of a container, as its runtime shows it.
fn container(part: &str) -> Option<&str> {
    let name = part.strip_suffix(".scope").unwrap_or(part);
    let number = RUNTIMES
        .iter()
        .find_map(|runtime| name.strip_prefix(runtime))
        .unwrap_or(name);
    let is_number = number.len() == DIGITS && number.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_number.then(|| &number[..SHOWN])
}

#[cfg(test)]
mod tests {
    use super::*;

    const NUMBER: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    #[test]
    fn units_and_containers_are_told_by_their_innermost_group() {
        for (cgroup, expected) in [
            (
                "0::/system.slice/system-postgresql.slice/postgresql@15-main.service\n",
                "postgresql@15-main.service",
            ),
            ("0::/user.slice/user-1000.slice/session-3.scope", "session-3.scope"),
            ("0::/user.slice/user@1000.service/app.slice/x.service/sub", "x.service"),
            (
                "12:cpu:/x\n1:name=systemd:/system.slice/mariadb.service\n0::/",
                "mariadb.service",
            ),
            ("9:memory:/process_api/7\n1:name=systemd:/\n0::/\n", "/process_api/7"),
        ] {
            assert_eq!(unit(cgroup).as_deref(), Some(expected), "{cgroup}");
        }
        for path in [
            format!("/system.slice/docker-{NUMBER}.scope"),
            format!("/docker/{NUMBER}/init"),
            format!("/kubepods.slice/kubepods-pod7.slice/cri-containerd-{NUMBER}.scope"),
            format!("/machine.slice/libpod-{NUMBER}.scope/container"),
        ] {
            assert_eq!(
                unit(&format!("0::{path}")).as_deref(),
                Some("container 0123456789ab"),
                "{path}"
            );
        }
    }

    #[test]
    fn the_root_and_a_broken_line_are_nobodys() {
        assert_eq!(unit("1:name=systemd:/\n0::/\n"), None);
        assert_eq!(unit("0:\nx\n"), None);
        assert_eq!(unit(""), None);
    }
}
