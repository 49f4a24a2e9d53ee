//! The place of a torrent's files on this machine.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use hashlane_metainfo::{
    ContentMap, FileKind, ForeignPaths, MapError, MappedPlace, Names, Naming, PathComponent, Top,
    Torrent, TorrentPath,
};
use hashlane_pipeline::{FileIndex, FileSet, ReadAt};

/// The programs whose names are tried, in this order.
const NAMINGS: [Naming; 4] = [
    Naming::Libtorrent,
    Naming::Transmission,
    Naming::Transmission40,
    Naming::Transmission3,
];

/// Maximum length of a name in bytes on the file systems of Linux, macOS and the BSDs.
const MAX_NAME_LEN: usize = 255;

/// The files of a torrent on this machine: one file, or a folder of files. The files may be absent.
///
/// If nothing exists under a file's own name, the name that another program writes is used, if that name exists. A name
/// that no file system accepts is replaced by libtorrent's name. Files that a content map has lie where the map says.
#[derive(Clone, Debug)]
pub struct Content {
    torrent: Torrent,
    root: PathBuf,
    /// The program that wrote the name of the root.
    root_naming: Option<Naming>,
    /// Files that have the names of another program.
    foreign: BTreeMap<usize, ForeignFile>,
    /// Files that a person renamed: their paths below the root.
    renamed: BTreeMap<usize, PathBuf>,
    /// Files that a content map has.
    mapped: BTreeMap<usize, MappedPlace>,
}

#[derive(Clone, Debug)]
struct ForeignFile {
    naming: Naming,
    path: PathBuf,
}

impl Content {
    /// Returns the content at `root`, whatever its name is: the file of a single-file torrent, or the
    /// folder that holds the files. If `root` is a folder and the torrent has a single file, the
    /// content is the file of the torrent's name in that folder.
    ///
    /// # Errors
    /// `InvalidFilename` if the torrent's name is not Unicode on a system whose paths are. `NotADirectory`
    /// if `root` is a file and the torrent has a folder.
    pub fn at(torrent: &Torrent, root: impl Into<PathBuf>) -> io::Result<Self> {
        let root = root.into();
        let foreign = foreign_paths(torrent);
        match root.metadata() {
            Ok(found) if found.is_dir() && torrent.is_single_file() => {
                let (root, naming) = named(torrent, &foreign, &root)?;
                Ok(Self::new(torrent, root, naming, &foreign))
            }
            Ok(found) if !found.is_dir() && !torrent.is_single_file() => {
                Err(io::ErrorKind::NotADirectory.into())
            }
            _ => Ok(Self::new(torrent, root, None, &foreign)),
        }
    }

    /// Returns the content under the torrent's name in `folder`.
    ///
    /// # Errors
    /// `InvalidFilename` if the torrent's name is not Unicode on a system whose paths are.
    pub fn in_folder(torrent: &Torrent, folder: impl Into<PathBuf>) -> io::Result<Self> {
        let folder = folder.into();
        let foreign = foreign_paths(torrent);
        if let Some(name) = torrent.possible_folder() {
            let mut inner = folder.clone();
            push(&mut inner, name)?;
            let (inner, naming) = named(torrent, &foreign, &inner)?;
            if inner.is_file() {
                return Ok(Self::new(torrent, inner, naming, &foreign));
            }
        }
        let (root, naming) = named(torrent, &foreign, &folder)?;
        Ok(Self::new(torrent, root, naming, &foreign))
    }

    /// Returns the content in `folder` under the names that a person gave it. The names must fit the torrent, see
    /// [`Names::check`].
    ///
    /// # Errors
    /// Those of [`Self::in_folder`].
    pub fn named_in_folder(
        torrent: &Torrent,
        folder: impl Into<PathBuf>,
        names: &Names,
    ) -> io::Result<Self> {
        let root = match names.top() {
            Top::Own => return Ok(Self::in_folder(torrent, folder)?.renamed(names)),
            Top::Named(name) => folder.into().join(name),
            Top::None => folder.into(),
        };
        Ok(Self::new(torrent, root, None, &foreign_paths(torrent)).renamed(names))
    }

