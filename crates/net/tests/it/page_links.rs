//! Links to content for players: URLs with a token, and playlists of them.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::daemon::{Daemon, folder, text};
use super::daemon_api::Api;
use super::http::{Response, open};
use super::peers::Content;
use crate::not_run::is_installed;
use crate::wait_for;

/// A daemon with two torrents whose content is served, and its log.
struct Served {
    api: Api,
    content: PathBuf,
    log: PathBuf,
    stdout: PathBuf,
}

/// Returns a second of silence as a WAV file (RIFF, 16 bits, mono).
fn wav() -> Vec<u8> {
    let samples = vec![0_u8; 2 * 8000];
    let n_bytes = samples.len() as u32;
    let mut wav = b"RIFF".to_vec();
    wav.extend((36 + n_bytes).to_le_bytes());
    wav.extend(b"WAVEfmt ");
    wav.extend(16_u32.to_le_bytes());
    // PCM, one channel.
    wav.extend([1, 0, 1, 0]);
    wav.extend([8000_u32, 16_000].map(u32::to_le_bytes).concat());
    wav.extend([2, 0, 16, 0]);
    wav.extend(b"data");
    wav.extend(n_bytes.to_le_bytes());
    wav.extend(samples);
    wav
}

impl Served {
    /// Returns the position of a file of the album, as an argument of `ctl stream`.
    fn number_of(&self, name: &str) -> String {
        let files = self.api.daemon.done(["files", "album"]);
        let mut files = files.iter();
        let file = files.find(|file| file["path"] == name).unwrap();
        file["number"].to_string()
    }

    fn start(place: &Path, state: &Path) -> Self {
        let content = place.join("album");
        fs::create_dir_all(content.join("sub")).unwrap();
        for (name, bytes) in [
            ("b two.wav", wav()),
            ("a\nhttp:\r#é.mp3", vec![1; 70_000]),
            ("notes.txt", vec![2; 200_000]),
            ("sub/c.mkv", vec![3; 100_000]),
            ("empty.mp3", vec![]),
        ] {
            fs::write(content.join(name), bytes).unwrap();
        }
        fs::write(place.join("other.mp4"), vec![4; 80_000]).unwrap();
        let log = place.join("log");
        let options = ["--log", text(&log), "--log-level", "trace"];
        let api = Api::start(state, place, &options);
        for name in ["album", "other.mp4"] {
            let path = place.join(name);
            let torrent = Content::torrent_of(&path, "v1", &[]);
            let added = ["add", text(&torrent), "--content", text(&path)];
            api.daemon.done(added);
        }
        wait_for(|| {
            let torrents = api.daemon.done(["list"]);
            torrents.iter().all(|it| it["activity"] == "serving")
        });
        Self {
            api,
            content,
            log,
            stdout: state.with_extension("stdout"),
        }
    }

    /// Returns the path and the query of a URL that `ctl stream` prints, and the token.
    #[track_caller]
    fn stream(&self, args: &[&str]) -> (String, String) {
        let args = ["stream"].iter().chain(args);
        let lines = self.api.daemon.done(args);
        assert_eq!(lines.len(), 1);
        assert_eq!(
            (&lines[0]["type"], &lines[0]["lifetime_seconds"]),
            (&json!("link"), &json!(43_200))
        );
        self.split(lines[0]["url"].as_str().unwrap())
    }

    /// Splits a URL of the page.
    #[track_caller]
    fn split(&self, url: &str) -> (String, String) {
        let origin = format!("http://{}", self.api.address);
        let place = url.strip_prefix(&origin).unwrap();
        let (_, token) = place.split_once("?token=").unwrap();
        assert!(token.len() == 32 && token.bytes().all(|byte| byte.is_ascii_hexdigit()));
        (place.to_owned(), token.to_owned())
    }

    /// Sends a request without credentials, and returns the head of its answer with the bytes that came.
    fn ask(&self, request: &str, headers: &[(&str, &str)]) -> (Response, Vec<u8>) {
        let (mut reader, head) = open(self.api.address, request, headers, "");
        let mut body = Vec::new();
        reader.read_to_end(&mut body).unwrap();
        (head, body)
    }

    fn status(&self, request: &str) -> u16 {
        self.ask(request, &[]).0.status
    }
}

/// A player gets content by the URL alone, as with other credentials: whole, in ranges, and the head.
#[test]
fn a_player_reads_content_by_a_url() {
    let (place, state) = folder();
    let served = Served::start(place.path(), &state);
    let (place, _) = served.stream(&["album"]);
    // The text is larger, but no player plays it.
    let expected = fs::read(served.content.join("sub/c.mkv")).unwrap();
    let (head, body) = served.ask(&format!("GET {place}"), &[]);
    assert_eq!(
        (head.status, head.header("content-type")),
        (200, Some("video/x-matroska"))
    );
    assert!(body == expected);
    let range = [("Range", "bytes=65530-65545")];
    let (head, body) = served.ask(&format!("GET {place}"), &range);
    assert_eq!(
        (head.status, head.header("content-range")),
        (206, Some("bytes 65530-65545/100000"))
    );
    assert!(body == expected[65_530..65_546]);
    let (head, body) = served.ask(&format!("HEAD {place}"), &[]);
    assert_eq!(
        (head.status, head.header("content-length"), body.len()),
        (200, Some("100000"), 0)
    );
    // Any file can be named, and the token stays the same.
    let number = served.number_of("notes.txt");
    let (place, token) = served.stream(&["album", &number]);
    assert!(place.contains(&format!("/files/{number}/content?")));
    assert_eq!(served.status(&format!("HEAD {place}")), 200);
    assert_eq!(served.stream(&["album"]).1, token);
    served.api.daemon.terminate();
}

