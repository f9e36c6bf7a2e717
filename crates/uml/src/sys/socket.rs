//! Stream sockets that pass file descriptors with messages, and waiting for them.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};

use super::{SysError, check};

/// Most files that a message carries.
const FILES: usize = 4;

/// One end of a connected socket.
#[derive(Debug)]
pub struct Socket(File);

/// Result of waiting for several files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ready {
    /// Index of the first file with data to read or at its end.
    At(usize),
    /// Timeout.
    Nothing,
}

/// Opens /dev/null.
pub fn nothing() -> Result<OwnedFd, SysError> {
    let file = File::options().read(true).write(true).open("/dev/null");
    file.map(OwnedFd::from).map_err(|e| SysError::io("/dev/null", &e))
}

/// Waits until one of the files can be read, for at most `most_ms` ms.
pub fn ready(files: &[RawFd], most_ms: i32) -> Result<Ready, SysError> {
    const MOST: usize = 8;
    let mut all = [libc::pollfd { fd: -1, events: libc::POLLIN, revents: 0 }; MOST];
    let count = files.len().min(MOST);
    all.iter_mut().zip(files).for_each(|(one, &fd)| one.fd = fd);
    loop {
        // SAFETY: an array of so many.
        let got = unsafe { libc::poll(all.as_mut_ptr(), count as libc::nfds_t, most_ms) };
        if got < 0 && std::io::Error::last_os_error().kind() == ErrorKind::Interrupted {
            continue;
        }
        check(got.into(), "poll")?;
        let found = all[..count].iter().position(|one| one.revents != 0);
        return Ok(found.map_or(Ready::Nothing, Ready::At));
    }
}

impl From<OwnedFd> for Socket {
    fn from(fd: OwnedFd) -> Self {
        Self(File::from(fd))
    }
}

impl AsRawFd for Socket {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

impl Socket {
    /// The file descriptor of the socket.
    #[cfg(test)]
    pub fn into_fd(self) -> OwnedFd {
        self.0.into()
    }

    /// Fills `bytes`, and collects the file descriptors that were passed with them. False at the end of the
    /// connection.
    pub fn receive(&self, bytes: &mut [u8], files: &mut Vec<OwnedFd>) -> Result<bool, SysError> {
        // linux: include/linux/socket.h CMSG_SPACE (6.12) - a header of 16 bytes and the numbers, in words of
        // 8.
        let mut control = [0_u64; 2 + FILES / 2 + 1];
        let mut part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
        // SAFETY: all zero is an empty header.
        let mut header: libc::msghdr = unsafe { core::mem::zeroed() };
        header.msg_iov = &raw mut part;
        header.msg_iovlen = 1;
        header.msg_control = control.as_mut_ptr().cast();
        header.msg_controllen = size_of_val(&control);
        let got = loop {
            // SAFETY: the header points to memory that is there and as large as it says.
            let got = unsafe { libc::recvmsg(self.as_raw_fd(), &raw mut header, libc::MSG_CMSG_CLOEXEC) };
            if got >= 0 || std::io::Error::last_os_error().kind() != ErrorKind::Interrupted {
                break got;
            }
        };
        let got = match check(got as i64, "recvmsg") {
            Err(_) if std::io::Error::last_os_error().kind() == ErrorKind::ConnectionReset => 0,
            other => other? as usize,
        };
        // SAFETY: the kernel has written headers that these macros walk along; the numbers in them are files
        // that are now this process's.
        unsafe {
            let mut at = libc::CMSG_FIRSTHDR(&raw const header);
            while !at.is_null() {
                if (*at).cmsg_level == libc::SOL_SOCKET && (*at).cmsg_type == libc::SCM_RIGHTS {
                    let count = ((*at).cmsg_len - 16) / size_of::<RawFd>();
                    for n in 0..count {
                        let fd = libc::CMSG_DATA(at).cast::<RawFd>().add(n).read_unaligned();
                        files.push(OwnedFd::from_raw_fd(fd));
                    }
                }
                at = libc::CMSG_NXTHDR(&raw const header, at);
            }
        }
        if got == 0 && !bytes.is_empty() {
            return Ok(false);
        }
        match (&self.0).read_exact(&mut bytes[got..]) {
            Ok(()) => Ok(true),
            Err(e) if matches!(e.kind(), ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset) => Ok(false),
            Err(e) => Err(SysError::io("a message was cut short", &e)),
        }
    }

    /// Sends bytes. False if the other end has been closed.
    pub fn send(&self, bytes: &[u8]) -> Result<bool, SysError> {
        match (&self.0).write_all(bytes) {
            Ok(()) => Ok(true),
            Err(e) if matches!(e.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) => Ok(false),
            Err(e) => Err(SysError::io("a message could not be sent", &e)),
        }
    }

    /// Sends bytes together with file descriptors.
    pub fn send_with(&self, bytes: &[u8], files: &[&OwnedFd]) -> Result<bool, SysError> {
        let mut control = [0_u64; 2 + FILES / 2 + 1];
        let mut part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
        let files = &files[..files.len().min(FILES)];
        // SAFETY: the header points to memory that is there; the macros write within `control`, which has
        // room for FILES numbers.
        let sent = unsafe {
            let mut header: libc::msghdr = core::mem::zeroed();
            header.msg_iov = &raw mut part;
            header.msg_iovlen = 1;
            header.msg_control = control.as_mut_ptr().cast();
            let len = size_of::<RawFd>() * files.len();
            header.msg_controllen = libc::CMSG_SPACE(len as u32) as usize;
            let at = libc::CMSG_FIRSTHDR(&raw const header);
            (*at).cmsg_level = libc::SOL_SOCKET;
            (*at).cmsg_type = libc::SCM_RIGHTS;
            (*at).cmsg_len = libc::CMSG_LEN(len as u32) as usize;
            for (n, file) in files.iter().enumerate() {
                libc::CMSG_DATA(at).cast::<RawFd>().add(n).write_unaligned(file.as_fd().as_raw_fd());
            }
            libc::sendmsg(self.as_raw_fd(), &raw const header, libc::MSG_NOSIGNAL)
        };
        Ok(sent == bytes.len() as isize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    #[test]
    fn files_go_with_the_first_byte_of_a_message() {
        let (a, b) = UnixStream::pair().expect("a pair");
        let [a, b] = [a, b].map(|s| Socket::from(OwnedFd::from(s)));
        let mut given = super::super::memory_file("given", 8).map(File::from).expect("a file");
        given.write_all(b"within..").expect("room");
        let (given, null) = (OwnedFd::from(given), nothing().expect("a file"));
        assert_eq!(ready(&[b.as_raw_fd()], 0), Ok(Ready::Nothing));
        assert_eq!(a.send_with(b"header", &[&given, &null]), Ok(true));
        assert_eq!(a.send(b"payload"), Ok(true));
        assert_eq!(ready(&[b.as_raw_fd()], 0), Ok(Ready::At(0)));
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
