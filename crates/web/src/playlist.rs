//! The audio and video files of a torrent as a playlist (extended M3U in UTF-8).

use axum::extract::{Path, RawQuery, State as Shared};
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use hashlane_api::Priority;
use hashlane_client::{TorrentFile, TorrentKey, TorrentSnapshot};

use super::content::{extension, file_name, kind_of};
use super::links::{token_in, url};
use super::problem::Refused;
use super::state::State;

/// Maximum number of entries of a playlist.
const MAX_ENTRIES: usize = 10_000;

/// Files that players play, and browsers do not.
const PLAYED: [&str; 20] = [
    "3gp", "ac3", "aiff", "ape", "avi", "dts", "flv", "m2ts", "mka", "mp2", "mpeg", "mpg", "mts",
    "ogm", "rmvb", "ts", "vob", "wma", "wmv", "wv",
];

/// Returns the selected audio and video files of a torrent; none while its metadata is unknown.
pub(super) fn media(torrent: &TorrentSnapshot) -> impl Iterator<Item = TorrentFile> + '_ {
    let files = torrent.files(0, None);
    files.filter(|file| {
        let is_selected = file.priority != Priority::Skip && file.length_bytes > 0;
        is_selected && is_media(&file.path)
    })
}

fn is_media(path: &str) -> bool {
    let is_shown = kind_of(path).is_some_and(|kind| {
        ["audio/", "video/"]
            .iter()
            .any(|start| kind.starts_with(start))
    });
    let is_named = |other: &&str| extension(path).eq_ignore_ascii_case(other);
    is_shown || PLAYED.iter().any(is_named)
}

/// Sends the playlist of a torrent. Its URLs have the token of the request, or that of the torrent.
pub(super) async fn playlist(
    Shared(state): Shared<State>,
    Path(key): Path<TorrentKey>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    // The access control has checked this token.
    let token = token_in(query.as_deref());
    let made = state.blocking(move |state| made(state, key, &headers, token));
    match made.await {
        Ok((title, text)) => {
            let name = file_name(&format!("{title}.m3u8"));
            let headers = [
                (CONTENT_TYPE, "audio/x-mpegurl".to_owned()),
                (CONTENT_DISPOSITION, format!("attachment; {name}")),
            ];
            (headers, text).into_response()
        }
        Err(refused) => refused.into_response(),
    }
}

/// Returns the title of a torrent, and its playlist.
fn made(
    state: &State,
    key: TorrentKey,
    headers: &HeaderMap,
    token: Option<String>,
) -> Result<(String, String), Refused> {
    let torrent = state.find(key)?.torrent;
    let origin = state.origin(headers)?;
    let number = torrent.identity.number;
    let token = match token {
        Some(token) => token,
        None => state.token(number)?.secret().to_owned(),
    };
    let mut files: Vec<TorrentFile> = media(&torrent).take(MAX_ENTRIES).collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let entries = files.iter().map(|file| {
        let path = format!("files/{}/content", file.number);
        (file.path.as_str(), url(&origin, number, &path, &token))
    });
    let title = torrent.title().to_owned();
    let text = m3u(&title, entries);
    Ok((title, text))
}

/// Returns a playlist of titles and URLs.
fn m3u<'t>(title: &str, entries: impl Iterator<Item = (&'t str, String)>) -> String {
    let mut text = format!("#EXTM3U\n#PLAYLIST:{}\n", in_one_line(title));
    for (title, url) in entries {
        // The duration is not known.
        text.extend(["#EXTINF:-1,", &in_one_line(title), "\n", &url, "\n"]);
    }
    text
}

/// Returns a name without line breaks and other control characters.
fn in_one_line(name: &str) -> String {
    let is_break = |c: char| c.is_control() || ['\u{2028}', '\u{2029}'].contains(&c);
    name.replace(is_break, "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_players_play() {
        for path in ["a.mp3", "b/c.MKV", "a.avi", "x.y.Ts", "a.webm"] {
            assert!(is_media(path), "{path}");
        }
        for path in ["", "mp3", "a.txt", "a.png", "a.", "avi/a", "a.mkv.part"] {
            assert!(!is_media(path), "{path}");
        }
    }

    /// A name is in the line of its title, whatever it contains.
    #[test]
    fn names_cannot_add_lines() {
        for c in (0..=0x2030).filter_map(char::from_u32) {
            let title = format!("{c}http://a.example/{c}#EXTINF:1,{c}");
            let text = m3u(&title, [(title.as_str(), "URL".to_owned())].into_iter());
            let lines: Vec<_> = text.split(['\n', '\r', '\u{85}', '\u{2028}']).collect();
            assert_eq!(lines.len(), 5, "{text:?}");
            assert_eq!((lines[0], lines[3], lines[4]), ("#EXTM3U", "URL", ""));
            assert!(lines[1].starts_with("#PLAYLIST:") && lines[2].starts_with("#EXTINF:-1,"));
        }
    }
}
