//! Minimal web servers and a minimal proxy.

use std::collections::HashMap;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tempfile::TempDir;

use super::peers::Process;

/// Starts a server that calls `connection` for each connection. The server ends with the test's
/// process.
pub(crate) fn serve(
    connection: impl Fn(TcpStream) -> io::Result<()> + Send + Sync + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let connection = Arc::new(connection);
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let connection = Arc::clone(&connection);
            // A client may close the connection at any time.
            std::thread::spawn(move || connection(stream));
        }
    });
    address
}

/// A web server for the files of a folder and ranges of them (RFC 9110).
pub(crate) struct WebServer {
    address: SocketAddr,
    /// Bytes sent for each path.
    sent: Arc<Mutex<HashMap<String, u64>>>,
}

impl WebServer {
    pub(crate) fn of(folder: &Path) -> Self {
        let sent = Arc::new(Mutex::new(HashMap::new()));
        let (folder, shared) = (folder.to_owned(), Arc::clone(&sent));
        let address = serve(move |stream| answer(stream, &folder, &shared));
        Self { address, sent }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    pub(crate) fn sent(&self, path: &str) -> u64 {
        self.sent.lock().unwrap().get(path).copied().unwrap_or(0)
    }
}

fn answer(
    mut stream: TcpStream,
    folder: &Path,
    sent: &Mutex<HashMap<String, u64>>,
) -> io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    loop {
        let mut request = String::new();
        if reader.read_line(&mut request)? == 0 {
            return Ok(());
        }
        let path = request.split(' ').nth(1).unwrap_or("/")[1..].to_owned();
        let mut range = None;
        loop {
            let mut header = String::new();
            if reader.read_line(&mut header)? <= 2 {
                break;
            }
            let header = header.trim_end().to_lowercase();
            if let Some(value) = header.strip_prefix("range: bytes=") {
                let (first, last) = value.split_once('-').unwrap();
                range = Some((first.parse::<usize>().unwrap(), last.parse::<usize>().ok()));
            }
        }
        if path == "moved" {
            let head =
                "HTTP/1.1 302 Found\r\nLocation: /file.bin.v1.torrent\r\nContent-Length: 0\r\n\r\n";
            stream.write_all(head.as_bytes())?;
            continue;
        }
        if path == "bomb" {
            // Sends compressed zeros, about a thousand per byte, for as long as the client reads.
            let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n";
            stream.write_all(head.as_bytes())?;
            let mut gzip = Command::new("gzip");
            gzip.stdin(std::fs::File::open("/dev/zero")?)
                .stdout(OwnedFd::from(stream))
                .stderr(Stdio::null());
            gzip.spawn()?.wait()?;
            return Ok(());
        }
        if path == "endless" {
            // Sends data for as long as the client reads.
            stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")?;
            loop {
                stream.write_all(&[b'x'; 4096])?;
            }
        }
        let Ok(bytes) = std::fs::read(folder.join(PathBuf::from(&path))) else {
            stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")?;
            continue;
        };
        let (first, last) = range.unwrap_or((0, None));
        let last = last.unwrap_or(bytes.len() - 1).min(bytes.len() - 1);
        let part = &bytes[first..=last];
        *sent.lock().unwrap().entry(path).or_default() += part.len() as u64;
        let head = match range {
            None => "200 OK\r\n".to_owned(),
            Some(_) => format!(
                "206 Partial Content\r\nContent-Range: bytes {first}-{last}/{}\r\n",
                bytes.len()
            ),
        };
        write!(
            stream,
            "HTTP/1.1 {head}Content-Length: {}\r\n\r\n",
            part.len()
        )?;
        stream.write_all(part)?;
    }
}

