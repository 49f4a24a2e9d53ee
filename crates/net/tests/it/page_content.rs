//! The content of files over HTTP, also while a torrent downloads.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use serde_json::json;

use super::http::{Response, open};
use super::page::{Page, served, slow_download, torrent_is};
use super::peers::{Content, Peer};

/// The path of a file by its position.
fn path(number: usize) -> String {
    format!("/api/v1/torrents/0/files/{number}/content")
}

/// Sends a request for content, and returns the head of its answer with the bytes that came.
fn ask(page: &Page, request: &str, headers: &[(&str, &str)]) -> (Response, Vec<u8>) {
    let own = [("Authorization", page.bearer())];
    let headers: Vec<_> = own.into_iter().chain(headers.iter().copied()).collect();
    let (mut reader, head) = open(page.address, request, &headers, "");
    let mut body = Vec::new();
    reader.read_to_end(&mut body).unwrap();
    (head, body)
}

fn read_range(page: &Page, number: usize, range: &str) -> (Response, Vec<u8>) {
    ask(page, &format!("GET {}", path(number)), &[("Range", range)])
}

/// Any range of any file is that of the file on the disk, across pieces too.
#[test]
fn ranges_of_served_files() {
    for version in ["v1", "v2", "hybrid"] {
        let content = Content::new();
        let torrent = content.torrent("tree", version);
        let page = served(&content, &torrent);
        for (number, name) in ["a.bin", "empty", "sub/b.bin"].into_iter().enumerate() {
            let expected = fs::read(content.path().join("tree").join(name)).unwrap();
            let (head, body) = ask(&page, &format!("GET {}", path(number)), &[]);
            assert_eq!(head.status, 200, "{head:?}");
            assert!(body == expected, "{version} {name}");
        }
        let expected = fs::read(content.path().join("tree/a.bin")).unwrap();
        let len = expected.len();
        let piece = content.piece_len() as usize;
        let mut at = 7_usize;
        for case in 0..60 {
            // Positions around the ends of pieces, and anywhere.
            at = at.wrapping_mul(1_103_515_245).wrapping_add(12_345) % len;
            let start = if case % 2 == 0 {
                at / piece * piece + case % 3
            } else {
                at
            };
            let end = len.min(start + 1 + at % (3 * piece)) - 1;
            let (head, body) = read_range(&page, 0, &format!("bytes={start}-{end}"));
            assert_eq!(head.status, 206);
            let range = format!("bytes {start}-{end}/{len}");
            assert_eq!(head.header("content-range"), Some(range.as_str()));
            assert!(body == expected[start..=end], "{version} {start} {end}");
        }
        for (range, expected) in [
            ("bytes=-5", &expected[len - 5..]),
            ("bytes=2499990-", &expected[2_499_990..]),
            ("bytes=2499990-99999999", &expected[2_499_990..]),
        ] {
            let (head, body) = read_range(&page, 0, range);
            assert_eq!((head.status, body.as_slice()), (206, expected), "{range}");
        }
        assert_eq!(page.peer.interrupt().code, Some(0), "{version}");
    }
}

/// What a request says beside a range: the file that it means, the head alone, what does not exist.
#[test]
fn heads_and_tags_of_content() {
    let content = Content::new();
    let torrent = content.torrent("tree", "v1");
    let page = served(&content, &torrent);
    let whole = path(2);
    let (head, body) = ask(&page, &format!("HEAD {whole}"), &[]);
    assert_eq!((head.status, body.len()), (200, 0));
    assert_eq!(head.header("content-length"), Some("12345"));
    assert_eq!(head.header("accept-ranges"), Some("bytes"));
    let tag = head.header("etag").unwrap().to_owned();
    let ask = |headers: &[(&str, &str)]| {
        let (head, body) = ask(&page, &format!("GET {whole}"), headers);
        (head.status, body.len())
    };
    assert_eq!(
        ask(&[("Range", "bytes=0-9"), ("If-Range", &tag)]),
        (206, 10)
    );
    let other = ("If-Range", "\"other\"");
    assert_eq!(ask(&[("Range", "bytes=0-9"), other]), (200, 12_345));
    assert_eq!(ask(&[("If-None-Match", &tag)]), (304, 0));
    assert_eq!(ask(&[("Range", "bytes=12345-")]).0, 416);
    assert_eq!(ask(&[("Range", "lines=1-2")]), (200, 12_345));
    // Compressed, the bytes would not be those of the range.
    let gzip = ("Accept-Encoding", "gzip");
    assert_eq!(ask(&[("Range", "bytes=100-5099"), gzip]), (206, 5000));
    for (number, status) in [("3", 404), ("4294967296", 404), ("x", 400)] {
        let path = format!("/api/v1/torrents/0/files/{number}/content");
        assert_eq!(page.get(&path).status, status, "{number}");
    }
    assert_eq!(page.get("/api/v1/torrents/7/files/0/content").status, 404);
}

