//! The report of a torrent that is planned or created.

use std::io::Write;

use hashlane_metainfo::{File, FileKind, Naming, NewFile, Torrent, Version};
use serde::Serialize;

use super::plan::{Draft, NotWritten};
use crate::Env;
use crate::links::{Link, Passkeys};
use crate::output::json_lines::{self, PathText};
use crate::output::text::{self, Escaped, Grouped, Palette, Shown, Styled, count};
use hashlane_api::Size;

/// Maximum number of junk names to print.
const MAX_NAMED: usize = 3;

/// The form of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Text,
    /// A line for each of several torrents.
    Line,
    Json,
}

/// A line of `--json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line<'l> {
    File {
        /// Path in the torrent, as above.
        #[serde(flatten)]
        path: PathText,
        /// Length in bytes.
        length: u64,
        /// For a link, its target relative to the content root: `path` and `path_hex`.
        #[serde(skip_serializing_if = "Option::is_none")]
        target: Option<PathText>,
    },
    Planned(&'l Summary<'l>),
    Created(&'l Created<'l>),
}

/// Returns the schema of the lines.
#[cfg(feature = "schema")]
pub(crate) fn schema() -> schemars::Schema {
    json_lines::schema_of::<Line<'_>>()
}

/// The facts that are known without hashing.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Summary<'s> {
    /// The file or folder, as given.
    path: String,
    /// Path of the new .torrent file.
    torrent: String,
    /// `v1`, `v2` or `hybrid`.
    version: &'static str,
    /// Why the torrent is version 1 only; present only if no format was given and the torrent is not a hybrid.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'s str>,
    /// The torrent's name.
    name: String,
    /// Number of files, without padding.
    files: usize,
    /// Total length of all files.
    content_bytes: u64,
    /// Padding between the files of a hybrid.
    padding_bytes: u64,
    /// Length of every piece except the last.
    piece_length: u32,
    /// Number of pieces.
    pieces: u32,
    /// The items that the torrent leaves out, as below.
    left_out: LeftOut,
}

/// A torrent that was created.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Created<'c> {
    #[serde(flatten)]
    summary: Summary<'c>,
    /// 40 hexadecimal digits; null without version 1.
    info_hash_v1: Option<String>,
    /// 64 hexadecimal digits; null without version 2.
    info_hash_v2: Option<String>,
    /// The magnet link, without URLs that have passkeys and without sources of a private torrent, unless
    /// `--show-passkey` is given.
    magnet: String,
    /// A note about the URLs that the magnet link lacks.
    #[serde(skip)]
    link_note: Option<String>,
    /// Number of names (of files and of the content) that libtorrent changes on disk.
    changed_names: usize,
    /// Number of symbolic links to a folder that contains the link; other programs cannot check such links.
    circular_links: usize,
    /// Elapsed time of hashing.
    elapsed_seconds: f64,
}

/// Numbers of files, folders and URLs that are not in the torrent, and the junk by name.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct LeftOut {
    /// Number of files and folders that a pattern leaves out.
    excluded: usize,
    /// Number of files of Hashlane itself, such as the catalogue of an archive.
    own: usize,
    /// Number of files and folders that `--no-hidden` leaves out.
    hidden: usize,
    /// Number of symbolic links that `--links skip` leaves out.
    links: usize,
    /// Files and folders that are never content, each with `path` and `path_hex`.
    junk: Vec<PathText>,
    /// Number of DHT nodes that are not written because the torrent is private.
    nodes: usize,
    /// Number of web seeds that are not written because the torrent is private.
    web_seeds: usize,
}

impl<'s> Summary<'s> {
    fn of(draft: &'s Draft, not_written: NotWritten) -> Self {
        let content = &draft.content;
        let left_out = draft.found.tree.left_out();
        let junk = draft.found.junk.iter();
        Self {
            path: draft.path.to_string_lossy().into_owned(),
            torrent: draft.target.given.to_string_lossy().into_owned(),
            version: text::version(content.version()),
            note: draft.note.as_deref(),
            name: String::from_utf8_lossy(&draft.name).into_owned(),
            files: content.files().len(),
            content_bytes: draft.found.tree.length(),
            padding_bytes: content.padding_bytes(),
            piece_length: content.lengths().piece_length().get(),
            pieces: content.lengths().piece_count(),
            left_out: LeftOut {
                excluded: left_out.excluded,
                own: left_out.own,
                hidden: left_out.hidden,
                links: left_out.links,
                junk: junk
                    .map(|path| PathText::of_bytes(path.as_os_str().as_encoded_bytes()))
                    .collect(),
                nodes: not_written.nodes,
                web_seeds: not_written.web_seeds,
            },
        }
    }
}

