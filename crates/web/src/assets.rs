//! The files of the page.
//!
//! The page itself is always asked for. What it loads is in a folder whose name changes with the files, so that browsers keep it.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::LazyLock;

use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::routing::get;
use axum::{Extension, Router};

const HTML: &str = include_str!("page/page.html");
const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// Returns the name, the type and the text of a script.
macro_rules! script {
    ($name:literal) => {
        ($name, SCRIPT, include_str!(concat!("page/", $name)))
    };
}

/// The files that the page loads: name, type and text.
const FILES: [(&str, &str, &str); 38] = [
    ("page.css", STYLE, include_str!("page/page.css")),
    ("list.css", STYLE, include_str!("page/list.css")),
    ("pane.css", STYLE, include_str!("page/pane.css")),
    ("phone.css", STYLE, include_str!("page/phone.css")),
    script!("actions.js"),
    script!("add.js"),
    script!("answers.js"),
    script!("cells.js"),
    script!("commands.js"),
    script!("detail.js"),
    script!("dialogs.js"),
    script!("dom.js"),
    script!("files.js"),
    script!("format.js"),
    script!("graph.js"),
    script!("groups.js"),
    script!("header.js"),
    script!("keyboard.js"),
    script!("list.js"),
    script!("map.js"),
    script!("menu.js"),
    script!("metainfo.js"),
    script!("overview.js"),
    script!("page.js"),
    script!("prefs.js"),
    script!("route.js"),
    script!("rows.js"),
    script!("session.js"),
    script!("settings.js"),
    script!("sidebar.js"),
    script!("store.js"),
    script!("stream.js"),
    script!("tables.js"),
    script!("targets.js"),
    script!("text.js"),
    script!("torrents.js"),
    script!("tree.js"),
    script!("virtual.js"),
];

/// The page, with the folder of its files, and the name of this folder.
static PAGE: LazyLock<(String, String)> = LazyLock::new(|| {
    let mut hasher = DefaultHasher::new();
    (HTML, FILES).hash(&mut hasher);
    let folder = format!("{:016x}", hasher.finish());
    let mut html = HTML.to_owned();
    for (name, ..) in FILES {
        for attribute in ["href", "src"] {
            let own = format!("{attribute}=\"{name}\"");
            html = html.replace(&own, &format!("{attribute}=\"{folder}/{name}\""));
        }
    }
    (html, folder)
});

/// Marks an answer that browsers keep: it is the same for everybody, and its address changes with it.
#[derive(Clone, Copy)]
pub(super) struct Kept;

/// Returns the requests for the page and its files.
pub(super) fn router<S: Clone + Send + Sync + 'static>() -> Router<S> {
    let (html, folder) = &*PAGE;
    let page = || async { ([(CONTENT_TYPE, "text/html; charset=utf-8")], html.as_str()) };
    let mut router = Router::new().route("/", get(page));
    for (name, kind, text) in FILES {
        let headers = [
            (CONTENT_TYPE, kind),
            (CACHE_CONTROL, "public, max-age=31536000, immutable"),
        ];
        let file = move || async move { (Extension(Kept), headers, text) };
        router = router.route(&format!("/{folder}/{name}"), get(file));
    }
    router
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_loads_each_file_from_the_folder() {
        let (html, folder) = &*PAGE;
        for (name, ..) in FILES {
            assert!(html.contains(&format!("=\"{folder}/{name}\"")), "{name}");
            assert!(!html.contains(&format!("=\"{name}\"")), "{name}");
        }
    }
}
