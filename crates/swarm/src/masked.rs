//! URLs of trackers without passwords and passkeys, for logs, messages and pages.
//!
//! A private tracker recognises its user by a key in the path or the query of its URL.

/// The sign that stands for a secret.
const MASK: &str = "***";

/// Length from which a part of a path with a digit counts as a key.
const MIN_KEY_LEN: usize = 8;

/// Length from which any part of a path counts as a key.
const MIN_LONG_KEY_LEN: usize = 16;

/// Returns a text in which every URL is masked as by [`masked_url`].
pub(crate) fn masked_text(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(mark) = rest.find("://") {
        let is_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
        let scheme = rest[..mark].trim_end_matches(is_scheme).len();
        let ends = |c: char| c.is_whitespace() || c.is_control() || "\"'<>".contains(c);
        let after = mark + "://".len();
        let end = rest[after..]
            .find(ends)
            .map_or(rest.len(), |len| after + len);
        // A message that follows a URL is separated by a colon.
        let url = rest[scheme..end].trim_end_matches(':');
        masked.push_str(&rest[..scheme]);
        masked.push_str(&masked_url(url));
        rest = &rest[scheme + url.len()..];
    }
    masked.push_str(rest);
    masked
}

/// Returns a URL without its password, without keys in its path, and without the values of its query.
pub(crate) fn masked_url(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    // RFC 3986, section 3: the authority, the path, the query and the fragment end with these.
    let (authority, rest) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let (path, query) = rest.split_at(rest.find(['?', '#']).unwrap_or(rest.len()));
    let path: Vec<&str> = path.split('/').map(masked_segment).collect();
    format!(
        "{scheme}://{}{}{}",
        masked_authority(authority),
        path.join("/"),
        masked_query(query)
    )
}

fn masked_authority(authority: &str) -> String {
    match authority.rsplit_once('@') {
        Some((login, host)) => match login.split_once(':') {
            Some((user, _)) => format!("{user}:{MASK}@{host}"),
            None => authority.to_owned(),
        },
        None => authority.to_owned(),
    }
}

fn masked_segment(segment: &str) -> &str {
    let has_digit = segment.bytes().any(|byte| byte.is_ascii_digit());
    let is_key = segment.len() >= MIN_LONG_KEY_LEN || segment.len() >= MIN_KEY_LEN && has_digit;
    if is_key { MASK } else { segment }
}

/// Masks the values of a query or fragment, which is empty or begins with its mark.
fn masked_query(query: &str) -> String {
    let Some(mark) = query.chars().next() else {
        return String::new();
    };
    let fields = query[mark.len_utf8()..].split('&');
    let fields = fields.map(|field| match field.split_once('=') {
        Some((name, _)) => format!("{name}={MASK}"),
        None if field.len() >= MIN_KEY_LEN => MASK.to_owned(),
        None => field.to_owned(),
    });
    format!("{mark}{}", fields.collect::<Vec<_>>().join("&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_masked() {
        const KEY: &str = "0123456789abcdef0123456789abcdef";
        for (url, shown) in [
            ("udp://tracker.example:6969", "udp://tracker.example:6969"),
            (
                "http://tracker.example:80/announce",
                "http://tracker.example:80/announce",
            ),
            (
                &format!("https://t.example/{KEY}/announce"),
                "https://t.example/***/announce",
            ),
            (
                "http://t.example/a1b2c3d4/announce",
                "http://t.example/***/announce",
            ),
            (
                &format!("https://t.example/announce.php?passkey={KEY}&x=1"),
                "https://t.example/announce.php?passkey=***&x=***",
            ),
            (
                &format!("http://t.example/announce?{KEY}"),
                "http://t.example/announce?***",
            ),
            (
                "http://u:p@t.example/announce",
                "http://u:***@t.example/announce",
            ),
            ("no URL", "no URL"),
        ] {
            assert_eq!(masked_url(url), shown);
        }
        let text = format!("http://t.example/{KEY}/announce: see <http://t.example/?k={KEY}>");
        assert_eq!(
            masked_text(&text),
            "http://t.example/***/announce: see <http://t.example/?k=***>"
        );
        assert_eq!(masked_text("no URL: a"), "no URL: a");
        assert_eq!(masked_text("://"), "://");
    }

    #[test]
    fn characters_are_not_cut() {
        for text in [
            "http://h/?éééééééééé",
            "é://é/ééééééééééé?é=é",
            "?é://",
            "http://h?é&ééééééééé",
        ] {
            let _ = masked_text(text);
        }
    }
}
