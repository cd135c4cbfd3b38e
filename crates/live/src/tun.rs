//! TUN devices: packets of a network namespace as bytes, starting with the IP header.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

use nix::libc;

/// The device file that creates TUN devices.
pub const CLONE: &str = "/dev/net/tun";

/// Maximum packet length of a device: its MTU.
pub const MTU: usize = 1500;

/// A TUN device of the namespace in which it was opened. It is removed when dropped.
#[derive(Debug)]
pub struct Tun {
    file: File,
}

impl Tun {
    /// Creates the device `name` in the calling thread's network namespace, down and without an address.
    ///
    /// # Errors
    /// If there is no `/dev/net/tun`, the caller may not create devices (CAP_NET_ADMIN), or the name is taken or
    /// invalid.
    pub fn create(name: &str) -> io::Result<Tun> {
        let file = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open(CLONE)?;
        attach(&file, name)?;
        Ok(Tun { file })
    }

    /// Reads the next packet sent by the namespace into `buffer`, for which [`MTU`] bytes suffice; `None` if there is
    /// none.
    ///
    /// # Errors
    /// Errors of the device: `EBADFD` when its namespace has ended.
    pub fn receive<'a>(&self, buffer: &'a mut [u8]) -> io::Result<Option<&'a [u8]>> {
        match (&self.file).read(buffer) {
            Ok(len) => Ok(buffer.get(..len)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Passes a packet to the namespace.
    ///
    /// # Errors
    /// Errors of the device: `EIO` while it is down, `EINVAL` if the bytes are not an IP packet.
    pub fn send(&self, packet: &[u8]) -> io::Result<()> {
        (&self.file).write_all(packet)
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Connects `file`, an open [`CLONE`], to the device `name`, without the four-byte packet header.
#[allow(unsafe_code)]
fn attach(file: &File, name: &str) -> io::Result<()> {
    let mut ifr_name = [0; libc::IFNAMSIZ];
    if name.is_empty() || name.len() >= ifr_name.len() || !name.is_ascii() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("`{name}` is not a valid device name")));
    }
    for (to, from) in ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    let flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
    let mut request = libc::ifreq { ifr_name, ifr_ifru: libc::__c_anonymous_ifr_ifru { ifru_flags: flags } };
    // SAFETY: TUNSETIFF reads a `struct ifreq` through its argument and writes the name back into it (tun.c,
    // __tun_chr_ioctl). `request` is one, lives through the call, and nothing keeps the pointer.
    let answer = unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF as _, &raw mut request) };
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
