//! A look at one database server: its pages, its descriptors, the way to its disks, and its largest data files.

use std::io;
use std::path::Path;

use super::data_files::{self, DataFiles};
use super::descriptors::{Descriptors, Open};
use super::places::Places;
use super::servers::Server;
use super::told::{Told, has_ended};
use super::{device_path, mappings, placement};
use crate::host::setting::is_real;

/// The server's folder, and its data files; none where these lie on another host.
pub fn look_at(server: &Server, sys: &Path, page_bytes: u64, told: &mut Told) -> io::Result<(String, DataFiles)> {
    add_mappings(server, page_bytes, told)?;
    add_placement(server, sys, page_bytes, told)?;
    let places = Places::of(server)?;
    let folder = places.data.name.to_string_lossy().into_owned();
    add_descriptors(server, &folder, told)?;
    add_paths(&places, sys, told);
    if places.is_remote(&places.data.name) {
        told.events.not_measured(
            &format!("data files in {folder}"),
            "a network's server that does not answer would stop the collector",
            "look at the page cache of that server",
        );
        return Ok((folder, DataFiles::default()));
    }
    let files = data_files::find(&places);
    if files.all_bytes.is_none() {
        told.events.not_measured(
            &format!("all data files in {folder}"),
            "there are more than are looked at",
            "the figures are those of the files that were found first",
        );
    }
    Ok((folder, files))
}

/// Of the first process and of the largest of the others: the rest have the same shared memory.
fn add_mappings(server: &Server, page_bytes: u64, told: &mut Told) -> io::Result<()> {
    for process in std::iter::once(&server.process).chain(server.members.first()) {
        let pid = process.file_name().unwrap_or_default().to_string_lossy();
        let sums = match mappings::read(process, page_bytes) {
            Err(error) if has_ended(&error) => continue,
            found => found?,
        };
        let kinds = mappings::KINDS.iter().zip(sums);
        for (kind, mapped) in kinds.filter(|(_, mapped)| mapped.size_bytes > 0) {
            let entity = format!("{pid} {kind}");
            for (name, bytes) in [
                ("smaps.size_bytes", mapped.size_bytes),
                ("smaps.resident_bytes", mapped.resident_bytes),
                ("smaps.huge_bytes", mapped.huge_bytes),
            ] {
                told.gauge(&*entity, name, "bytes", bytes as f64);
            }
        }
    }
    Ok(())
}

/// Of the same processes: on which nodes their pages lie, and by which policy; nothing where there is one node.
fn add_placement(server: &Server, sys: &Path, page_bytes: u64, told: &mut Told) -> io::Result<()> {
    let Some(nodes) = placement::Nodes::of(sys) else {
        return Ok(());
    };
    for process in std::iter::once(&server.process).chain(server.members.first()) {
        let found = match placement::read(process, &nodes, page_bytes) {
            Err(error) if has_ended(&error) => continue, // or a kernel without NUMA
            found => found?,
        };
        let pid = process.file_name().unwrap_or_default().to_string_lossy();
        let Some(found) = found else {
            told.events.not_measured(
                "on which nodes the memory of large database processes lies",
                "to look takes the kernel tens of milliseconds, in which the process can map nothing",
                "numastat -p PID, at a quiet time",
            );
            continue;
        };
        add_nodes(&pid, &found, told);
        let name = placement::name(process);
        for (what, policy) in [
            ("numa_policy", &found.policy),
            ("numa_policy_shared", &found.shared_policy),
        ] {
            if let Some(policy) = policy {
                told.of_process(&format!("{pid} {name}.{what}"), policy);
            }
        }
    }
    Ok(())
}

fn add_nodes(pid: &str, found: &placement::Placement, told: &mut Told) {
    for ((kind, node), bytes) in &found.bytes {
        let entity = format!("{pid} {} node {node}", mappings::KINDS[*kind]);
        told.gauge(&*entity, "numa_maps.bytes", "bytes", *bytes as f64);
    }
    for (number, kind) in mappings::KINDS.iter().enumerate() {
        if let Some((local, remote)) = found.local_and_remote(number) {
            let entity = format!("{pid} {kind}");
            told.gauge(&*entity, "numa_maps.local_bytes", "bytes", local as f64);
            told.gauge(&*entity, "numa_maps.remote_bytes", "bytes", remote as f64);
        }
    }
}

fn add_descriptors(server: &Server, folder: &str, told: &mut Told) -> io::Result<()> {
    let mut found = Descriptors::default();
    for process in std::iter::once(&server.process).chain(&server.members) {
        match found.add(process) {
            Err(error) if has_ended(&error) => {}
            added => added?,
        }
    }
    add_open(&format!("{folder} data"), found.data, told);
    add_open(&format!("{folder} log"), found.log, told);
    told.gauge(folder, "open_files.io_uring", "rings", found.rings as f64);
    Ok(())
}

fn add_open(entity: &str, open: Open, told: &mut Told) {
    if open.files == 0 {
        return;
    }
    for (name, count) in [
        ("open_files.writable", open.files),
        ("open_files.direct", open.direct),
        ("open_files.synchronous", open.synchronous),
    ] {
        told.gauge(entity, name, "files", count as f64);
    }
}

/// File system, mount and devices of each folder; and the limits of devices with nothing behind them: those of the others are told
/// with the host's settings.
fn add_paths(places: &Places, sys: &Path, told: &mut Told) {
    for place in std::iter::once(&places.data).chain(&places.linked) {
        let Some(mount) = places.mount(&place.name) else {
            continue;
        };
        let devices = device_path::devices(mount, places.mounts(), sys);
        for device in &devices {
            let folder = sys.join("class/block").join(device.replace('/', "!"));
            if is_stacked(&folder) {
                told.device(device, &folder);
            }
        }
        let name = place.name.display();
        told.setting(&format!("path.{name}.filesystem"), &mount.kind);
        told.setting(&format!("path.{name}.mount"), &mount.point.to_string_lossy());
        told.setting(&format!("path.{name}.devices"), &devices.join(" "));
    }
}

/// dm, md and loop; a partition has no limits of its own.
fn is_stacked(device: &Path) -> bool {
    !is_real(device) && !device.join("partition").exists()
}
