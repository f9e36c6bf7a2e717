//! Stream sockets that pass file descriptors with messages, and waiting on them.

use std::fs::File;
use std::io::{ErrorKind, IoSlice, IoSliceMut, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use nix::cmsg_space;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{ControlMessage, ControlMessageOwned, MsgFlags, recvmsg, sendmsg};

use super::SysError;

/// Maximum file descriptors per message.
const FILES: usize = 4;

/// One end of a connected socket.
#[derive(Debug)]
pub struct Socket(File);

/// Result of waiting for several files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ready {
    /// Index of the first file that has data or is at its end.
    At(usize),
    /// Timeout.
    Nothing,
}

/// Opens `/dev/null`.
pub fn nothing() -> Result<OwnedFd, SysError> {
    let file = File::options().read(true).write(true).open("/dev/null");
    file.map(OwnedFd::from).map_err(|e| SysError::io("/dev/null", &e))
}

/// Waits until one of the files can be read, for at most `most_ms` ms.
pub fn ready<'a>(files: impl IntoIterator<Item = BorrowedFd<'a>>, most_ms: i32) -> Result<Ready, SysError> {
    let mut all: Vec<PollFd<'_>> =
        files.into_iter().map(|file| PollFd::new(file, PollFlags::POLLIN)).collect();
    let timeout = PollTimeout::try_from(most_ms).unwrap_or(PollTimeout::MAX);
    loop {
        match poll(&mut all, timeout) {
            Err(Errno::EINTR) => {}
            Err(errno) => return Err(SysError::call("poll")(errno)),
            Ok(_) => {
                let found = all.iter().position(|one| one.any() != Some(false));
                return Ok(found.map_or(Ready::Nothing, Ready::At));
            }
        }
    }
}

impl From<OwnedFd> for Socket {
    fn from(fd: OwnedFd) -> Self {
        Self(File::from(fd))
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Socket {
    /// The file descriptor of the socket.
    #[cfg(test)]
    pub fn into_fd(self) -> OwnedFd {
        self.0.into()
    }

    /// Fills `bytes`, and collects the file descriptors passed with them. Returns false at the end of the
    /// connection.
    pub fn receive(&self, bytes: &mut [u8], files: &mut Vec<OwnedFd>) -> Result<bool, SysError> {
        let mut control = cmsg_space!([RawFd; FILES]);
        let got = loop {
            let mut parts = [IoSliceMut::new(bytes)];
            let flags = MsgFlags::MSG_CMSG_CLOEXEC;
            match recvmsg::<()>(self.0.as_raw_fd(), &mut parts, Some(&mut control), flags) {
                Err(Errno::EINTR) => {}
                Err(Errno::ECONNRESET) => break 0,
                Err(errno) => return Err(SysError::call("recvmsg")(errno)),
                Ok(message) => {
                    for passed in message.cmsgs().into_iter().flatten() {
                        let ControlMessageOwned::ScmRights(numbers) = passed else { continue };
                        // SAFETY: the kernel has opened these files for this process with this message, and
                        // nothing else has their numbers.
                        files.extend(numbers.into_iter().map(|fd| unsafe { OwnedFd::from_raw_fd(fd) }));
                    }
                    break message.bytes;
                }
            }
        };
        if got == 0 && !bytes.is_empty() {
            return Ok(false);
        }
        match (&self.0).read_exact(&mut bytes[got..]) {
            Ok(()) => Ok(true),
            Err(e) if matches!(e.kind(), ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset) => Ok(false),
            Err(e) => Err(SysError::io("a message was cut short", &e)),
        }
    }

    /// Sends bytes. Returns false if the other end is closed.
    pub fn send(&self, bytes: &[u8]) -> Result<bool, SysError> {
        match (&self.0).write_all(bytes) {
            Ok(()) => Ok(true),
            Err(e) if matches!(e.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) => Ok(false),
            Err(e) => Err(SysError::io("a message could not be sent", &e)),
        }
    }

    /// Sends bytes together with file descriptors.
    pub fn send_with(&self, bytes: &[u8], files: &[&OwnedFd]) -> Result<bool, SysError> {
        let numbers: Vec<RawFd> = files.iter().map(|file| file.as_raw_fd()).collect();
        let control = [ControlMessage::ScmRights(&numbers)];
        let parts = [IoSlice::new(bytes)];
        let sent = sendmsg::<()>(self.0.as_raw_fd(), &parts, &control, MsgFlags::MSG_NOSIGNAL, None);
        Ok(sent == Ok(bytes.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    #[test]
    fn the_last_of_many_files_is_noticed() {
        let (mut ends, [a, b]) = (Vec::new(), [(); 2].map(|()| UnixStream::pair().expect("a pair")));
        ends.extend((0..20).map(|_| &a.0));
        ends.push(&b.0);
        let all = || ends.iter().map(|end| end.as_fd());
        assert_eq!(ready(all(), 0), Ok(Ready::Nothing));
        (&b.1).write_all(b"x").expect("room");
        assert_eq!(ready(all(), 0), Ok(Ready::At(20)));
    }

    #[test]
    fn files_are_passed_with_the_first_byte_of_a_message() {
        let (a, b) = UnixStream::pair().expect("a pair");
        let [a, b] = [a, b].map(|s| Socket::from(OwnedFd::from(s)));
        let mut given = super::super::memory_file("given", 8).map(File::from).expect("a file");
        given.write_all(b"within..").expect("room");
        let (given, null) = (OwnedFd::from(given), nothing().expect("a file"));
        assert_eq!(ready([b.as_fd()], 0), Ok(Ready::Nothing));
        assert_eq!(a.send_with(b"header", &[&given, &null]), Ok(true));
        assert_eq!(a.send(b"payload"), Ok(true));
        assert_eq!(ready([b.as_fd()], 0), Ok(Ready::At(0)));
        let (mut bytes, mut files) = ([0; 13], Vec::new());
        assert_eq!(b.receive(&mut bytes, &mut files), Ok(true));
        assert_eq!((&bytes, files.len()), (b"headerpayload", 2));
        let map = super::super::Mapping::new(&files[0], 8).expect("the same file");
        let mut seen = [0; 8];
        assert!(map.read(0, &mut seen) && &seen == b"within..");
        drop(a);
        assert_eq!(b.receive(&mut bytes, &mut files), Ok(false));
    }
}
