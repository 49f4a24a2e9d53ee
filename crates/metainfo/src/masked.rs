//! URLs without passwords and passkeys, for logs, messages, links and pages.
//!
//! A private tracker recognises its user by a key in the path or the query of its URL. A key is recognised by its
//! place and its length.

/// The replacement for a secret.
const MASK: &str = "***";

/// Length from which a part of a path with a digit counts as a key.
const MIN_KEY_LEN: usize = 8;

/// Length from which any part of a path counts as a key.
const MIN_LONG_KEY_LEN: usize = 16;

/// Returns a text in which every URL is masked as by [`masked_url`].
pub fn masked_text(text: &str) -> String {
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

/// Returns the URL of a tracker with `***` for its password, for keys in its path, and for the values of its query.
pub fn masked_url(url: &str) -> String {
    masked(url, masked_segment, |_| true)
}

/// Returns the URL of a web seed with `***` for its password, and for keys in its query. The path is kept, because its
/// file names can look like keys.
pub fn masked_web_seed(url: &str) -> String {
    masked(url, |segment| segment, is_long_key)
}

/// Masks the password of a URL, the segments of its path by a function, and the values of its query that are secret.
fn masked(url: &str, segment: fn(&str) -> &str, is_secret: fn(&str) -> bool) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    // RFC 3986, section 3: the authority, the path, the query and the fragment end with these.
    let (authority, rest) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let (path, query) = rest.split_at(rest.find(['?', '#']).unwrap_or(rest.len()));
    let path: Vec<&str> = path.split('/').map(segment).collect();
    format!(
        "{scheme}://{}{}{}",
        masked_authority(authority),
        path.join("/"),
        masked_query(query, is_secret)
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

/// Returns `true` if a value is long and has only characters of keys and signatures. File names rarely look like this.
fn is_long_key(value: &str) -> bool {
    let is_of_key = |c: char| c.is_ascii_alphanumeric() || "-_=%+".contains(c);
    let has_digit = value.bytes().any(|byte| byte.is_ascii_digit());
    value.len() >= MIN_LONG_KEY_LEN && has_digit && value.chars().all(is_of_key)
}

/// Masks the secret values of a query or fragment, which is empty or begins with its mark.
fn masked_query(query: &str, is_secret: fn(&str) -> bool) -> String {
    let Some(mark) = query.chars().next() else {
        return String::new();
    };
    let fields = query[mark.len_utf8()..].split('&');
    let fields = fields.map(|field| match field.split_once('=') {
        Some((name, value)) if is_secret(value) => format!("{name}={MASK}"),
        None if field.len() >= MIN_KEY_LEN && is_secret(field) => MASK.to_owned(),
        _ => field.to_owned(),
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
    fn paths_of_web_seeds_remain() {
        const KEY: &str = "0123456789abcdef0123456789abcdef";
        for (url, shown) in [
            (
                "https://h.example/a-long-name-of-2020/file.mkv?file=the%20name.mkv",
                "https://h.example/a-long-name-of-2020/file.mkv?file=the%20name.mkv",
            ),
            (
                &format!("https://u:p@h.example/f?token={KEY}&x=1"),
                "https://u:***@h.example/f?token=***&x=1",
            ),
            (
                &format!("https://h.example/f?{KEY}"),
                "https://h.example/f?***",
            ),
        ] {
            assert_eq!(masked_web_seed(url), shown);
        }
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
