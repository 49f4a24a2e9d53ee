//! The page behind a proxy with TLS, with the configurations in docs/guides/reverse-proxy.md.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::foreign::free_port;
use super::page::{Page, torrent_is};
use super::peers::{Content, PATIENCE, Peer, ended};
use crate::not_run::is_installed;
use crate::pages::{blocks, text_of};

const ORIGIN: &str = "https://torrents.example";

/// Returns the code block of this language in the guide.
fn example(language: &str) -> String {
    let guide = text_of("docs/guides/reverse-proxy.md");
    let blocks = blocks(&guide, language);
    assert_eq!(blocks.len(), 1, "{language}");
    blocks[0].to_owned()
}

/// Replaces a text that the example must have.
fn with(example: &str, text: &str, replacement: &str) -> String {
    assert!(example.contains(text), "{text}: {example}");
    example.replace(text, replacement)
}

/// A running proxy.
struct Proxy {
    child: Child,
    port: u16,
}

impl Proxy {
    fn start(command: &mut Command, port: u16) -> Self {
        let child = command.stdin(Stdio::null()).spawn().unwrap();
        let mut proxy = Self { child, port };
        let started = Instant::now();
        // Caddy makes its certificate after it has opened the port.
        while proxy.ask("/", &[]).0 == "000" {
            let ended = proxy.child.try_wait().unwrap();
            assert!(ended.is_none(), "the proxy has ended");
            assert!(started.elapsed() < PATIENCE);
            std::thread::sleep(Duration::from_millis(50));
        }
        proxy
    }

    /// Runs curl with a URL of the origin. Returns the status and the body.
    fn ask(&self, path: &str, options: &[&str]) -> (String, String) {
        let output = Command::new("curl")
            .args([
                "--silent",
                "--insecure",
                "--max-time",
                "10",
                "--write-out",
                "\n%{http_code}",
            ])
            .args(["--connect-to", &format!("::127.0.0.1:{}", self.port)])
            .args(options)
            .arg(format!("{ORIGIN}{path}"))
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let (body, status) = text.rsplit_once('\n').expect("curl writes the status");
        (status.to_owned(), body.to_owned())
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // Asks nginx to end its workers, too.
        let command = format!("kill {}", self.child.id());
        let _ = Command::new("sh").args(["-c", &command]).status();
        let _ = self.child.wait();
    }
}

fn served(content: &Content) -> Page {
    let torrent = content.torrent("tree", "v1");
    let options = ["--http", "0", "--http-origin", ORIGIN];
    let page = Page::of(Peer::seed_with(&[&torrent], content.path(), &options));
    page.wait_for(torrent_is("serving"));
    page
}

