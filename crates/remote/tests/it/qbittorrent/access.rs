//! Logins, and who may use the server.

use std::net::SocketAddr;
use std::sync::Arc;

use hashlane_remote::{Listen, ListenError, Login, serve_qbittorrent};
use serde_json::Value;

use super::{MAX_METAINFO_LEN, Served, demo, text_of};
use crate::client::Client;
use crate::transmission::listen;

fn with_login() -> Listen {
    Listen {
        login: Some(Login::new("user", "password").unwrap().into()),
        ..listen()
    }
}

#[test]
fn a_session_starts_with_a_login() {
    let mut served = Served::new(with_login());
    for path in ["app/version", "torrents/info", "nothing/there"] {
        assert_eq!(served.get(path).status(), 403, "{path}");
        assert_eq!(served.refused(path, &[]).0, 403, "{path}");
    }
    assert_eq!(served.get("auth/login").status(), 405);
    for wrong in [
        &[("username", "user"), ("password", "wrong")][..],
        &[("username", "other"), ("password", "password")],
        &[("username", "user")],
        &[],
    ] {
        let answer = served.send_form("auth/login", wrong);
        assert!(answer.headers().get("set-cookie").is_none());
        assert_eq!(text_of(answer), "Fails.");
    }
    let login = [("username", "user"), ("password", "password")];
    let answer = served.send_form("auth/login", &login);
    let cookie = answer.headers()["set-cookie"].to_str().unwrap().to_owned();
    assert_eq!(text_of(answer), "Ok.");
    let (cookie, attributes) = cookie.split_once("; ").unwrap();
    assert_eq!(cookie.len(), "SID=".len() + 48);
    assert_eq!(attributes, "HttpOnly; SameSite=Strict; path=/");
    served.cookie = format!("other=1; {cookie}");
    assert_eq!(served.post("app/version", &[]), "v5.0.5");
    assert_eq!(served.get("nothing/there").status(), 404);
    let second = served.send_form("auth/login", &[]);
    assert_eq!(text_of(second), "Ok.", "the session exists");
    served.cookie = "SID=".to_owned() + &"0".repeat(48);
    assert_eq!(served.get("app/version").status(), 403);
    let other = served.send_form("auth/login", &login);
    assert_ne!(other.headers()["set-cookie"], *cookie);
    served.cookie = cookie.to_owned();
    assert_eq!(served.get("auth/logout").status(), 405);
    let ended = served.send_form("auth/logout", &[]);
    let ended = ended.headers()["set-cookie"].to_str().unwrap();
    assert!(ended.starts_with("SID=; ") && ended.ends_with("Max-Age=0"));
    assert_eq!(served.get("app/version").status(), 403);
}

#[test]
fn a_refusal_is_answered_however_long_the_request() {
    let served = Served::new(with_login());
    let body = vec![b'x'; MAX_METAINFO_LEN as usize * 20];
    for path in ["torrents/add", "nothing/there"] {
        assert_eq!(served.send(path, &[], &body).status(), 403, "{path}");
    }
}

#[test]
fn guessing_ends() {
    let served = Served::new(with_login());
    let login = |password: &str| {
        served.send_form(
            "auth/login",
            &[("username", "user"), ("password", password)],
        )
    };
    for _ in 0..10 {
        assert_eq!(text_of(login("wrong")), "Fails.");
    }
    for password in ["wrong", "password"] {
        assert_eq!(login(password).status(), 403, "{password}");
    }
}

#[test]
fn without_a_login_only_this_machine_is_served() {
    let served = Served::new(listen());
    assert_eq!(served.post("app/version", &[]), "v5.0.5");
    let login = served.send_form("auth/login", &[("username", "x"), ("password", "y")]);
    assert!(login.headers().get("set-cookie").is_some());
    assert_eq!(text_of(login), "Ok.");
    let address = SocketAddr::from(([0, 0, 0, 0], 0));
    let closed = Listen {
        endpoint: address.into(),
        ..listen()
    };
    let client = Arc::new(Client::default());
    let error = serve_qbittorrent(closed, client, MAX_METAINFO_LEN).unwrap_err();
    assert!(matches!(error, ListenError::NoLogin(_)), "{error}");
}