/// Asserts that the token of a link to a file of an album opens nothing else of the API, and no other method.
fn refuses_the_rest(served: &Served, album: &str, token: &str) {
    let id = album.split('/').nth(4).unwrap();
    let as_bearer = format!("Bearer {token}");
    for request in [
        "GET /api/v1/torrents".to_owned(),
        "GET /api/v1/status".to_owned(),
        "GET /api/v1/config".to_owned(),
        "GET /metrics".to_owned(),
        format!("GET /api/v1/torrents/{id}"),
        format!("GET /api/v1/torrents/{id}/files"),
        format!("GET /api/v1/torrents/{id}/trackers"),
        format!("POST /api/v1/torrents/{id}"),
        format!("POST /api/v1/torrents/{id}/link"),
        "POST /api/v1/batch".to_owned(),
        "PATCH /api/v1/config".to_owned(),
    ] {
        assert_eq!(
            served.status(&format!("{request}?token={token}")),
            401,
            "{request}"
        );
        let headers = [("Authorization", as_bearer.as_str())];
        assert_eq!(served.ask(&request, &headers).0.status, 401, "{request}");
    }
    for method in ["POST", "PUT", "DELETE", "PATCH"] {
        assert_eq!(served.status(&format!("{method} {album}")), 405, "{method}");
    }
}

/// The token of a link opens the content of its torrent, and nothing else.
#[test]
fn a_token_is_good_for_one_torrent() {
    let (place, state) = folder();
    let served = Served::start(place.path(), &state);
    let (album, token) = served.stream(&["album"]);
    let (other, other_token) = served.stream(&["other.mp4"]);
    assert_ne!(token, other_token);
    let with = |place: &str, token: &str| {
        let (path, _) = place.split_once('?').unwrap();
        served.status(&format!("HEAD {path}?token={token}"))
    };
    assert_eq!(
        (with(&album, &token), with(&other, &other_token)),
        (200, 200)
    );
    let wrong = "0".repeat(32);
    for given in [
        other_token.as_str(),
        &wrong,
        "",
        &token[1..],
        &format!("{token}0"),
    ] {
        assert_eq!(with(&album, given), 401, "{given}");
    }
    let (path, _) = album.split_once('?').unwrap();
    assert_eq!(served.status(&format!("HEAD {path}")), 401);
    // The first token decides, also beside other credentials.
    assert_eq!(with(&album, &format!("{wrong}&token={token}")), 401);
    let bearer = ("Authorization", served.api.bearer.as_str());
    let request = format!("HEAD {path}?token={wrong}");
    assert_eq!(served.ask(&request, &[bearer]).0.status, 401);
    assert_eq!(served.ask(&format!("HEAD {path}"), &[bearer]).0.status, 200);
    // Torrents that do not exist look the same.
    for id in ["999", "x", &"1".repeat(40)] {
        let request = format!("GET /api/v1/torrents/{id}/files/0/content?token={token}");
        assert_eq!(served.status(&request), 401, "{id}");
    }
    refuses_the_rest(&served, &album, &token);
    // Other sites are refused as with other credentials.
    for (header, status) in [
        (("Host", "a.example"), 421),
        (("Origin", "http://a.example"), 403),
        (("Sec-Fetch-Site", "cross-site"), 403),
    ] {
        let request = format!("GET {album}");
        assert_eq!(
            served.ask(&request, &[header]).0.status,
            status,
            "{header:?}"
        );
    }
    // Errors of requests have no token, and nothing is logged with it.
    let missing = format!("GET {}", album.replace("/files/", "/files/9"));
    let (head, body) = served.ask(&missing, &[]);
    let body = String::from_utf8(body).unwrap();
    assert_eq!(head.status, 404, "{body}");
    let stderr = served.api.daemon.stderr();
    let (log, stdout) = (served.log.clone(), served.stdout.clone());
    let debug = served.api.daemon.done(["status"]);
    served.api.daemon.terminate();
    let [log, stdout] = [log, stdout].map(|path| fs::read_to_string(path).unwrap());
    assert!(log.contains("serving the page"), "{log}");
    for text in [&body, &stderr, &log, &stdout, &format!("{debug:?}")] {
        assert!(
            !text.contains(&token) && !text.contains(&other_token),
            "{text}"
        );
    }
}

