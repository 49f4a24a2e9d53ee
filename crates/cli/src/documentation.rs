//! The published documentation. Help and messages name its pages only by these functions, because an installed program has
//! no folder `docs`.

/// The address of the documentation, empty before the first release.
const ADDRESS: &str = env!("CARGO_PKG_HOMEPAGE");

/// Returns the address of a page of the reference, or its name while there is no address.
pub(crate) fn page(name: &str) -> String {
    page_at(ADDRESS, name)
}

fn page_at(address: &str, name: &str) -> String {
    if address.is_empty() {
        return format!("the page \"{name}\" of the documentation");
    }
    let address = address.trim_end_matches('/');
    format!("{address}/reference/{name}.html")
}

/// Returns the help of `--json`, with the address or the name of its page.
pub(crate) fn json_help() -> String {
    format!("Print JSON lines, as described in {}", page("json"))
}

/// Returns the help of `--config`, with the address or the name of its page.
pub(crate) fn config_help() -> String {
    let page = page("config");
    format!(
        "Configuration file to read instead of the user's and the system's file, `/dev/null` for none, as described in {page}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_an_address_after_the_first_release() {
        let expected = "https://hashlane.example/docs/reference/json.html";
        for address in [
            "https://hashlane.example/docs",
            "https://hashlane.example/docs/",
        ] {
            assert_eq!(page_at(address, "json"), expected);
        }
        assert_eq!(
            page_at("", "json"),
            "the page \"json\" of the documentation"
        );
    }
}
