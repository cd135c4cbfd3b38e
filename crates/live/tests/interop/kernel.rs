//! The kernel's side of a conversation: an ordinary socket, which sends so many bytes and reads to the end.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddrV4, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use ecnlab_live::Role;

use crate::stretch::{Digest, Stretch};

/// Data received by the kernel's side.
pub type Sum = Result<Digest, String>;

/// A socket ready for its part, in the namespace of the calling thread.
pub enum Side {
    /// Waits for our client.
    Listening(TcpListener),
    /// Will ask our server.
    Asking(SocketAddrV4),
}

impl Side {
    /// The kernel's side of a conversation in which we are `ours`. A listener must be there before our SYN.
    pub fn new(ours: Role, kernel: SocketAddrV4, own: SocketAddrV4) -> std::io::Result<Side> {
        Ok(match ours {
            Role::Client => Side::Listening(TcpListener::bind(kernel)?),
            Role::Server => Side::Asking(own),
        })
    }

    /// Sends `source`, and reads until we have closed. Waits for our SYN unless `given_up`.
    pub fn talk(self, source: Stretch, given_up: &AtomicBool) -> Sum {
        let fail = |what: &'static str| move |error: std::io::Error| format!("the kernel's {what}: {error}");
        let stream = match self {
            Side::Listening(listener) => accept(&listener, given_up).map_err(fail("accept"))?,
            Side::Asking(own) => TcpStream::connect(own).map_err(fail("connect"))?,
        };
        thread::scope(|scope| {
            let writer = scope.spawn(|| send(&stream, source));
            let received = read(&stream).map_err(fail("read"));
            writer.join().map_err(|_| "the writer panicked".to_owned())?.map_err(fail("write"))?;
            received
        })
    }
}

fn accept(listener: &TcpListener, given_up: &AtomicBool) -> std::io::Result<TcpStream> {
    listener.set_nonblocking(true)?;
    loop {
        match listener.accept() {
            Err(error) if error.kind() == ErrorKind::WouldBlock && !given_up.load(Ordering::Acquire) => {
                thread::sleep(Duration::from_millis(1));
            }
            accepted => {
                let stream = accepted?.0;
                stream.set_nonblocking(false)?;
                return Ok(stream);
            }
        }
    }
}

fn send(mut stream: &TcpStream, mut source: Stretch) -> std::io::Result<()> {
    let mut chunk = vec![0; 1 << 18];
    loop {
        let len = source.read(&mut chunk)?;
        if len == 0 {
            return stream.shutdown(Shutdown::Write);
        }
        stream.write_all(&chunk[..len])?;
    }
}

fn read(mut stream: &TcpStream) -> std::io::Result<Digest> {
    let mut received = Digest::default();
    let mut chunk = vec![0; 1 << 18];
    loop {
        let len = stream.read(&mut chunk)?;
        if len == 0 {
            return Ok(received);
        }
        received.write_all(&chunk[..len])?;
    }
}
