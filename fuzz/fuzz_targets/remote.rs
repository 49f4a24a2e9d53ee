//! Requests of Transmission RPC and the qBittorrent Web API to a client in memory: each gets a complete answer that is no
//! failure of the server. A program that applies the changes of `sync/maindata` has what a new program gets.

#![no_main]

use std::net::SocketAddr;
use std::sync::{Arc, LazyLock, Mutex};

use arbitrary::Arbitrary;
use data_encoding::BASE64;
use hashlane_api::{Command, Content, GroupChange};
use hashlane_remote::{Control, Listen, serve_qbittorrent, serve_transmission};
use hashlane_server::Server;
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value, json};

use connection::{Answer, Connection};

#[path = "../../crates/remote/tests/it/client.rs"]
#[allow(dead_code)]
mod client;
mod connection;

const MAX_REQUESTS: usize = 10;
const MAX_FIELDS: usize = 10;
const METAINFO: &[u8] = include_bytes!("../../demo/union-addresses.torrent");
const LINKED: &str = "11e84f0b5f3a06e4e10f3b4ac7e36a2a5d1d8b0a";
const MAGNET: &str = "magnet:?xt=urn:btih:11e84f0b5f3a06e4e10f3b4ac7e36a2a5d1d8b0a&dn=linked";

/// Names of methods and fields that the adapters know, one a line.
const WORDS: &str = include_str!("../remote.words");

#[derive(Arbitrary, Debug)]
enum Request {
    /// A method of Transmission, with arguments.
    Transmission(Word, Vec<(Word, Json)>),
    /// The body of a request to Transmission.
    TransmissionBody(Vec<u8>),
    /// A method of the Web API, with the fields of a form.
    Web(Word, bool, Vec<(Word, Json)>),
    /// A method of the Web API, with the fields and files of a form in parts.
    WebParts(Word, Vec<(Word, Json)>, Vec<(Word, File)>),
    /// A method of the Web API, with a type and a body.
    WebBody(Word, Kind, Vec<u8>),
}

#[derive(Arbitrary, Debug)]
enum Word {
    Known(u16),
    Other(String),
}

#[derive(Arbitrary, Debug)]
enum File {
    Demo,
    Other(Vec<u8>),
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Kind {
    Form,
    Parts,
    Other,
}

#[derive(Arbitrary, Debug)]
enum Json {
    Null,
    Demo,
    Linked,
    Magnet,
    Metainfo,
    Bool(bool),
    Small(i8),
    Integer(i64),
    Number(f64),
    Path(String),
    Word(Word),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(Word, Json)>),
}

impl Word {
    fn text(&self) -> String {
        static ALL: LazyLock<Vec<&str>> = LazyLock::new(|| WORDS.lines().collect());
        match self {
            Self::Known(number) => ALL[usize::from(*number) % ALL.len()].to_owned(),
            Self::Other(text) => text.clone(),
        }
    }
}

impl Json {
    fn value(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Demo => json!(DEMO.as_str()),
            Self::Linked => json!(LINKED),
            Self::Magnet => json!(MAGNET),
            Self::Metainfo => json!(BASE64.encode(METAINFO)),
            Self::Bool(value) => json!(value),
            Self::Small(value) => json!(value),
            Self::Integer(value) => json!(value),
            Self::Number(value) => json!(value),
            Self::Path(text) => json!(format!("/{text}")),
            Self::Word(word) => json!(word.text()),
            Self::Text(text) => json!(text),
            Self::List(list) => list.iter().map(Self::value).collect(),
            Self::Object(object) => {
                let pairs = object.iter();
                let pairs = pairs.map(|(name, value)| (name.text(), value.value()));
                Value::Object(pairs.collect())
            }
        }
    }

    /// Returns the value in a form.
    fn text(&self) -> String {
        match self.value() {
            Value::String(text) => text,
            other => other.to_string(),
        }
    }
}

static DEMO: LazyLock<String> = LazyLock::new(|| {
    let torrent = hashlane_metainfo::Torrent::parse(METAINFO.to_vec()).unwrap();
    torrent.info_hashes().v1().unwrap().to_string()
});

