//! Reads the file tree of a version 2 torrent (BEP 52).
//!
//! A folder is a dictionary of names. A file is a dictionary with one empty key.

use std::borrow::Cow;

use super::unique::{self, PathSet};
use super::{Entry, FileFields, Files, Path, StoredKind};
use crate::Error;
use crate::bencode::{Kind, Token, Tokens, Value};
use crate::located::Located;
use crate::merkle::Node;
use crate::path::{Folder, component};

/// The files of a file tree.
pub(crate) struct FileTree<'a> {
    /// Byte offset of the tree.
    pub(crate) offset: usize,
    /// Whether there is exactly one file and no folder.
    pub(crate) is_single_file: bool,
    pub(crate) files: Files<'a>,
}

/// A folder whose entries are being read.
struct OpenFolder<'a> {
    /// Index of the folder; `None` for the root.
    folder: Option<u32>,
    /// Whether the name of the folder or of a folder around it was replaced.
    is_renamed: bool,
    /// The tokens of the folder, starting at its first name.
    tokens: Tokens<'a>,
    /// All names in the folder, collected when the first name is replaced: the new name must differ
    /// from all others.
    names: Option<PathSet>,
}

impl<'a> FileTree<'a> {
    /// Reads a file tree, whose keys are sorted. Files that are not empty start at multiples of
    /// `piece_length` in the content.
    pub(crate) fn read(tree: &Located<'a>, piece_length: u64) -> Result<Self, Error> {
        tree.entries()?;
        let (n_files, n_folders) = count(tree.value());
        let mut reader = Reader {
            files: Files {
                entries: Vec::with_capacity(n_files),
                folders: Vec::with_capacity(n_folders),
            },
            piece_length,
            n_tries: 0,
        };
        reader.read(tree.value())?;
        let files = reader.files;
        if files.is_empty() {
            return Err(Error::NoFiles {
                offset: tree.offset(),
            });
        }
        // An empty folder next to the file counts, as in libtorrent: it must be created.
        let is_single_file = tree.entries()?.nth(1).is_none()
            && matches!(&files.entries[..], [file] if matches!(file.path, Path::Tree(None, _)));
        Ok(Self {
            offset: tree.offset(),
            is_single_file,
            files,
        })
    }
}

struct Reader<'a> {
    files: Files<'a>,
    piece_length: u64,
    /// Number of names tried that were already taken.
    n_tries: u32,
}

impl<'a> Reader<'a> {
    /// Reads the tree in one pass, whatever its depth.
    fn read(&mut self, root: Value<'a>) -> Result<(), Error> {
        let mut tokens = root.tokens();
        tokens.next();
        let mut open = vec![OpenFolder {
            folder: None,
            is_renamed: false,
            tokens: tokens.clone(),
            names: None,
        }];
        while let Some(innermost) = open.last_mut() {
            let Some((name_offset, Token::ByteString(name))) = tokens.next() else {
                // Keys are byte strings, so this is the end of the folder.
                open.pop();
                continue;
            };
            if name.is_empty() {
                return Err(Error::EmptyTreeName {
                    offset: name_offset,
                });
            }
            let folder = innermost.folder;
            let name = self.name_of(innermost, name, name_offset)?;
            match next_entry(&mut tokens, name_offset)? {
                TreeEntry::File(file) => {
                    let entry = self.entry(&file, folder, name)?;
                    self.files.entries.push(entry);
                }
                TreeEntry::Folder => {
                    // The nesting limit of bencode also limits folders.
                    let index = self.files.folders.len() as u32;
                    self.files.folders.push(Folder {
                        parent: folder,
                        name: name.bytes,
                    });
                    open.push(OpenFolder {
                        folder: Some(index),
                        is_renamed: name.is_renamed,
                        tokens: tokens.clone(),
                        names: None,
                    });
                }
            }
        }
        Ok(())
    }

