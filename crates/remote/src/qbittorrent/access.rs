//! Who may use the server: its names, and pages of other sites.

use axum::http::HeaderMap;
use axum::http::header::{HOST, HeaderName, ORIGIN, REFERER};

const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");

/// Returns `true` if a page of another site sent the request, as qBittorrent decides it: by the origin of the page if the
/// browser names one, and otherwise by the address of the page. Programs name neither.
///
/// A page cannot set `X-Forwarded-Host`, because a browser first asks the server for permission.
pub(super) fn is_cross_site(headers: &HeaderMap) -> bool {
    let text = |name: HeaderName| {
        let value = headers.get(name)?;
        // A value that is no text matches no host.
        Some(value.to_str().unwrap_or("?")).filter(|text| !text.is_empty())
    };
    let Some(page) = text(ORIGIN).or_else(|| text(REFERER)) else {
        return false;
    };
    let own = text(FORWARDED_HOST).or_else(|| text(HOST));
    let page = page.split_once("://").map(|(_, rest)| {
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        &rest[..end]
    });
    match (page, own) {
        (Some(page), Some(own)) => !page.eq_ignore_ascii_case(own),
        _ => true,
    }
}