/// The servers, and a connection to each.
struct Served {
    client: Arc<client::Client>,
    _servers: [Server; 2],
    session_id: String,
    transmission: Connection,
    web: Connection,
}

static SERVED: LazyLock<Mutex<Served>> = LazyLock::new(|| {
    let client = Arc::new(client::Client::default());
    let listen = || Listen {
        listener: None,
        endpoint: SocketAddr::from(([127, 0, 0, 1], 0)).into(),
        login: None,
        hosts: Vec::new(),
        is_open: false,
        about: String::new(),
    };
    let transmission = serve_transmission(listen(), client.clone(), 1 << 16).unwrap();
    let web = serve_qbittorrent(listen(), client.clone(), 1 << 16).unwrap();
    let to = |server: &Server| Connection::new(server.endpoint().address().expect("TCP"));
    let mut served = Served {
        client,
        session_id: String::new(),
        transmission: to(&transmission),
        web: to(&web),
        _servers: [transmission, web],
    };
    let refused = served.rpc(b"{}");
    let session_id = refused.header("x-transmission-session-id");
    served.session_id = session_id.unwrap().to_owned();
    Mutex::new(served)
});

impl Served {
    fn rpc(&mut self, body: &[u8]) -> Answer {
        let head = format!(
            "POST /transmission/rpc HTTP/1.1\r\nX-Transmission-Session-Id: {}\r\n",
            self.session_id
        );
        self.transmission.ask(&head, body)
    }

    fn web(&mut self, method: &str, kind: Option<&str>, body: &[u8]) -> Answer {
        let path: String = form_urlencoded::byte_serialize(method.as_bytes()).collect();
        let path = path
            .replace("%2F", "/")
            .replace("%3F", "?")
            .replace('+', "%20");
        let head = match kind {
            Some(kind) => format!("POST /api/v2/{path} HTTP/1.1\r\nContent-Type: {kind}\r\n"),
            None => {
                let query = String::from_utf8_lossy(body);
                format!("GET /api/v2/{path}?{query} HTTP/1.1\r\n")
            }
        };
        let body = if kind.is_some() { body } else { b"" };
        let answer = self.web.ask(&head, body);
        let known = [200, 400, 403, 404, 405, 409, 413, 414, 415, 431];
        assert!(
            known.contains(&answer.status),
            "{method}: {}",
            answer.status
        );
        answer.check_json();
        answer
    }

    fn maindata(&mut self, rid: &Value) -> Map<String, Value> {
        let query = format!("rid={rid}");
        let answer = self.web("sync/maindata", None, query.as_bytes());
        assert_eq!(answer.status, 200);
        serde_json::from_slice(&answer.body).unwrap()
    }

    fn send(&mut self, request: &Request) {
        match request {
            Request::Transmission(method, arguments) => {
                let pairs = arguments.iter().take(MAX_FIELDS);
                let pairs = pairs.map(|(name, value)| (name.text(), value.value()));
                let arguments: Map<String, Value> = pairs.collect();
                let request = json!({ "method": method.text(), "arguments": arguments });
                let answer = self.rpc(request.to_string().as_bytes());
                assert_eq!(answer.status, 200);
                let answer: Value = serde_json::from_slice(&answer.body).unwrap();
                assert!(answer["result"].is_string() && answer["arguments"].is_object());
            }
            Request::TransmissionBody(body) => {
                let answer = self.rpc(body);
                assert_eq!(answer.status, 200);
                let answer: Value = serde_json::from_slice(&answer.body).unwrap();
                assert!(answer["result"].is_string());
            }
            Request::Web(method, is_get, fields) => {
                let mut form = form_urlencoded::Serializer::new(String::new());
                for (name, value) in fields.iter().take(MAX_FIELDS) {
                    form.append_pair(&name.text(), &value.text());
                }
                let form = form.finish();
                let kind = (!is_get).then_some("application/x-www-form-urlencoded");
                self.web(&method.text(), kind, form.as_bytes());
            }
            Request::WebParts(method, fields, files) => {
                let mut body = Vec::new();
                let head = "--X\r\nContent-Disposition: form-data; name=";
                for (name, value) in fields.iter().take(MAX_FIELDS) {
                    let part = format!("{head}\"{}\"\r\n\r\n{}\r\n", name.text(), value.text());
                    body.extend(part.bytes());
                }
                for (name, file) in files.iter().take(MAX_FIELDS) {
                    let part = format!("{head}\"torrents\"; filename=\"{}\"\r\n\r\n", name.text());
                    let content = match file {
                        File::Demo => METAINFO,
                        File::Other(content) => content,
                    };
                    body.extend(part.bytes().chain(content.iter().copied()).chain(*b"\r\n"));
                }
                body.extend(b"--X--\r\n");
                self.web(
                    &method.text(),
                    Some("multipart/form-data; boundary=X"),
                    &body,
                );
            }
            Request::WebBody(method, kind, body) => {
                let kind = match kind {
                    Kind::Form => "application/x-www-form-urlencoded",
                    Kind::Parts => "multipart/form-data; boundary=X",
                    Kind::Other => "text/plain",
                };
                self.web(&method.text(), Some(kind), body);
            }
        }
    }

