//! Reads the list of files of a version 1 torrent (BEP 3).

use std::borrow::Cow;

use super::{Entry, FileFields, Files, PADDING_PATH, PADDING_PREFIX, Path, StoredKind, unique};
use crate::located::Located;
use crate::{Error, TorrentPath, path};

/// The files, from either of the two forms of BEP 3.
pub(crate) struct FileList<'a> {
    /// Byte offset of the length of the single file, or of the list of files.
    pub(crate) offset: usize,
    pub(crate) is_single_file: bool,
    pub(crate) files: Files<'a>,
}

impl<'a> FileList<'a> {
    /// Reads `length` or `files`. Returns `None` if the info dictionary has neither.
    pub(crate) fn read(info: &Located<'a>, name: &Located<'a>) -> Result<Option<Self>, Error> {
        let [length, files] = info.pick(["length", "files"])?;
        match (length, files) {
            (None, None) => Ok(None),
            (Some(_), Some(_)) => Err(Error::LengthAndFiles {
                offset: info.offset(),
            }),
            (Some(length), None) => {
                let file = path::read::name(name)?;
                let is_renamed = matches!(file, Cow::Owned(_));
                let path = match file {
                    Cow::Borrowed(_) => name.encoded().into(),
                    Cow::Owned(name) => path::encode([name]).into(),
                };
                let entry = read_entry(info, Some((path, is_renamed)), 0)?;
                Ok(Some(Self {
                    offset: length.offset(),
                    is_single_file: true,
                    files: Files {
                        entries: vec![entry],
                        folders: Vec::new(),
                    },
                }))
            }
            (None, Some(list)) => Ok(Some(Self {
                offset: list.offset(),
                is_single_file: false,
                files: read_files(&list)?,
            })),
        }
    }
}

fn read_files<'a>(list: &Located<'a>) -> Result<Files<'a>, Error> {
    // The items are counted first, so that the vector never has spare capacity.
    let mut entries: Vec<Entry<'a>> = Vec::with_capacity(list.items()?.count());
    for item in list.items()? {
        let [path, path_utf8] = item.pick(["path", "path.utf-8"])?;
        let path = match path_utf8.or(path) {
            Some(list) => {
                let path = path::read::list(&list)?;
                let is_renamed = matches!(path, Cow::Owned(_));
                Some((path, is_renamed))
            }
            None => None,
        };
        let offset = entries.last().map_or(0, Entry::end);
        entries.push(read_entry(&item, path, offset)?);
    }
    if entries.is_empty() {
        return Err(Error::NoFiles {
            offset: list.offset(),
        });
    }
    unique::make_paths_unique(&mut entries, list.offset())?;
    Ok(Files {
        entries,
        folders: Vec::new(),
    })
}

/// Reads the keys that both forms have. The file starts at `offset` of the content.
fn read_entry<'a>(
    dictionary: &Located<'a>,
    path: Option<(Cow<'a, [u8]>, bool)>,
    offset: u64,
) -> Result<Entry<'a>, Error> {
    let fields = FileFields::read(dictionary)?;
    let mut kind = fields.kind(dictionary)?;
    let (path, is_renamed) = match path {
        Some(path) => path,
        // libtorrent accepts padding without a path too, because the path is never used.
        None if matches!(kind, StoredKind::Padding) => (PADDING_PATH.into(), false),
        None => return Err(dictionary.missing("path")),
    };
    let file_name = TorrentPath::of_list(&path).file_name();
    if matches!(kind, StoredKind::Regular) && file_name.as_bytes().starts_with(PADDING_PREFIX) {
        kind = StoredKind::Padding;
    }
    Ok(Entry {
        path: Path::List(path),
        is_renamed,
        length: fields.length(dictionary, &kind)?,
        offset,
        kind,
        attributes: fields.attr.attributes(),
        document_offset: dictionary.offset(),
        pieces_root: None,
        piece_layer: None,
    })
}
