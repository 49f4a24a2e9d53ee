//! qBittorrent Web API by requests.

mod access;
mod edit;
mod settings;
mod show;
mod sync;

use std::sync::Arc;

use hashlane_remote::{Listen, serve_qbittorrent};
use hashlane_server::Server;
use serde_json::Value;
use ureq::http::Response;
use ureq::{Agent, Body};

use crate::client::Client;
use crate::transmission::metainfo;

pub(crate) const MAX_METAINFO_LEN: u64 = 1 << 20;
pub(crate) const LINKED: &str = "11e84f0b5f3a06e4e10f3b4ac7e36a2a5d1d8b0a";
pub(crate) const MAGNET: &str =
    "magnet:?xt=urn:btih:11e84f0b5f3a06e4e10f3b4ac7e36a2a5d1d8b0a&dn=linked";

/// Returns the info-hash of the demo.
pub(crate) fn demo() -> String {
    let torrent = hashlane_metainfo::Torrent::parse(metainfo()).unwrap();
    torrent.info_hashes().v1().unwrap().to_string()
}

pub(crate) fn text_of(mut answer: Response<Body>) -> String {
    answer.body_mut().read_to_string().unwrap()
}

/// Returns a form with files, and its type.
pub(crate) fn multipart(fields: &[(&str, &str)], files: &[(&str, &[u8])]) -> (String, Vec<u8>) {
    let mut body = Vec::new();
    for (name, value) in fields {
        let head = format!("--X\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n");
        body.extend(head.bytes().chain(value.bytes()).chain(*b"\r\n"));
    }
    for (name, content) in files {
        let head = format!(
            "--X\r\nContent-Disposition: form-data; name=\"torrents\"; filename=\"{name}\"\r\n\
             Content-Type: application/x-bittorrent\r\n\r\n"
        );
        body.extend(head.bytes().chain(content.iter().copied()).chain(*b"\r\n"));
    }
    body.extend(b"--X--\r\n");
    ("multipart/form-data; boundary=X".to_owned(), body)
}

/// A server, its client, and the cookie of a program.
pub(crate) struct Served {
    pub(crate) client: Arc<Client>,
    pub(crate) server: Server,
    pub(crate) agent: Agent,
    pub(crate) cookie: String,
}

impl Served {
    pub(crate) fn new(listen: Listen) -> Self {
        let client = Arc::new(Client::default());
        let control: Arc<Client> = Arc::clone(&client);
        let server = serve_qbittorrent(listen, control, MAX_METAINFO_LEN).unwrap();
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .build()
            .new_agent();
        Self {
            client,
            server,
            agent,
            cookie: String::new(),
        }
    }

    /// Adds the demo and a magnet link, with the numbers 1 and 2.
    pub(crate) fn with_two(self) -> Self {
        let (kind, body) = multipart(&[], &[("a.torrent", &metainfo())]);
        let added = self.send("torrents/add", &[("content-type", &kind)], &body);
        assert_eq!(text_of(added), "Ok.");
        assert_eq!(self.post("torrents/add", &[("urls", MAGNET)]), "Ok.");
        self
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!(
            "http://{}/api/v2/{path}",
            self.server.endpoint().address().unwrap()
        )
    }

    pub(crate) fn send(&self, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Response<Body> {
        let mut request = self.agent.post(self.url(path));
        for (name, value) in [("cookie", self.cookie.as_str())].iter().chain(headers) {
            request = request.header(*name, *value);
        }
        request.send(body).unwrap()
    }

    pub(crate) fn send_form(&self, path: &str, fields: &[(&str, &str)]) -> Response<Body> {
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.extend_pairs(fields);
        let kind = ("content-type", "application/x-www-form-urlencoded");
        self.send(path, &[kind], form.finish().as_bytes())
    }

    /// Sends a form that must succeed, and returns the answer.
    pub(crate) fn post(&self, path: &str, fields: &[(&str, &str)]) -> String {
        let answer = self.send_form(path, fields);
        let status = answer.status();
        let text = text_of(answer);
        assert_eq!(status, 200, "{path} {fields:?}: {text}");
        text
    }

    /// Sends a form that must fail, and returns the status and the reason.
    pub(crate) fn refused(&self, path: &str, fields: &[(&str, &str)]) -> (u16, String) {
        let answer = self.send_form(path, fields);
        let status = answer.status().as_u16();
        assert_ne!(status, 200, "{path} {fields:?}");
        (status, text_of(answer))
    }

    pub(crate) fn get(&self, path: &str) -> Response<Body> {
        let request = self.agent.get(self.url(path));
        request.header("cookie", &self.cookie).call().unwrap()
    }

    /// Returns the JSON that a GET returns.
    pub(crate) fn json(&self, path: &str) -> Value {
        let answer = self.get(path);
        assert_eq!(answer.status(), 200, "{path}");
        assert_eq!(answer.headers()["content-type"], "application/json");
        serde_json::from_str(&text_of(answer)).unwrap()
    }

    /// Returns the info-hashes of the torrents that a query names.
    pub(crate) fn hashes(&self, query: &str) -> Vec<String> {
        let rows = self.json(&format!("torrents/info?{query}"));
        let rows = rows.as_array().unwrap().iter();
        rows.map(|row| row["hash"].as_str().unwrap().to_owned())
            .collect()
    }

    pub(crate) fn field(&self, hash: &str, field: &str) -> Value {
        self.json(&format!("torrents/info?hashes={hash}"))[0][field].clone()
    }
}
