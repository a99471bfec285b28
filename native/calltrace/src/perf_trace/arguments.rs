//! Arguments with names, of which perf leaves out those that are zero: `fd: 4</etc/hosts>, buf: 0x7ffd1d5f2268, count: 832`.

use memchr::{memchr, memmem};

use crate::details;
use crate::event::{Event, Kind, NO_NUMBER, Span};
use crate::names::{self, Class};

/// Fill in descriptor, target, size and position, and what else follows from name and arguments.
pub fn fill(event: &mut Event, chunk: &[u8]) {
    let class = names::class(event.call);
    if class.has_descriptor() && event.kind != Kind::Resumed {
        descriptor(event, class, chunk);
    }
    details::fill(event, chunk);
    let arguments = event.arguments.of(chunk);
    if class == Class::Poll {
        event.fd = named(arguments, b"epfd: ")
            .and_then(|fd| i32::try_from(fd).ok())
            .unwrap_or(-1);
    }
    if event.kind != Kind::Resumed && (class.moves_data() || class == Class::Seek) {
        let sizes: [&[u8]; 3] = [b"count: ", b"len: ", b"size: "];
        let size = sizes.iter().find_map(|name| named(arguments, name));
        event.size = size.filter(|_| class.moves_data()).unwrap_or(NO_NUMBER);
        event.offset = match event.name.of(chunk) {
            b"pread64" | b"pwrite64" => named(arguments, b"pos: ").unwrap_or(0),
            b"lseek" => named(arguments, b"offset: ").unwrap_or(0),
            _ => NO_NUMBER,
        };
    }
}

/// The first argument when it is called a descriptor; 0 when a call that must have one shows none.
fn descriptor(event: &mut Event, class: Class, chunk: &[u8]) {
    use Class::{Accept, Close, Connect, Read, ReadAt, Seek, Write, WriteAt};
    let arguments = event.arguments.of(chunk);
    let name = memchr(b':', arguments).map_or(&b""[..], |colon| &arguments[..colon]);
    if !name.ends_with(b"fd") && name != b"fildes" {
        if matches!(class, Read | Write | ReadAt | WriteAt | Seek | Close | Connect | Accept) {
            event.fd = 0;
        }
        return;
    }
    let value = name.len() + 2;
    let text = arguments.get(value..).unwrap_or_default();
    let len = number_length(text);
    let fd = details::number(&text[..len]).and_then(|fd| i32::try_from(fd).ok());
    event.fd = fd.unwrap_or(-1);
    if let Some(target) = text[len..].strip_prefix(b"<") {
        let end = memmem::find(target, b">, ").unwrap_or(target.len().saturating_sub(1));
        let start = event.arguments.start as usize + value + len + 1;
        event.target = Span::new(start, start + end);
    }
}

/// The number that a name is followed by.
fn named(arguments: &[u8], name: &[u8]) -> Option<i64> {
    let is_whole = |at: &usize| *at == 0 || arguments[*at - 1] == b' ';
    let at = memmem::find_iter(arguments, name).find(is_whole)? + name.len();
    let text = &arguments[at..];
    details::number(&text[..number_length(text)])
}

fn number_length(text: &[u8]) -> usize {
    let is_part = |byte: &&u8| byte.is_ascii_hexdigit() || matches!(byte, b'x' | b'-');
    text.iter().take_while(is_part).count()
}
