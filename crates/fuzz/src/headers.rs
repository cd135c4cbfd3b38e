//! Headers and TCP options: what is read and can be written is read again as it was.

use std::net::{IpAddr, Ipv4Addr};

use ecnlab_wire::{
    Checksum, Extension, IcmpHeader, IpPacket, Ipv4Header, Ipv6Header, Quench, TcpHeader, TcpOptions, UdpHeader,
};

/// TCP options.
pub fn options(input: &[u8]) {
    let options = TcpOptions::parse(input);
    assert!(options.sack().len() <= 4);
    let mut written = Vec::new();
    options.emit(&mut written);
    assert_eq!(written.len() % 4, 0, "{options:?}");
    assert_eq!(TcpOptions::parse(&written), options);
}

/// Everything else that a packet begins with.
pub fn headers(input: &[u8]) {
    let _ = (IpPacket::parse(input), Ipv6Header::parse(input), Quench::parse(input));
    let _ = (IcmpHeader::parse(input), UdpHeader::parse(input));
    if let Some((kind, rest)) = input.split_first() {
        let _ = Extension::parse(*kind, rest);
    }
    if let Ok((header, _)) = Ipv4Header::parse(input) {
        ipv4(&header);
    }
    if let Ok((header, data)) = TcpHeader::parse(input) {
        tcp(&header, data);
    }
}

fn ipv4(header: &Ipv4Header<'_>) {
    let mut written = Vec::new();
    header.emit(&mut written);
    assert!(Ipv4Header::is_intact(&written));
    let (again, rest) = Ipv4Header::parse(&written).expect("what was written is read");
    assert!(rest.is_empty());
    assert_eq!(Ipv4Header { checksum: header.checksum, ..again }, *header);
}

fn tcp(header: &TcpHeader<'_>, data: &[u8]) {
    let ends = (IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2)));
    let mut written = Vec::new();
    let len = 20 + header.options.len() + data.len();
    let pseudo = Checksum::pseudo(ends.0, ends.1, 6, len as u32);
    header.emit(pseudo.bytes(data), &mut written);
    assert!(pseudo.bytes(&written).bytes(data).is_valid());
    let (again, rest) = TcpHeader::parse(&written).expect("what was written is read");
    assert!(rest.is_empty());
    assert_eq!(TcpHeader { checksum: header.checksum, ..again }, *header);
}