/// Reports a torrent that is only planned, with its files.
pub(super) fn planned(
    env: &mut Env,
    draft: &Draft,
    not_written: NotWritten,
    form: Form,
) -> anyhow::Result<()> {
    let summary = Summary::of(draft, not_written);
    if form == Form::Json {
        for file in draft.content.files() {
            let line = Line::File {
                path: PathText::of_bytes(&file.path.join(&b'/')),
                length: file.length,
                target: file
                    .target
                    .as_ref()
                    .map(|target| PathText::of_bytes(&target.join(&b'/'))),
            };
            json_lines::print(env, &line)?;
        }
        return json_lines::print(env, &Line::Planned(&summary));
    }
    let palette = Palette::new(env.color);
    let out = &mut env.stdout;
    let title = Styled(palette.strong, Shown(&draft.target.given));
    writeln!(out, "{title} (not written)")?;
    print_content(out, palette, draft.content.version(), &summary)?;
    print_left_out(out, palette, draft, &summary.left_out)?;
    writeln!(out)?;
    for file in draft.content.files() {
        print_file(out, file)?;
    }
    Ok(())
}

fn print_file(out: &mut dyn Write, file: &NewFile) -> anyhow::Result<()> {
    let joined = |path: &[Vec<u8>]| String::from_utf8_lossy(&path.join(&b'/')).into_owned();
    let path = joined(&file.path);
    match &file.target {
        None => writeln!(out, "  {:>10}  {}", Size(file.length), Escaped(path))?,
        Some(target) => {
            let target = joined(target);
            let (path, target) = (Escaped(path), Escaped(target));
            writeln!(out, "  {:>10}  {path} -> {target}", "link")?;
        }
    }
    Ok(())
}

/// Reports a torrent that was written.
pub(super) fn created(
    env: &mut Env,
    draft: &Draft,
    not_written: NotWritten,
    torrent: &Torrent,
    passkeys: Passkeys,
    elapsed_seconds: f64,
    form: Form,
) -> anyhow::Result<()> {
    let link = Link::of(torrent, passkeys);
    let created = Created {
        summary: Summary::of(draft, not_written),
        info_hash_v1: torrent.info_hashes().v1().map(|hash| hash.to_string()),
        info_hash_v2: torrent.info_hashes().v2().map(|hash| hash.to_string()),
        magnet: link.magnet.to_string(),
        link_note: link.note(),
        changed_names: changed_names(torrent),
        circular_links: circular_links(torrent),
        elapsed_seconds,
    };
    if form == Form::Json {
        return json_lines::print(env, &Line::Created(&created));
    }
    if form == Form::Line {
        return print_line(env, draft, &created);
    }
    print(env, draft, &created)
}

/// Returns the programs that cannot open torrents of this version, and the option that creates others.
pub(super) fn other_programs(version: Version) -> Option<&'static str> {
    match version {
        Version::V1 => None,
        Version::Hybrid => Some("Transmission 3 cannot open hybrids: --format v1"),
        Version::V2 => Some("programs without BEP 52 cannot open version 2: --format hybrid"),
    }
}

/// Prints a torrent that was written on one line.
fn print_line(env: &mut Env, draft: &Draft, created: &Created<'_>) -> anyhow::Result<()> {
    let palette = Palette::new(env.color);
    let summary = &created.summary;
    let LeftOut {
        excluded,
        own,
        hidden,
        links,
        junk,
        nodes,
        web_seeds,
    } = &summary.left_out;
    let n_left_out = excluded + own + hidden + links + junk.len();
    let n_urls = nodes + web_seeds;
    let notes = [
        (n_left_out > 0).then(|| format!("{} left out", Grouped(n_left_out as u64))),
        (n_urls > 0).then(|| format!("{} left out", count(n_urls as u64, "URL"))),
        (created.changed_names > 0).then(|| {
            format!(
                "libtorrent changes {}",
                count(created.changed_names as u64, "name")
            )
        }),
        (created.circular_links > 0).then(|| count(created.circular_links as u64, "circular link")),
    ];
    let notes: Vec<String> = notes.into_iter().flatten().collect();
    let notes = match &notes[..] {
        [] => String::new(),
        notes => format!("  ({})", notes.join(", ")),
    };
    let (version, size) = (summary.version, Size(summary.content_bytes));
    let torrent = Shown(&draft.target.given);
    Ok(writeln!(
        env.stdout,
        "{version:<6}  {size:>9}  {torrent}{}",
        Styled(palette.partial, notes)
    )?)
}

fn changed_names(torrent: &Torrent) -> usize {
    let foreign = torrent.foreign_paths(Naming::Libtorrent);
    foreign.indexes().len() + usize::from(foreign.name().is_some())
}

