//! Magnet links of all kinds, written and read again.

use hashlane_metainfo::{FileSelection, InfoHashV1, InfoHashV2, InfoHashes, Magnet, PeerAddress};
use proptest::prelude::*;

fn any_info_hashes() -> impl Strategy<Value = InfoHashes> {
    let v1 = any::<[u8; 20]>().prop_map(InfoHashV1::from);
    let v2 = any::<[u8; 32]>().prop_map(InfoHashV2::from);
    prop_oneof![
        v1.clone().prop_map(InfoHashes::V1),
        v2.clone().prop_map(InfoHashes::V2),
        (v1, v2).prop_map(|(v1, v2)| InfoHashes::Hybrid(v1, v2)),
    ]
}

fn any_urls() -> impl Strategy<Value = Vec<String>> {
    let url = ("[a-z][a-z0-9+.-]{0,4}://", "[!-~\u{e9}]{1,20}");
    let url = url.prop_map(|(scheme, rest)| scheme + &rest);
    let urls = proptest::collection::btree_set(url, 0..4);
    urls.prop_map(|urls| urls.into_iter().collect())
}

fn any_peers() -> impl Strategy<Value = Vec<PeerAddress>> {
    let host = prop_oneof![
        any::<std::net::Ipv4Addr>().prop_map(|address| address.to_string()),
        any::<std::net::Ipv6Addr>().prop_map(|address| address.to_string()),
        "[a-z]{1,8}\\.example".prop_map(String::from),
    ];
    let peer = (host, 1..=u16::MAX).prop_map(|(host, port)| PeerAddress::new(&host, port).unwrap());
    proptest::collection::vec(peer, 0..3)
}

fn any_selection() -> impl Strategy<Value = Option<FileSelection>> {
    let range = (any::<u32>(), 0..100_u32);
    let range = range.prop_map(|(first, more)| first..=first.saturating_add(more));
    let ranges = proptest::collection::vec(range, 0..5);
    ranges.prop_map(FileSelection::from_ranges)
}

prop_compose! {
    fn any_magnet()(
        info_hashes in any_info_hashes(),
        name in proptest::option::of(".{0,20}"),
        length in proptest::option::of(any::<u64>()),
        trackers in any_urls(),
        web_seeds in any_urls(),
        peers in any_peers(),
        dht_nodes in any_peers(),
        select_only in any_selection(),
    ) -> Magnet {
        let mut magnet = Magnet::new(info_hashes);
        magnet.name = name;
        magnet.length = length;
        magnet.trackers = trackers;
        magnet.web_seeds = web_seeds;
        magnet.peers = peers;
        magnet.dht_nodes = dht_nodes;
        magnet.select_only = select_only;
        magnet
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn what_is_written_is_read_as_the_same(magnet in any_magnet()) {
        let text = magnet.to_string();
        prop_assert!(text.is_ascii());
        prop_assert_eq!(text.parse(), Ok(magnet));
    }

    #[test]
    fn no_text_is_too_odd(start in "(magnet:\\?)?", rest in "([a-z.1-9]{0,4}[=&%:]?.{0,6}&?){0,8}") {
        if let Err(error) = (start + &rest).parse::<Magnet>() {
            prop_assert!(!error.to_string().contains(char::is_control));
        }
    }
}