    /// Returns the name for an entry of a folder, which replaces a name that cannot be used.
    fn name_of(
        &mut self,
        folder: &mut OpenFolder<'a>,
        name: &'a [u8],
        offset: usize,
    ) -> Result<Name<'a>, Error> {
        let repaired = component::sanitize(name);
        if let Cow::Borrowed(_) = repaired {
            return Ok(Name {
                bytes: repaired,
                is_renamed: folder.is_renamed,
            });
        }
        let tokens = &folder.tokens;
        let names = folder.names.get_or_insert_with(|| {
            // Room for a second name for each entry.
            let mut names = PathSet::with_capacity(2 * names_in(tokens.clone()).count());
            for name in names_in(tokens.clone()) {
                names.insert(&names.root().joined(name));
            }
            names
        });
        let root = names.root();
        let is_free = |name: &[u8]| !names.contains(&root.joined(name));
        let free = unique::free_name(&repaired, is_free, &mut self.n_tries)
            .ok_or(Error::TooManyDuplicatePaths { offset })?;
        names.insert(&root.joined(&free));
        Ok(Name {
            bytes: free.into(),
            is_renamed: true,
        })
    }

    fn entry(
        &self,
        file: &Located<'a>,
        folder: Option<u32>,
        name: Name<'a>,
    ) -> Result<Entry<'a>, Error> {
        let fields = FileFields::read(file)?;
        let kind = fields.kind(file)?;
        if let (StoredKind::Padding, Some(attr)) = (&kind, fields.attr.value) {
            return Err(Error::PaddingInTree {
                offset: attr.offset(),
            });
        }
        let length = fields.length(file, &kind)?;
        let end = self.files.entries.last().map_or(0, Entry::end);
        let offset = if length > 0 {
            end.checked_next_multiple_of(self.piece_length)
                .unwrap_or(u64::MAX)
        } else {
            end
        };
        let pieces_root = (length > 0).then(|| pieces_root(file)).transpose()?;
        Ok(Entry {
            path: Path::Tree(folder, name.bytes),
            is_renamed: name.is_renamed,
            length,
            offset,
            kind,
            attributes: fields.attr.attributes(),
            document_offset: file.offset(),
            pieces_root,
            piece_layer: None,
        })
    }
}

/// Returns the number of files and folders of a tree, so that vectors never have spare capacity.
/// Counting stops at the first error, because reading stops there too.
fn count(tree: Value<'_>) -> (usize, usize) {
    let (mut n_files, mut n_folders) = (0, 0);
    let mut tokens = tree.tokens();
    while let Some((offset, token)) = tokens.next() {
        if let Token::ByteString(_) = token {
            match next_entry(&mut tokens, offset) {
                Ok(TreeEntry::File(_)) => n_files += 1,
                Ok(TreeEntry::Folder) => n_folders += 1,
                Err(_) => break,
            }
        }
    }
    (n_files, n_folders)
}

/// Returns the names of a folder. `tokens` starts at the first name.
fn names_in(mut tokens: Tokens<'_>) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let Some((_, Token::ByteString(name))) = tokens.next() else {
            return None;
        };
        tokens.next_value();
        Some(name)
    })
}

struct Name<'a> {
    bytes: Cow<'a, [u8]>,
    /// Whether the path that ends in this name differs from the path in the torrent.
    is_renamed: bool,
}

enum TreeEntry<'a> {
    File(Located<'a>),
    Folder,
}

/// Reads the value of a name. Advances `tokens` past a whole file, or to the first name of a
/// folder.
fn next_entry<'a>(tokens: &mut Tokens<'a>, name_offset: usize) -> Result<TreeEntry<'a>, Error> {
    let mut inside = tokens.clone();
    let Some((_, Token::DictionaryStart)) = inside.next() else {
        let node = Located::tree_file(tokens.next_value(), name_offset);
        return Err(node.not(Kind::Dictionary));
    };
    *tokens = inside.clone();
    let Some((_, Token::ByteString(b""))) = inside.next() else {
        return Ok(TreeEntry::Folder);
    };
    let file = inside.next_value();
    match inside.next() {
        Some((_, Token::End)) => {}
        Some((offset, _)) => return Err(Error::FileAndFolder { offset }),
        None => unreachable!("a dictionary has an end"),
    }
    *tokens = inside;
    Ok(TreeEntry::File(Located::tree_file(file, name_offset)))
}

fn pieces_root<'a>(file: &Located<'a>) -> Result<&'a Node, Error> {
    let [root] = file.pick(["pieces root"])?;
    let root = root.ok_or_else(|| file.missing("pieces root"))?;
    let bytes = root.bytes()?;
    let offset = root.offset();
    let node: &Node = bytes.try_into().map_err(|_| Error::PiecesRootLength {
        offset,
        len_bytes: bytes.len(),
    })?;
    if *node == [0; 32] {
        return Err(Error::ZeroPiecesRoot { offset });
    }
    Ok(node)
}
