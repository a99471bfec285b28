//! Disks of IBM Z (DASD) and what lets several requests to one of them go on at once: parallel access volumes. Each volume is a
//! base device, and aliases that belong to a logical control unit serve all of its volumes (HyperPAV) or one of them (PAV).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Volumes and aliases of a logical control unit.
#[derive(Debug, Default, PartialEq)]
pub struct ControlUnit {
    pub volumes: u64,
    pub aliases: u64,
}

/// The control units with devices that are online, by their name: vendor, serial number and subsystem.
pub fn control_units(sys: &Path) -> BTreeMap<String, ControlUnit> {
    let mut found = BTreeMap::<String, ControlUnit>::new();
    let devices = fs::read_dir(sys.join("bus/ccw/drivers/dasd-eckd"))
        .into_iter()
        .flatten();
    for device in devices.flatten().map(|entry| entry.path()) {
        let read = |file: &str| fs::read_to_string(device.join(file)).unwrap_or_default();
        // VENDOR.SERIAL.SSID.UNIT-ADDRESS, and more for devices of z/VM.
        let uid = read("uid");
        let parts: Vec<&str> = uid.trim().split('.').collect();
        let ([vendor, serial, subsystem, ..], "1") = (parts.as_slice(), read("online").trim()) else {
            continue;
        };
        let unit = found.entry(format!("{vendor}.{serial}.{subsystem}")).or_default();
        match read("alias").trim() {
            "1" => unit.aliases += 1,
            _ => unit.volumes += 1,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn volumes_and_aliases_are_counted_by_control_unit() {
        let sys = tempfile::tempdir().unwrap();
        let driver = sys.path().join("bus/ccw/drivers/dasd-eckd");
        for (bus_id, uid, alias, online) in [
            ("0.0.7e00", "IBM.750000000BH411.d300.00", "0", "1"),
            ("0.0.7e01", "IBM.750000000BH411.d300.01", "0", "1"),
            ("0.0.7ef0", "IBM.750000000BH411.d300.xx", "1", "1"),
            ("0.0.7f00", "IBM.750000000BH411.d400.00", "0", "1"),
            ("0.0.7f01", "IBM.750000000BH411.d400.01", "0", "0"),
        ] {
            let device = driver.join(bus_id);
            fs::create_dir_all(&device).unwrap();
            for (file, text) in [("uid", uid), ("alias", alias), ("online", online)] {
                fs::write(device.join(file), format!("{text}\n")).unwrap();
            }
        }
        fs::create_dir_all(driver.join("module")).unwrap();
        let units = control_units(sys.path());
        let of = |name: &str| (units[name].volumes, units[name].aliases);
        assert_eq!(units.len(), 2);
        assert_eq!(
            (of("IBM.750000000BH411.d300"), of("IBM.750000000BH411.d400")),
            ((2, 1), (1, 0))
        );
        assert!(control_units(&sys.path().join("none")).is_empty());
    }
}
