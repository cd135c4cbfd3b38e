//! TUN devices: packets of a network namespace, as bytes from the IP header on.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

use nix::libc;

/// The device that makes TUN devices.
pub const CLONE: &str = "/dev/net/tun";

/// The longest packet of a device: its MTU.
pub const MTU: usize = 1500;

/// A TUN device of the namespace in which it was opened. It goes when it is dropped.
#[derive(Debug)]
pub struct Tun {
    file: File,
}

impl Tun {
    /// Makes the device `name` in the calling thread's network namespace. It is down, and has no address.
    ///
    /// # Errors
    /// If there is no `/dev/net/tun`, or the caller may not make devices there (CAP_NET_ADMIN), or the name is taken or
    /// none that a device can have.
    pub fn create(name: &str) -> io::Result<Tun> {
        let file = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open(CLONE)?;
        attach(&file, name)?;
        Ok(Tun { file })
    }

    /// Takes the next packet that the namespace sends into `buffer`, of which [`MTU`] bytes are enough; `None` if there
    /// is none now.
    ///
    /// # Errors
    /// As the device gives them: `EBADFD` when its namespace is gone.
    pub fn receive<'a>(&self, buffer: &'a mut [u8]) -> io::Result<Option<&'a [u8]>> {
        match (&self.file).read(buffer) {
            Ok(len) => Ok(buffer.get(..len)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Gives the namespace a packet.
    ///
    /// # Errors
    /// As the device gives them: `EIO` while it is down, `EINVAL` for what is no IP packet.
    pub fn send(&self, packet: &[u8]) -> io::Result<()> {
        (&self.file).write_all(packet)
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Makes `file`, an open [`CLONE`], the far end of the device `name`, without the header of four bytes.
#[allow(unsafe_code)]
fn attach(file: &File, name: &str) -> io::Result<()> {
    let mut ifr_name = [0; libc::IFNAMSIZ];
    if name.is_empty() || name.len() >= ifr_name.len() || !name.is_ascii() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("`{name}` is no name for a device")));
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
