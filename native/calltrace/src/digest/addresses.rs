//! Names for what a descriptor is connected to, from the arguments of connect and accept, or truss' details.

use memchr::memmem::find;

/// `/path` of a local socket, `10.0.0.1:5432`, or null when the text names none. An ephemeral port is left out.
pub fn address(text: &[u8]) -> Option<String> {
    if let Some(path) = after(text, b"sun_path=").and_then(quoted) {
        return Some(path);
    }
    let host = after(text, b"inet_addr(")
        .or_else(|| after(text, b"inet_pton(AF_INET6, "))
        .and_then(quoted);
    let host = host.or_else(|| after(text, b" name = ").map(word))?;
    let port = after(text, b"htons(").or_else(|| after(text, b"port = ")).map(word);
    let port = port.and_then(|digits| digits.parse::<u16>().ok());
    Some(match port {
        Some(port) if port < EPHEMERAL => format!("{host}:{port}"),
        _ => host,
    })
}

/// Clients' own ports begin here on Linux and Solaris: naming them would make each connection another peer.
const EPHEMERAL: u16 = 32768;

fn after<'a>(text: &'a [u8], mark: &[u8]) -> Option<&'a [u8]> {
    find(text, mark).map(|at| &text[at + mark.len()..])
}

fn quoted(text: &[u8]) -> Option<String> {
    let rest = text.strip_prefix(b"@").unwrap_or(text).strip_prefix(b"\"")?;
    let end = rest.iter().position(|&byte| byte == b'"')?;
    Some(String::from_utf8_lossy(&rest[..end]).into_owned())
}

fn word(text: &[u8]) -> String {
    let ends = |byte: &u8| matches!(byte, b' ' | b')' | b',');
    let end = text.iter().position(ends).unwrap_or(text.len());
    String::from_utf8_lossy(&text[..end]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_both_tools_are_read() {
        let named = |text: &str| address(text.as_bytes());
        assert_eq!(
            named(r#"3, {sa_family=AF_UNIX, sun_path="/run/nscd"}, 110"#).as_deref(),
            Some("/run/nscd")
        );
        let inet = r#"5, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("10.0.0.2")}, 16"#;
        assert_eq!(named(inet).as_deref(), Some("10.0.0.2:53"));
        assert_eq!(
            named("AF_INET name = 10.44.29.32 port = 41612").as_deref(),
            Some("10.44.29.32")
        );
        assert_eq!(named("5, {sa_family=AF_UNIX}, [128 => 2]"), None);
    }
}
