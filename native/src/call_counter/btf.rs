//! Where the kernel keeps what it keeps: offsets of members, from the types that it tells of itself.
//!
//! Source: Linux, Documentation/bpf/btf.rst.

use std::io;

const MAGIC: u16 = 0xeb9f;
const STRUCT: u32 = 4;

/// The offsets in bytes of members of a structure, by name.
///
/// # Errors
/// The bytes are no BTF, or have no such structure or member.
pub fn offsets<const COUNT: usize>(bytes: &[u8], structure: &str, members: [&str; COUNT]) -> io::Result<[u32; COUNT]> {
    let told = parse(bytes, structure, &members).ok_or_else(|| io::Error::other("its BTF cannot be read"))?;
    let mut found = [0; COUNT];
    for (place, (name, offset)) in found.iter_mut().zip(members.iter().zip(told)) {
        *place = offset.ok_or_else(|| io::Error::other(format!("its BTF has no {structure}.{name}")))?;
    }
    Ok(found)
}

fn parse(bytes: &[u8], structure: &str, members: &[&str]) -> Option<Vec<Option<u32>>> {
    if u16::from_ne_bytes(bytes.get(..2)?.try_into().ok()?) != MAGIC {
        return None;
    }
    let header = number(bytes, 4)? as usize;
    let section = |at: usize| -> Option<&[u8]> {
        let begin = header + number(bytes, at)? as usize;
        bytes.get(begin..begin.checked_add(number(bytes, at + 4)? as usize)?)
    };
    let (types, names) = (section(8)?, section(16)?);
    let mut at = 0;
    while at < types.len() {
        let (name, info) = (number(types, at)?, number(types, at + 4)?);
        let (kind, count) = (info >> 24 & 0x1f, (info & 0xffff) as usize);
        if kind == STRUCT && count > 0 && text(names, name) == structure.as_bytes() {
            let has_bit_fields = info >> 31 == 1;
            let mut found = vec![None; members.len()];
            for member in 0..count {
                let place = at + 12 + 12 * member;
                let (name, bits) = (text(names, number(types, place)?), number(types, place + 8)?);
                let bits = if has_bit_fields { bits & 0x00ff_ffff } else { bits };
                if let Some(wanted) = members.iter().position(|member| member.as_bytes() == name) {
                    found[wanted] = Some(bits / 8);
                }
            }
            return Some(found);
        }
        at += 12 + length_after(kind, count)?;
    }
    Some(vec![None; members.len()])
}

/// How many bytes follow a type's first twelve.
fn length_after(kind: u32, count: usize) -> Option<usize> {
    match kind {
        2 | 7..=12 | 16 | 18 => Some(0),
        1 | 14 | 17 => Some(4),
        3 => Some(12),
        STRUCT | 5 | 15 | 19 => Some(12 * count),
        6 | 13 => Some(8 * count),
        _ => None,
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn text(names: &[u8], at: u32) -> &[u8] {
    names
        .get(at as usize..)
        .and_then(|rest| rest.split(|byte| *byte == 0).next())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An integer, and a structure with two members, the second of them behind 64 bits.
    fn small() -> Vec<u8> {
        let names = b"\0int\0task_struct\0pid\0tgid\0";
        let types: [u32; 13] = [1, 1 << 24, 4, 32, 5, STRUCT << 24 | 2, 12, 17, 1, 0, 21, 1, 64];
        let mut bytes = vec![];
        bytes.extend(MAGIC.to_ne_bytes());
        bytes.extend([1, 0]);
        let length = 4 * types.len() as u32;
        for number in [24, 0, length, length, names.len() as u32].iter().chain(&types) {
            bytes.extend(number.to_ne_bytes());
        }
        bytes.extend(names);
        bytes
    }

    #[test]
    fn members_are_found_by_name() {
        assert_eq!(offsets(&small(), "task_struct", ["tgid", "pid"]).unwrap(), [8, 0]);
    }

    #[test]
    fn what_is_not_there_is_named() {
        let error = offsets(&small(), "task_struct", ["comm"]).unwrap_err();
        assert_eq!(error.to_string(), "its BTF has no task_struct.comm");
        assert!(offsets(&small(), "cred", ["uid"]).is_err());
    }

    #[test]
    fn bytes_of_anything_else_are_refused() {
        let whole = small();
        for length in 0..whole.len() {
            let _ = offsets(&whole[..length], "task_struct", ["pid"]); // cut anywhere: no panic
        }
        assert!(offsets(b"ELF", "task_struct", ["pid"]).is_err());
        assert!(offsets(&[], "task_struct", ["pid"]).is_err());
    }
}