/// The answer of a hostile web seed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer {
    /// A chunk of this length (RFC 9112, section 7.1), and data.
    Chunk(&'static str),
    /// A header without an end.
    EndlessHead,
    /// The same, after a first answer with the right bytes of this content, once, that names the server.
    EndlessSecondHead(&'static [u8]),
}

/// Starts a web seed that sends such an answer for as long as the client reads. Returns its URL.
pub(crate) fn hostile_web_seed(answer: Answer) -> String {
    let is_first = AtomicBool::new(true);
    let address = serve(move |mut stream| {
        let mut lines = BufReader::new(stream.try_clone()?).lines();
        let mut request = || -> Vec<String> {
            let lines = lines.by_ref().map_while(Result::ok);
            lines.take_while(|line| !line.is_empty()).collect()
        };
        let first = request();
        let range = first
            .iter()
            .find_map(|line| line.strip_prefix("Range: bytes="));
        let head = "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes";
        write!(stream, "{head} {}/2000123\r\n", range.unwrap_or("0-16383"))?;
        match answer {
            Answer::Chunk(len) => {
                write!(stream, "Transfer-Encoding: chunked\r\n\r\n{len}\r\n")?;
            }
            Answer::EndlessSecondHead(content) if is_first.swap(false, Ordering::SeqCst) => {
                let range = range.unwrap_or("0-16383");
                let (first, last) = range.split_once('-').unwrap_or(("0", "0"));
                let number = |text: &str| text.parse::<usize>().unwrap_or(0);
                let part = &content[number(first)..=number(last)];
                let len = part.len();
                write!(stream, "Server: nginx-x\r\nContent-Length: {len}\r\n\r\n")?;
                stream.write_all(part)?;
                request();
                write!(stream, "HTTP/1.1 206 Partial Content\r\nX: ")?;
            }
            Answer::EndlessHead | Answer::EndlessSecondHead(_) => write!(stream, "X: ")?,
        }
        loop {
            stream.write_all(&[b'x'; 1 << 12])?;
        }
    });
    format!("http://{address}/file.bin")
}

/// Starts a web seed that redirects all requests. Returns its URL.
pub(crate) fn redirecting_web_seed(to: String) -> String {
    let address = serve(move |mut stream| {
        let lines = BufReader::new(stream.try_clone()?).lines();
        let lines = lines.map_while(Result::ok);
        lines.take_while(|line| !line.is_empty()).for_each(drop);
        let head = format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n");
        stream.write_all(head.as_bytes())
    });
    format!("http://{address}/file.bin")
}

/// A web server of OpenSSL with a certificate that no authority has signed.
pub(crate) struct TlsServer {
    port: String,
    /// Its certificate and key.
    folder: TempDir,
    _process: Process,
}

impl TlsServer {
    /// Serves the files of a folder by the program `openssl`.
    pub(crate) fn of(content: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let request = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out cert.pem \
                       -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1";
        let mut request_command = Command::new("openssl");
        let request = request_command.args(request.split_whitespace());
        let output = request.current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let mut server = Command::new("openssl");
        server.args(["s_server", "-WWW", "-accept", "127.0.0.1:0"]);
        for (option, file) in [("-cert", "cert.pem"), ("-key", "key.pem")] {
            server.arg(option).arg(folder.path().join(file));
        }
        server.current_dir(content).stdin(Stdio::null());
        server.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = server.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut lines = lines.map_while(Result::ok);
        let port = lines
            .find_map(|line| Some(line.strip_prefix("ACCEPT 127.0.0.1:")?.to_owned()))
            .expect("the server listens");
        // The server reports each connection.
        std::thread::spawn(move || lines.for_each(drop));
        Self {
            port,
            folder,
            _process: Process(child),
        }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("https://127.0.0.1:{}/{path}", self.port)
    }

    pub(crate) fn certificate(&self) -> PathBuf {
        self.folder.path().join("cert.pem")
    }
}

/// A proxy (RFC 1928, RFC 1929) that requires a password.
pub(crate) struct Socks {
    pub(crate) address: SocketAddr,
    through: Arc<AtomicUsize>,
}

impl Socks {
    pub(crate) fn start() -> Self {
        let through = Arc::new(AtomicUsize::new(0));
        let shared = Arc::clone(&through);
        let address = serve(move |stream| relay(stream, &shared));
        Self { address, through }
    }

    /// Returns the number of connections through the proxy.
    pub(crate) fn through(&self) -> usize {
        self.through.load(Ordering::SeqCst)
    }
}

fn relay(mut client: TcpStream, through: &AtomicUsize) -> io::Result<()> {
    let read = |n: usize| -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; n];
        (&client).read_exact(&mut bytes)?;
        Ok(bytes)
    };
    let n_methods = read(2)?[1].into();
    read(n_methods)?;
    (&client).write_all(&[5, 2])?;
    let user_len = read(2)?[1].into();
    let user = read(user_len)?;
    let password_len = read(1)?[0].into();
    let password = read(password_len)?;
    if (&user[..], &password[..]) != (b"me", b"secret") {
        return (&client).write_all(&[1, 1]);
    }
    (&client).write_all(&[1, 0])?;
    let [_, command, _, kind] = read(4)?.try_into().unwrap();
    let host = match kind {
        1 => read(4)?
            .iter()
            .map(u8::to_string)
            .collect::<Vec<_>>()
            .join("."),
        3 => {
            let len = read(1)?[0].into();
            String::from_utf8(read(len)?).unwrap()
        }
        _ => return Ok(()),
    };
    let port = u16::from_be_bytes(read(2)?.try_into().unwrap());
    if command != 1 {
        // Refuses UDP, which uTP would use.
        return client.write_all(&[5, 7, 0, 1, 0, 0, 0, 0, 0, 0]);
    }
    let mut server = TcpStream::connect((host.as_str(), port))?;
    client.write_all(&[5, 0, 0, 1, 127, 0, 0, 1, 0, 0])?;
    through.fetch_add(1, Ordering::SeqCst);
    let (mut from, mut to) = (client.try_clone()?, server.try_clone()?);
    let up = std::thread::spawn(move || {
        let _ = io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Both);
    });
    let _ = io::copy(&mut server, &mut client);
    let _ = client.shutdown(Shutdown::Both);
    let _ = up.join();
    Ok(())
}