    /// Returns this content with the files that a person renamed.
    #[must_use]
    pub fn renamed(mut self, names: &Names) -> Self {
        let files = self.torrent.files().iter().enumerate();
        let files = files.filter(|(_, file)| file.kind() != FileKind::Padding);
        let renamed = files.zip(0..).filter_map(|((index, _), position)| {
            Some((index, PathBuf::from(names.files().get(&position)?)))
        });
        self.renamed = renamed.collect();
        self.foreign
            .retain(|index, _| !self.renamed.contains_key(index));
        self
    }

    /// Returns this content with the files of a content map where the map says. The other files stay where they are.
    ///
    /// # Errors
    /// The map does not have the torrent, or has lines that do not fit the torrent.
    pub fn mapped(mut self, map: &ContentMap) -> Result<Self, MapError> {
        self.mapped = map.places_of(&self.torrent)?;
        self.foreign
            .retain(|index, _| !self.mapped.contains_key(index));
        Ok(self)
    }

    /// Returns `true` if a content map has a file, so that the file lies anywhere and is only read.
    pub fn is_mapped(&self, file: FileIndex) -> bool {
        matches!(self.mapped.get(&file.get()), Some(MappedPlace::At(_)))
    }

    /// Returns `true` if a content map has a file of this content.
    pub fn has_mapped(&self) -> bool {
        !self.mapped.is_empty()
    }

    /// Returns `true` if the root is the only file.
    fn is_file(&self) -> bool {
        self.torrent.is_single_file() && self.renamed.is_empty()
    }

    fn new(
        torrent: &Torrent,
        root: PathBuf,
        root_naming: Option<Naming>,
        foreign: &[ForeignPaths],
    ) -> Self {
        let mut content = Self {
            torrent: torrent.clone(),
            root,
            root_naming,
            foreign: BTreeMap::new(),
            renamed: BTreeMap::new(),
            mapped: BTreeMap::new(),
        };
        for foreign in foreign {
            content.find(foreign);
        }
        content
    }

    /// Finds files under the names of another program.
    fn find(&mut self, foreign: &ForeignPaths) {
        let naming = foreign.naming();
        // One program writes no two files to the same path, but two programs can use the same path for different files.
        let used: HashSet<PathBuf> = self
            .foreign
            .values()
            .map(|file| file.path.clone())
            .collect();
        for index in foreign.indexes() {
            let own = self.torrent.file(index).path();
            let found = foreign.path(index).and_then(|path| {
                let path = joined(&self.root, path).ok()?;
                let is_own = joined(&self.root, own).is_ok_and(|own| is_there(&own));
                let is_used = naming == Naming::Libtorrent && own.components().any(is_too_long);
                (!is_own && (is_used || is_there(&path)) && !used.contains(&path)).then_some(path)
            });
            if let Some(path) = found
                && !self.foreign.contains_key(&index)
            {
                self.foreign.insert(index, ForeignFile { naming, path });
            }
        }
    }

