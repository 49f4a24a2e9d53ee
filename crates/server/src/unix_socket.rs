//! A Unix socket that only the user of the process can connect to.

use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use socket2::{Domain, SockAddr, Socket, Type};

/// Maximum number of connections that wait to be accepted, as in the standard library.
const BACKLOG: i32 = 128;

/// A listening Unix socket with the mode 0600. Its file is removed when the value is dropped.
#[derive(Debug)]
pub struct UnixSocket {
    listener: UnixListener,
    path: PathBuf,
}

impl UnixSocket {
    /// Listens at a path. Replaces a socket that a killed process left, because nobody listens at it.
    ///
    /// # Errors
    /// The path exists and is no socket, a process listens at it, or the system reports an error.
    pub fn bind(path: &Path) -> io::Result<Self> {
        let listener = match listen(path) {
            Err(error) if error.kind() == ErrorKind::AddrInUse => {
                remove_stale(path)?;
                listen(path)?
            }
            listener => listener?,
        };
        Ok(Self {
            listener,
            path: path.to_owned(),
        })
    }

    /// Returns the socket.
    pub fn listener(&self) -> &UnixListener {
        &self.listener
    }

    /// Returns the path that was bound.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for UnixSocket {
    fn drop(&mut self) {
        // While this process still listens: another one that finds no listener may put its socket here. The next process
        // replaces a file that cannot be removed now.
        let _ = fs::remove_file(&self.path);
    }
}

fn listen(path: &Path) -> io::Result<UnixListener> {
    let socket = File::from(OwnedFd::from(Socket::new(
        Domain::UNIX,
        Type::STREAM,
        None,
    )?));
    let private = Permissions::from_mode(0o600);
    // Linux gives the file that `bind` makes the mode of the socket, so that no other user can connect first. Other systems
    // refuse the call.
    let _ = socket.set_permissions(private.clone());
    let socket = Socket::from(OwnedFd::from(socket));
    socket.bind(&SockAddr::unix(path)?)?;
    let started = fs::set_permissions(path, private).and_then(|()| socket.listen(BACKLOG));
    if let Err(error) = started {
        let _ = fs::remove_file(path);
        return Err(error);
    }
    Ok(OwnedFd::from(socket).into())
}

/// Removes a socket at which nobody listens.
fn remove_stale(path: &Path) -> io::Result<()> {
    let in_the_way = |reason| io::Error::new(ErrorKind::AddrInUse, reason);
    if !fs::symlink_metadata(path)?.file_type().is_socket() {
        return Err(in_the_way("exists, and is no socket"));
    }
    match UnixStream::connect(path) {
        Ok(_) => Err(in_the_way("another process listens at this socket")),
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => fs::remove_file(path),
        Err(error) => Err(error),
    }
}