/// Returns the number of links to a folder that contains the link.
fn circular_links(torrent: &Torrent) -> usize {
    let is_circular = |file: &File<'_>| match file.kind() {
        FileKind::Symlink { target } => {
            let n_names = target.components().count();
            file.path()
                .components()
                .take(n_names)
                .eq(target.components())
        }
        FileKind::Regular | FileKind::Padding => false,
    };
    torrent.files().iter().filter(is_circular).count()
}

fn print(env: &mut Env, draft: &Draft, created: &Created<'_>) -> anyhow::Result<()> {
    let palette = Palette::new(env.color);
    let out = &mut env.stdout;
    let summary = &created.summary;
    writeln!(
        out,
        "{}",
        Styled(palette.strong, Shown(&draft.target.given))
    )?;
    for (info_hash, note) in [
        (&created.info_hash_v1, ""),
        (&created.info_hash_v2, " (version 2)"),
    ] {
        if let Some(info_hash) = info_hash {
            writeln!(out, "  info-hash  {info_hash}{note}")?;
        }
    }
    print_content(out, palette, draft.content.version(), summary)?;
    if created.changed_names > 0 {
        let names = count(created.changed_names as u64, "name");
        let note = format!("libtorrent changes {names} on disk");
        writeln!(out, "  names      {}", Styled(palette.partial, note))?;
    }
    if created.circular_links > 0 {
        let links = count(created.circular_links as u64, "link");
        let note =
            format!("{links} to a folder around the link, which other programs cannot check");
        writeln!(out, "  links      {}", Styled(palette.partial, note))?;
    }
    print_left_out(out, palette, draft, &summary.left_out)?;
    writeln!(out, "  magnet     {}", created.magnet)?;
    if let Some(note) = &created.link_note {
        writeln!(out, "             {}", Styled(palette.partial, note))?;
    }
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let rate = summary.content_bytes as f64 / created.elapsed_seconds.max(f64::EPSILON) / 1e9;
    writeln!(
        out,
        "  hashed in {:.3} s, {rate:.2} GB/s",
        created.elapsed_seconds
    )?;
    Ok(())
}

/// Prints the rows about the size and the format.
fn print_content(
    out: &mut dyn Write,
    palette: Palette,
    version: Version,
    summary: &Summary<'_>,
) -> anyhow::Result<()> {
    writeln!(
        out,
        "  content    {} in {}, {} of {}",
        Size(summary.content_bytes),
        count(summary.files as u64, "file"),
        count(summary.pieces.into(), "piece"),
        Size(summary.piece_length.into()),
    )?;
    if summary.padding_bytes > 0 {
        writeln!(out, "  padding    {}", Size(summary.padding_bytes))?;
    }
    if let Some(note) = summary.note {
        writeln!(out, "  format     {}", Styled(palette.partial, note))?;
    }
    if let Some(note) = other_programs(version) {
        let note = format!("{}; {note}", summary.version);
        writeln!(out, "  format     {}", Styled(palette.partial, note))?;
    }
    Ok(())
}

/// Prints the rows about items that are not in the torrent.
fn print_left_out(
    out: &mut dyn Write,
    palette: Palette,
    draft: &Draft,
    left_out: &LeftOut,
) -> anyhow::Result<()> {
    let files = [
        (left_out.excluded, "excluded"),
        (left_out.own, "of Hashlane itself"),
        (left_out.hidden, "hidden"),
        (left_out.links, "symbolic links"),
    ];
    let files = files.into_iter().filter(|(n, _)| *n > 0);
    let files: Vec<String> = files
        .map(|(n, what)| format!("{} {what}", Grouped(n as u64)))
        .collect();
    if !files.is_empty() {
        let files = files.join(", ");
        writeln!(out, "  left out   {}", Styled(palette.partial, files))?;
    }
    let junk = &draft.found.junk;
    if !junk.is_empty() {
        let names = junk.iter().take(MAX_NAMED);
        let names: Vec<String> = names.map(|path| Shown(path).to_string()).collect();
        let more = if junk.len() > MAX_NAMED { ", ..." } else { "" };
        let n = Grouped(junk.len() as u64);
        let note = format!("{n} left out: {}{more} (see --keep-junk)", names.join(", "));
        writeln!(out, "  junk       {}", Styled(palette.partial, note))?;
    }
    let urls = [
        (left_out.nodes, "DHT node"),
        (left_out.web_seeds, "web seed"),
    ];
    let urls = urls.into_iter().filter(|(n, _)| *n > 0);
    let urls: Vec<String> = urls.map(|(n, what)| count(n as u64, what)).collect();
    if !urls.is_empty() {
        let note = format!(
            "{} left out, as for every private torrent",
            urls.join(" and ")
        );
        writeln!(out, "  private    {}", Styled(palette.partial, note))?;
    }
    Ok(())
}