    /// Returns this content as it is served, and the folder that its files must not leave by links. This folder is
    /// `folder`, where the content lies under the torrent's name. If the user named the content itself, or if the content
    /// is a link, the folder is the content, or the parent folder of a single file.
    ///
    /// # Errors
    /// The system's error if the content is a link that cannot be followed.
    pub fn confined(mut self, folder: Option<&Path>) -> io::Result<(Self, PathBuf)> {
        let is_link = |it: std::fs::Metadata| it.is_symlink();
        let is_link = self.root.symlink_metadata().is_ok_and(is_link);
        if let Some(folder) = folder
            && !is_link
        {
            return Ok((self, folder.to_owned()));
        }
        if is_link {
            let target = match self.root.canonicalize() {
                // The link's file system may not be mounted yet.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    let folder = self.root.parent().unwrap_or(Path::new(""));
                    folder.join(self.root.read_link()?)
                }
                target => target?,
            };
            let renamed = std::mem::take(&mut self.renamed);
            let mapped = std::mem::take(&mut self.mapped);
            self = Self::at(&self.torrent, target)?;
            self.foreign
                .retain(|index, _| !renamed.contains_key(index) && !mapped.contains_key(index));
            self.renamed = renamed;
            self.mapped = mapped;
        }
        let folder = match self.root.parent() {
            Some(parent) if self.is_file() => parent.to_owned(),
            _ => self.root.clone(),
        };
        Ok((self, folder))
    }

    /// Returns the torrent whose files these are.
    pub fn torrent(&self) -> &Torrent {
        &self.torrent
    }

    /// Returns the path of the file, or of the folder of the files.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the program that wrote the name of the file or of the folder of the files, if that
    /// name is not the torrent's.
    pub fn root_naming(&self) -> Option<Naming> {
        self.root_naming
    }

    /// Returns the program that wrote the name of a file, if that name is not the torrent's.
    pub fn naming_of(&self, file: FileIndex) -> Option<Naming> {
        self.foreign.get(&file.get()).map(|file| file.naming)
    }

    /// Returns the path of a file. The file may be absent.
    ///
    /// # Errors
    /// `InvalidFilename` if the path is not Unicode on a system whose paths are.
    ///
    /// # Panics
    /// Panics if the index belongs to another torrent, with more files.
    pub fn path_of(&self, file: FileIndex) -> io::Result<PathBuf> {
        if let Some(MappedPlace::At(path)) = self.mapped.get(&file.get()) {
            return Ok(path.clone());
        }
        if let Some(path) = self.renamed.get(&file.get()) {
            return Ok(self.root.join(path));
        }
        if self.torrent.is_single_file() {
            return Ok(self.root.clone());
        }
        let own = self.torrent.file(file.get()).path();
        match self.foreign.get(&file.get()) {
            Some(file) => Ok(file.path.clone()),
            None => joined(&self.root, own),
        }
    }
}

impl FileSet for Content {
    fn root(&self) -> &Path {
        self.root()
    }

    fn path_of(&self, file: FileIndex) -> io::Result<PathBuf> {
        self.path_of(file)
    }

    fn open_reader(&self, file: FileIndex) -> io::Result<Option<Box<dyn ReadAt + '_>>> {
        let is_empty = self.mapped.get(&file.get()) == Some(&MappedPlace::Empty);
        Ok(is_empty.then(|| Box::new(&[][..]) as Box<dyn ReadAt>))
    }
}

/// Returns the paths that each program writes.
fn foreign_paths(torrent: &Torrent) -> [ForeignPaths; NAMINGS.len()] {
    NAMINGS.map(|naming| torrent.foreign_paths(naming))
}

/// Returns the path of the content in a folder: under the torrent's own name, or under the name of
/// the program that wrote it.
fn named(
    torrent: &Torrent,
    foreign: &[ForeignPaths],
    folder: &Path,
) -> io::Result<(PathBuf, Option<Naming>)> {
    fn in_folder(folder: &Path, name: PathComponent<'_>) -> io::Result<PathBuf> {
        let mut path = folder.to_owned();
        push(&mut path, name).map(|()| path)
    }
    let own = in_folder(folder, torrent.name());
    if own.as_ref().is_ok_and(|own| is_there(own)) {
        return Ok((own?, None));
    }
    for foreign in foreign {
        let naming = foreign.naming();
        let Some(Ok(path)) = foreign.name().map(|name| in_folder(folder, name)) else {
            continue;
        };
        let is_used = naming == Naming::Libtorrent && is_too_long(torrent.name());
        if is_used || is_there(&path) {
            return Ok((path, Some(naming)));
        }
    }
    Ok((own?, None))
}

/// Returns `true` unless nothing exists at a path. A path that cannot be examined is not replaced by
/// another one: its error is reported.
fn is_there(path: &Path) -> bool {
    match path.symlink_metadata() {
        Ok(_) => true,
        Err(error) => !matches!(
            error.kind(),
            io::ErrorKind::NotFound | io::ErrorKind::InvalidFilename | io::ErrorKind::NotADirectory
        ),
    }
}

fn is_too_long(name: PathComponent<'_>) -> bool {
    name.as_bytes().len() > MAX_NAME_LEN
}

fn joined(root: &Path, path: TorrentPath<'_>) -> io::Result<PathBuf> {
    let mut joined = root.to_owned();
    for component in path.components() {
        push(&mut joined, component)?;
    }
    Ok(joined)
}

fn push(path: &mut PathBuf, component: PathComponent<'_>) -> io::Result<()> {
    path.push(
        component
            .to_os_str()
            .map_err(|_| io::ErrorKind::InvalidFilename)?,
    );
    Ok(())
}
