//! Output for people.

use std::io::Write;

use data_encoding::HEXLOWER;
use hashlane_metainfo::{FileKind, Magnet, MetadataRef, Torrent, masked_url, masked_web_seed};

use crate::Env;
use crate::links::{Link, Mask, Passkeys};
use crate::output::text::{Escaped, HostAndPort, Palette, Styled, count, date, size_and_bytes};
use hashlane_api::Size;

use super::charset::Charset;
use super::notes::notes;
use super::other::Other;
use super::tree;

/// Rows of a name and a value. A value can take several lines.
struct Rows<'r> {
    out: &'r mut dyn Write,
}

impl Rows<'_> {
    fn row(&mut self, name: &str, value: impl std::fmt::Display) -> anyhow::Result<()> {
        Ok(writeln!(self.out, "  {name:<10}  {value}")?)
    }

    fn rows(
        &mut self,
        name: &str,
        values: impl IntoIterator<Item = impl std::fmt::Display>,
    ) -> anyhow::Result<()> {
        let mut name = name;
        for value in values {
            self.row(name, value)?;
            name = "";
        }
        Ok(())
    }
}

pub(super) fn print_torrent(
    env: &mut Env,
    torrent: &Torrent,
    passkeys: Passkeys,
) -> anyhow::Result<()> {
    let palette = Palette::new(env.color);
    let out = &mut env.stdout;
    let charset = Charset::of(torrent);
    let name = charset.shown(torrent.name());
    writeln!(out, "{}", Styled(palette.strong, name))?;
    let mut rows = Rows { out: &mut *out };
    let keys = torrent.metadata_ref();
    let mask = passkeys.of(&keys);
    print_identity(&mut rows, torrent, &keys, &mask)?;
    if let Some(encoding) = keys.encoding {
        let is_used = charset.is_used(torrent);
        let remark = " (names are decoded here, and keep their bytes on the disk)";
        let remark = if is_used { remark } else { "" };
        let encoding = Escaped(mask.text(encoding));
        rows.row("encoding", format_args!("{encoding}{remark}"))?;
    }
    print_sources(&mut rows, &keys, &mask)?;
    rows.rows("similar", keys.similar().map(|hash| HEXLOWER.encode(hash)))?;
    let collections = keys.collections().map(|name| Escaped(mask.text(name)));
    rows.rows("collection", collections)?;
    let other_keys = torrent.other_keys();
    rows.rows(
        "other keys",
        other_keys.map(|key| Escaped(Other::of(key, &mask))),
    )?;
    let link = Link::short(torrent, passkeys);
    rows.row("magnet", &link.magnet)?;
    rows.rows("", link.note())?;
    let notes = notes(torrent);
    rows.rows(
        "note",
        notes.iter().map(|note| Styled(palette.partial, note)),
    )?;
    writeln!(out)?;
    tree::print(out, torrent, charset, env.width)
}

/// Prints the identity of the torrent: hashes, size, and the texts of its creator.
fn print_identity(
    rows: &mut Rows<'_>,
    torrent: &Torrent,
    keys: &MetadataRef<'_>,
    mask: &Mask,
) -> anyhow::Result<()> {
    let text = |text| Escaped(mask.text(text));
    rows.row("version", torrent.version())?;
    rows.rows("info-hash", torrent.info_hashes().v1())?;
    let v2 = torrent.info_hashes().v2();
    rows.rows("info-hash", v2.map(|v2| format!("{v2} (version 2)")))?;
    let lengths = torrent.lengths();
    let files = torrent.files().iter();
    let n_files = files
        .filter(|file| file.kind() != FileKind::Padding)
        .count() as u64;
    rows.row(
        "size",
        format!(
            "{} in {}, {} of {}",
            size_and_bytes(torrent.content_length()),
            count(n_files, "file"),
            count(lengths.piece_count().into(), "piece"),
            Size(lengths.piece_length().get().into()),
        ),
    )?;
    if keys.is_private {
        rows.row("private", "yes: peers may come from the trackers only")?;
    }
    rows.rows("source", keys.source.map(text))?;
    rows.rows("comment", keys.comment.map(text))?;
    rows.rows("created by", keys.created_by.map(text))?;
    rows.rows("created", keys.creation_date.map(date))
}

/// Prints the sources from which the content can be downloaded.
fn print_sources(rows: &mut Rows<'_>, keys: &MetadataRef<'_>, mask: &Mask) -> anyhow::Result<()> {
    let tracker = |url| Escaped(mask.tracker(url));
    let web_seed = |url| Escaped(mask.web_seed(url));
    let mut name = "trackers";
    for (tier, urls) in (1..).zip(keys.trackers()) {
        for url in urls.urls() {
            rows.row(name, format_args!("tier {tier}  {}", tracker(url)))?;
            name = "";
        }
    }
    let announce = keys.announce.filter(|url| {
        !keys
            .trackers()
            .any(|tier| tier.urls().any(|listed| listed == *url))
    });
    if let Some(url) = announce {
        rows.row(
            name,
            format_args!("{} (for programs that know no tiers)", tracker(url)),
        )?;
    }
    rows.rows("web seeds", keys.web_seeds().map(web_seed))?;
    rows.rows("http seeds", keys.http_seeds().map(web_seed))?;
    let nodes = keys.nodes();
    let nodes = nodes.map(|(host, port)| Escaped(HostAndPort(host, port)));
    rows.rows("DHT nodes", nodes)
}

pub(super) fn print_magnet(
    env: &mut Env,
    magnet: &Magnet,
    notes: &[String],
    passkeys: Passkeys,
) -> anyhow::Result<()> {
    let palette = Palette::new(env.color);
    let out = &mut env.stdout;
    let name = magnet.name.as_deref().unwrap_or("(no name)");
    writeln!(out, "{}", Styled(palette.strong, Escaped(name)))?;
    let mut rows = Rows { out: &mut *out };
    rows.rows("info-hash", magnet.info_hashes.v1())?;
    let v2 = magnet.info_hashes.v2();
    rows.rows("info-hash", v2.map(|v2| format!("{v2} (version 2)")))?;
    rows.rows("size", magnet.length.map(Size))?;
    let trackers = passkeys.of_link(&magnet.trackers, masked_url);
    rows.rows("trackers", trackers.map(Escaped))?;
    let web_seeds = passkeys.of_link(&magnet.web_seeds, masked_web_seed);
    rows.rows("web seeds", web_seeds.map(Escaped))?;
    rows.rows("peers", &magnet.peers)?;
    rows.rows("DHT nodes", &magnet.dht_nodes)?;
    rows.rows("files", &magnet.select_only)?;
    rows.rows(
        "note",
        notes.iter().map(|note| Styled(palette.partial, note)),
    )
}