    /// Removes everything that the requests left.
    fn clear(&mut self) {
        let remove = Command::Remove {
            content: Content::Keep,
        };
        let all = self.client.snapshot();
        let torrents = all.torrents.iter();
        let numbers: Vec<usize> = torrents.map(|torrent| torrent.identity.number).collect();
        for removed in self.client.apply(&numbers, &remove) {
            removed.unwrap();
        }
        let groups = self.client.groups();
        let categories = groups.categories.into_iter();
        let names = categories.map(|category| category.name).collect();
        let client = &self.client;
        client
            .change_groups(&GroupChange::RemoveCategories { names })
            .unwrap();
        let labels = groups.labels;
        client
            .change_groups(&GroupChange::RemoveLabels { labels })
            .unwrap();
        client.changes();
    }
}

/// Applies the changes of an answer, as a program does.
fn apply(data: &mut Map<String, Value>, delta: &Map<String, Value>) {
    if delta.contains_key("full_update") {
        data.clone_from(delta);
        return;
    }
    for (name, value) in delta {
        match (name.strip_suffix("_removed"), value) {
            (Some(name), Value::Array(gone)) => match &mut data[name] {
                Value::Object(known) => gone.iter().for_each(|gone| {
                    known.remove(gone.as_str().unwrap());
                }),
                Value::Array(known) => known.retain(|known| !gone.contains(known)),
                _ => panic!("{name}"),
            },
            (None, Value::Object(changed)) => {
                let known = data[name].as_object_mut().unwrap();
                for (key, value) in changed {
                    match (known.get_mut(key), value) {
                        (Some(Value::Object(known)), Value::Object(fields)) => {
                            known.extend(fields.clone());
                        }
                        _ => {
                            known.insert(key.clone(), value.clone());
                        }
                    }
                }
            }
            (None, Value::Array(new)) => {
                let known = data[name].as_array_mut().unwrap();
                known.extend(new.iter().cloned());
                known.sort_by_key(Value::to_string);
                known.dedup();
            }
            _ => {
                data.insert(name.clone(), value.clone());
            }
        }
    }
}

fuzz_target!(|requests: Vec<Request>| {
    let mut served = SERVED.lock().unwrap();
    let mut data = served.maindata(&json!(0));
    served.send(&Request::WebParts(
        Word::Other("torrents/add".to_owned()),
        Vec::new(),
        vec![(Word::Other("a.torrent".to_owned()), File::Demo)],
    ));
    for request in requests.iter().take(MAX_REQUESTS) {
        served.send(request);
        let delta = served.maindata(&data["rid"]);
        apply(&mut data, &delta);
    }
    let delta = served.maindata(&data["rid"]);
    apply(&mut data, &delta);
    let mut full = served.maindata(&json!(0));
    for data in [&mut data, &mut full] {
        data.remove("full_update");
        let tags = data["tags"].as_array_mut().unwrap();
        tags.sort_by_key(Value::to_string);
    }
    assert_eq!(data, full);
    served.clear();
});