#[test]
fn pages_of_other_sites_are_refused() {
    let served = Served::new(Listen {
        hosts: vec!["nas".into()],
        ..listen()
    });
    let own = served.server.endpoint().address().unwrap().to_string();
    let status = |headers: &[(&str, &str)]| {
        let answer = served.send("torrents/stop", headers, b"hashes=all");
        answer.status().as_u16()
    };
    let page = format!("http://{own}");
    let below = format!("http://{own}/index.html?x");
    for allowed in [
        &[][..],
        &[("origin", page.as_str())],
        &[("referer", below.as_str())],
        &[
            ("origin", page.as_str()),
            ("referer", "http://evil.example/"),
        ],
        &[("host", "nas:8080"), ("origin", "http://nas:8080")],
        &[
            ("x-forwarded-host", "hl.example"),
            ("origin", "https://hl.example"),
        ],
    ] {
        assert_eq!(status(allowed), 200, "{allowed:?}");
    }
    let port = format!(
        "http://{}:1",
        served.server.endpoint().address().unwrap().ip()
    );
    let with_name = format!("http://{own}@evil.example");
    for refused in [
        &[("origin", "http://evil.example")][..],
        &[("origin", "null")],
        &[("origin", port.as_str())],
        &[("referer", "http://evil.example/")],
        &[("referer", with_name.as_str())],
        &[("referer", own.as_str())],
        &[
            ("origin", "http://evil.example"),
            ("referer", below.as_str()),
        ],
        &[("host", "evil.example"), ("origin", "http://evil.example")],
        &[("host", "evil.example")],
    ] {
        assert_eq!(status(refused), 401, "{refused:?}");
    }
}

#[test]
fn only_post_changes_something() {
    let served = Served::new(listen()).with_two();
    for path in [
        "torrents/stop?hashes=all",
        "torrents/delete?hashes=all&deleteFiles=true",
        "torrents/add?urls=x",
        "app/setPreferences?json={}",
        "transfer/setUploadLimit?limit=1",
    ] {
        assert_eq!(served.get(path).status(), 405, "{path}");
    }
    let request = served.agent.delete(served.url("torrents/info"));
    assert_eq!(request.call().unwrap().status(), 405);
    // The parameters of a POST are those of its body.
    assert_eq!(served.refused("torrents/stop?hashes=all", &[]).0, 400);
    assert_eq!(served.client.changes(), []);
    let rows: Value = serde_json::from_str(&served.post("torrents/info", &[])).unwrap();
    assert_eq!(rows, served.json("torrents/info"));
}

#[test]
fn hostile_requests() {
    let served = Served::new(listen()).with_two();
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let many: Vec<String> = (0..2000).map(|number| format!("a{number}=1")).collect();
    let many = many.join("&");
    for body in [
        &b"hashes=%ff%fe"[..],
        b"hashes=\xff",
        b"&&&==",
        b"%",
        b"hashes",
    ] {
        let status = served.send("torrents/stop", &form, body).status().as_u16();
        assert!([200, 400].contains(&status), "{body:?}: {status}");
    }
    assert_eq!(
        served
            .send("torrents/stop", &form, many.as_bytes())
            .status(),
        413
    );
    let multiparts = [
        (&b""[..], "multipart/form-data; boundary=X"),
        (b"--X\r\n", "multipart/form-data; boundary=X"),
        (
            b"--X\r\nContent-Disposition: form-data; name=\"urls\"\r\n\r\nabc",
            "multipart/form-data; boundary=X",
        ),
        (b"--X--\r\n", "multipart/form-data"),
        (b"--X--\r\n", "multipart/form-data; boundary="),
        (b"", "multipart/"),
        (b"", ""),
    ];
    for (body, kind) in multiparts {
        let answer = served.send("torrents/add", &[("content-type", kind)], body);
        let status = answer.status().as_u16();
        let text = text_of(answer);
        assert!(
            status == 400 || text == "Fails.",
            "{kind} {body:?}: {status} {text}"
        );
    }
    let names = tags_of(1001);
    assert_eq!(
        served.refused("torrents/createTags", &[("tags", &names)]).0,
        400
    );
    let long = "x".repeat(5000);
    assert_eq!(
        served.refused("torrents/createTags", &[("tags", &long)]).0,
        400
    );
    assert_eq!(
        served
            .refused("torrents/createCategory", &[("category", &long)])
            .0,
        400
    );
    let hash = demo();
    assert_eq!(
        served
            .refused("torrents/rename", &[("hash", &hash), ("name", &long)])
            .0,
        400
    );
    let nested = "[".repeat(100_000);
    assert_eq!(
        served.refused("app/setPreferences", &[("json", &nested)]).0,
        400
    );
    let long = vec![b'x'; 1 << 17];
    assert_eq!(served.send("auth/login", &form, &long).status(), 413);
    for path in [
        "",
        "app",
        "app/version/more",
        "../app/version",
        "app%2fversion",
        "%ff/x",
    ] {
        let status = served.get(path).status().as_u16();
        assert!([400, 404].contains(&status), "{path}: {status}");
    }
    let body = vec![b'x'; MAX_METAINFO_LEN as usize + (5 << 20)];
    let sent = served
        .agent
        .post(served.url("torrents/add"))
        .send(&body[..]);
    // The server answers before it has read everything, and may close the connection.
    assert!(sent.is_err() || sent.is_ok_and(|answer| answer.status() == 413));
    // It goes on.
    assert_eq!(served.post("torrents/count", &[]), "2");
}

fn tags_of(count: usize) -> String {
    let names: Vec<String> = (0..count).map(|number| format!("t{number}")).collect();
    names.join(",")
}