/// Browsers run nothing that a torrent contains: its pages and scripts would have the rights of this page.
#[test]
fn files_of_a_torrent_run_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let content = folder.path().join("site");
    fs::create_dir(&content).unwrap();
    for name in ["a.html", "b.js", "c.svg", "d.mp4", "e \"quoted\" é.txt"] {
        fs::write(content.join(name), "<script>alert(1)</script>").unwrap();
    }
    let torrent = Content::torrent_of(&content, "v1", &[]);
    let page = Page::of(Peer::seed_with(
        &[&torrent],
        folder.path(),
        &["--http", "0"],
    ));
    page.wait_for(torrent_is("serving"));
    let described = |number| {
        let (head, _) = ask(&page, &format!("HEAD {}", path(number)), &[]);
        let text = |name| head.header(name).unwrap().to_owned();
        assert!(text("content-security-policy").starts_with("sandbox; default-src 'none'"));
        assert_eq!(text("x-content-type-options"), "nosniff");
        (text("content-type"), text("content-disposition"))
    };
    for number in 0..3 {
        let (kind, place) = described(number);
        assert_eq!(kind, "application/octet-stream");
        assert!(place.starts_with("attachment; "), "{place}");
    }
    let (kind, place) = described(3);
    assert_eq!(kind, "video/mp4");
    assert_eq!(place, "inline; filename*=UTF-8''d.mp4");
    let (kind, place) = described(4);
    assert_eq!(kind, "text/plain; charset=utf-8");
    let name = "inline; filename*=UTF-8''e%20%22quoted%22%20%C3%A9.txt";
    assert_eq!(place, name);
}

fn done(page: &Page) -> u64 {
    let all = page.get("/api/v1/torrents").json();
    all["torrents"][0]["done_bytes"].as_u64().unwrap()
}

/// The end of a file that downloads slowly comes as soon as it is asked for, and so does its start. All of it is right.
#[test]
fn a_file_is_read_while_it_downloads() {
    for version in ["v1", "v2"] {
        let content = Content::new();
        let torrent = content.torrent("tree", version);
        let seed = Peer::seed(&[&torrent], content.path());
        let folder = tempfile::tempdir().unwrap();
        let page = slow_download(&torrent, folder.path(), &seed);
        page.wait_for(torrent_is("downloading"));
        // The whole would take the best part of a minute: three places arrive before it on a busy machine, too.
        page.change("PATCH /api/v1/config", r#"{"max_down": 51200}"#);
        let expected = fs::read(content.path().join("tree/a.bin")).unwrap();
        let len = expected.len();
        for start in [len - 20_000, 0, len / 2] {
            let range = format!("bytes={start}-{}", start + 19_999);
            let (head, body) = read_range(&page, 0, &range);
            assert_eq!(head.status, 206);
            assert!(body == expected[start..start + 20_000], "{version} {start}");
        }
        // In any other order, three places would have needed most of the file.
        let done = done(&page);
        assert!(done < content.len_of("tree") * 3 / 4, "{version}: {done}");
        page.change("PATCH /api/v1/config", r#"{"max_down": null}"#);
        let (head, body) = ask(&page, &format!("GET {}", path(0)), &[]);
        assert_eq!(head.status, 200);
        assert!(body == expected, "{version}");
        page.wait_for(torrent_is("serving"));
        assert_eq!(page.peer.interrupt().code, Some(0), "{version}");
    }
}

/// A file that is not selected is not downloaded because somebody looks at it. Nothing arrives for one whose torrent is gone.
#[test]
fn files_that_never_arrive() {
    let content = Content::new();
    let torrent = content.torrent("tree", "v1");
    let seed = Peer::seed(&[&torrent], content.path());
    let folder = tempfile::tempdir().unwrap();
    let page = slow_download(&torrent, folder.path(), &seed);
    page.wait_for(torrent_is("downloading"));
    let command = json!({"action": "prioritize", "files": [2], "priority": "skip"});
    assert_eq!(page.apply(0, &command), 202);
    page.wait_for(|_| {
        page.get("/api/v1/torrents/0/files").json()["files"][2]["priority"] == "skip"
    });
    let refused = page.get(&path(2));
    assert_eq!(refused.status, 409);
    assert!(refused.body.contains("not selected"), "{refused:?}");

    // The answer has begun, and ends early with the torrent.
    let own = [("Authorization", page.bearer())];
    let request = format!("GET {}", path(0));
    let (mut reader, head) = open(page.address, &request, &own, "");
    assert_eq!(head.header("content-length"), Some("2500000"));
    assert_eq!(page.apply(0, &json!({"action": "remove"})), 202);
    let mut body = Vec::new();
    // The connection may be reset.
    let _ = reader.read_to_end(&mut body);
    assert!(body.len() < 2_500_000, "{}", body.len());
    assert!(Path::new(&folder.path().join("tree")).exists());
}