/// Checks that a browser can read, change and follow the torrents through a proxy, and that other sites cannot.
fn assert_usable(page: &Page, proxy: &Proxy) {
    let (status, body) = proxy.ask("/", &[]);
    assert_eq!(
        (status.as_str(), body.contains("<title>")),
        ("200", true),
        "{body}"
    );
    let token = format!("Authorization: {}", page.bearer());
    let origin = format!("Origin: {ORIGIN}");
    let site = "Sec-Fetch-Site: same-origin";
    for (action, activity) in [("pause", "paused"), ("resume", "serving")] {
        let path = "/api/v1/torrents/0";
        let body = format!(r#"{{"action": "{action}"}}"#);
        let own = ["--json", &body, "-H", &token, "-H", &origin, "-H", site];
        assert_eq!(proxy.ask(path, &own).0, "202");
        page.wait_for(torrent_is(activity));
        let foreign = [
            "--json",
            &body,
            "-H",
            &token,
            "-H",
            "Origin: https://example.com",
        ];
        assert_eq!(proxy.ask(path, &foreign).0, "403");
        assert_eq!(proxy.ask(path, &["--json", &body, "-H", &origin]).0, "401");
    }
    // Other machines can reach the page, so that reading needs the token, too.
    assert_eq!(proxy.ask("/api/v1/torrents", &[]).0, "401");
    // Ends after two seconds, without the end of the stream.
    let options = ["--no-buffer", "--max-time", "2", "-H", &token];
    let (_, events) = proxy.ask("/api/v1/events", &options);
    assert!(events.matches("data: ").count() >= 1, "{events}");
}

fn write_certificate(folder: &Path) {
    let status = Command::new("openssl")
        .args([
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
        ])
        .args([
            "-subj",
            "/CN=torrents.example",
            "-addext",
            "subjectAltName=DNS:torrents.example,IP:127.0.0.1",
            // The certificate is of a server, and of no authority.
            "-addext",
            "basicConstraints=critical,CA:FALSE",
            "-keyout",
            "key",
            "-out",
            "certificate",
        ])
        .current_dir(folder)
        .stderr(Stdio::null())
        .status();
    assert!(status.unwrap().success());
}

#[test]
fn nginx_serves_the_page_with_tls() {
    if !["nginx", "openssl", "curl"]
        .iter()
        .all(|program| is_installed("NGINX", program, program))
    {
        return;
    }
    let content = Content::new();
    let page = served(&content);
    let folder = tempfile::tempdir().unwrap();
    write_certificate(folder.path());
    let example = example("nginx");
    let header = "        proxy_set_header Host $http_host;\n";
    // The second proxy replaces the name by its own address.
    for example in [example.clone(), with(&example, header, "")] {
        let port = free_port();
        let server = with(&example, "443 ssl", &format!("127.0.0.1:{port} ssl"));
        let server = with(&server, "127.0.0.1:8080", &page.address.to_string());
        let server = with(
            &server,
            "/etc/ssl/certs/torrents.example.pem",
            "certificate",
        );
        let server = with(&server, "/etc/ssl/private/torrents.example.key", "key");
        let places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|name| format!("{name}_temp_path {name};\n"))
            .concat();
        let text = format!(
            "daemon off;\npid pid;\nerror_log error.log;\nevents {{}}\nhttp {{\naccess_log off;\n{places}{server}}}\n"
        );
        fs::write(folder.path().join("nginx.conf"), text).unwrap();
        let mut command = Command::new("nginx");
        command.arg("-p").arg(folder.path());
        command.arg("-c").arg(folder.path().join("nginx.conf"));
        command.args(["-e", "error.log"]);
        let proxy = Proxy::start(&mut command, port);
        assert_usable(&page, &proxy);
        assert_ctl_reads(&page, port, folder.path());
    }
}

/// Checks that `ctl` lists the torrent through a proxy, and that it trusts no certificate of an authority that it does not know.
fn assert_ctl_reads(page: &Page, port: u16, folder: &Path) {
    fs::write(
        folder.join("token"),
        page.bearer().trim_start_matches("Bearer "),
    )
    .unwrap();
    let ctl = |options: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hashlane-net"));
        command.args([
            "ctl",
            "--json",
            "--url",
            &format!("https://127.0.0.1:{port}/"),
        ]);
        command.args(["--token-file", "token"]).args(options);
        ended(command.arg("list").current_dir(folder))
    };
    let listed = ctl(&["--ca-file", "certificate"]);
    assert_eq!(
        (listed.code, listed.lines.len()),
        (Some(0), 1),
        "{listed:?}"
    );
    assert_eq!(listed.lines[0]["name"], "tree");
    ctl(&[]).assert_failed("invalid peer certificate");
    ctl(&["--ca-file", "key"]).assert_failed("key: no certificate in the form PEM");
}

#[test]
fn caddy_serves_the_page_with_tls() {
    if !["caddy", "curl"]
        .iter()
        .all(|program| is_installed("CADDY", program, program))
    {
        return;
    }
    let content = Content::new();
    let page = served(&content);
    let folder = tempfile::tempdir().unwrap();
    let port = free_port();
    let server = with(
        &example("caddy"),
        "127.0.0.1:8080",
        &page.address.to_string(),
    );
    // A certificate of its own, because no authority can be asked for one.
    let text = format!(
        "{{\nadmin off\nlocal_certs\nskip_install_trust\nauto_https disable_redirects\nhttps_port {port}\n\
         storage file_system {}\n}}\n{server}",
        folder.path().display()
    );
    let config = folder.path().join("Caddyfile");
    fs::write(&config, text).unwrap();
    let mut command = Command::new("caddy");
    command
        .args(["run", "--adapter", "caddyfile", "--config"])
        .arg(config);
    command.env("HOME", folder.path()).stderr(Stdio::null());
    let proxy = Proxy::start(&mut command, port);
    assert_usable(&page, &proxy);
}