/// A playlist has the audio and video files, whose names cannot add entries.
#[test]
fn a_playlist_has_the_media_of_a_torrent() {
    let (place, state) = folder();
    let served = Served::start(place.path(), &state);
    let (place, token) = served.stream(&["--playlist", "album"]);
    assert!(place.contains("/playlist.m3u8?"), "{place}");
    let (head, body) = served.ask(&format!("GET {place}"), &[]);
    assert_eq!(
        (head.status, head.header("content-type")),
        (200, Some("audio/x-mpegurl"))
    );
    let disposition = head.header("content-disposition");
    assert_eq!(disposition, Some("attachment; filename*=UTF-8''album.m3u8"));
    let playlist = String::from_utf8(body).unwrap();
    let lines: Vec<&str> = playlist.split(['\n', '\r']).collect();
    let urls: Vec<&str> = lines
        .iter()
        .copied()
        .filter(|line| line.starts_with("http"))
        .collect();
    let others: Vec<&str> = lines
        .iter()
        .copied()
        .filter(|line| !line.starts_with("http"))
        .collect();
    let expected = [
        "#EXTM3U",
        "#PLAYLIST:album",
        "#EXTINF:-1,a\\u{a}http:\\u{d}#é.mp3",
        "#EXTINF:-1,b two.wav",
        "#EXTINF:-1,sub/c.mkv",
        "",
    ];
    assert_eq!(others, expected);
    let lengths = urls.iter().map(|url| {
        let (place, of_url) = served.split(url);
        assert_eq!(of_url, token);
        let (head, _) = served.ask(&format!("HEAD {place}"), &[]);
        assert_eq!(head.status, 200);
        head.header("content-length").unwrap().to_owned()
    });
    assert_eq!(lengths.collect::<Vec<_>>(), ["70000", "16044", "100000"]);
    // With other credentials, the same.
    let (path, _) = place.split_once('?').unwrap();
    let path = path.trim_start_matches("/api/v1/");
    assert_eq!(served.api.get(path).body, playlist);
    served.api.daemon.terminate();
}

/// What cannot be played is refused when the link is made.
#[test]
fn links_that_lead_nowhere_are_refused() {
    let (place, state) = folder();
    let content = Content::new();
    let torrent = content.torrent("tree", "v1");
    let api = Api::start(&state, place.path(), &[]);
    let tree = content.path().join("tree");
    api.daemon
        .done(["add", text(&torrent), "--content", text(&tree)]);
    wait_for(|| api.daemon.torrent()["activity"] == "serving");
    for (args, reason) in [
        (&["tree"][..], "the torrent has no audio or video file"),
        (
            &["--playlist", "tree"],
            "the torrent has no audio or video file",
        ),
        (&["tree", "3"], "the torrent has no such file"),
        (&["absent"], "no such torrent"),
    ] {
        api.daemon
            .ctl(["stream"].iter().chain(args))
            .assert_failed(reason);
    }
    let link = |id: &str, body: &Value| {
        api.send("POST", &format!("torrents/{id}/link"), body)
            .status
    };
    assert_eq!(link("1", &json!({"file": 0})), 200);
    assert_eq!(link("1", &json!({"file": 0, "playlist": true})), 422);
    assert_eq!(link("1", &json!({"other": 0})), 422);
    assert_eq!(link("9", &json!({"file": 0})), 404);
    // Another machine is reached by the URL that leads to it.
    let token = place.path().join("token");
    fs::write(&token, api.bearer.trim_start_matches("Bearer ")).unwrap();
    let url = format!("http://localhost:{}", api.address.port());
    let mut remote = Command::new(env!("CARGO_BIN_EXE_hashlane-net"));
    remote.args(["ctl", "--url", &url, "--token-file", text(&token)]);
    let printed = remote.args(["stream", "tree", "2"]).output().unwrap();
    let printed = String::from_utf8(printed.stdout).unwrap();
    let start = format!("{url}/api/v1/torrents/1/files/2/content?token=");
    assert!(
        printed.starts_with(&start) && printed.ends_with('\n'),
        "{printed}"
    );
    api.daemon.terminate();

    // Without a page, there is nothing to lead to.
    let daemon = Daemon::start(&state, &[]);
    wait_for(|| daemon.torrent()["activity"] == "serving");
    daemon
        .ctl(["stream", "tree", "0"])
        .assert_failed("start it with `--http`");
    daemon.terminate();
}

/// A program that reads media finds what the file is.
#[test]
fn ffprobe_reads_a_link() {
    if !is_installed("FFPROBE", "ffprobe", "ffmpeg") {
        return;
    }
    let (place, state) = folder();
    let served = Served::start(place.path(), &state);
    let number = served.number_of("b two.wav");
    let (place, _) = served.stream(&["album", &number]);
    let mut command = Command::new("ffprobe");
    command.args(["-v", "error", "-of", "csv=p=0"]);
    command.args([
        "-show_entries",
        "stream=codec_name,sample_rate:format=duration",
    ]);
    let output = command
        .arg(format!("http://{}{place}", served.api.address))
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text, "pcm_s16le,8000\n1.000000\n", "{:?}", output.stderr);
    served.api.daemon.terminate();
}
