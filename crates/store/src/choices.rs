//! What a person chose for a torrent.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashlane_api::{Goal, Place, Rates};
use hashlane_metainfo::{ContentLayout, ContentMap, Names, Top};
use serde::{Deserialize, Serialize};

/// What a person chose for a torrent. Nothing of it says which bytes are present.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "Fields", try_from = "Fields")]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct Choices {
    /// The place of the content.
    pub place: Place,
    /// Folder that the content is being moved to, or is moved to when it is complete. Only with [`Place::Folder`].
    pub move_to: Option<PathBuf>,
    /// The name that is shown; `None` for that of the metadata or the link.
    pub title: Option<String>,
    /// Whether the content has a folder of its own. Applies only if [`Self::names`] are the torrent's own.
    pub layout: ContentLayout,
    /// Names of the content that are not the torrent's own.
    pub names: Names,
    /// The names that the content had before, until its files have been renamed.
    pub names_before: Option<Names>,
    /// Where single files lie, whatever their names. They are read, and never written. Only with [`Place::Folder`].
    pub map: Option<Arc<ContentMap>>,
    /// When the torrent has been served for long enough.
    pub goal: Goal,
    /// The category, which gives torrents a common folder and goal.
    pub category: Option<String>,
    /// Words to find torrents by.
    pub labels: BTreeSet<String>,
    /// Rate limits of the torrent.
    pub limits: Rates,
    /// Priorities of files.
    pub priorities: Priorities,
    /// Whether pieces are requested in order.
    pub sequential: bool,
    /// Whether a piece of complete content is offered only after the previous piece has spread (BEP 16).
    pub super_seeding: bool,
    /// Whether the torrent is paused.
    pub paused: bool,
    /// Whether the torrent runs without waiting for its turn in the queue.
    pub forced: bool,
    /// The place in the queue: torrents with smaller numbers go first. `None` puts a new torrent at the end.
    pub order: Option<i64>,
}

impl Choices {
    /// Returns the choices of a person who chose only a place.
    pub fn at(place: Place) -> Self {
        Self {
            place,
            move_to: None,
            title: None,
            layout: ContentLayout::default(),
            names: Names::default(),
            names_before: None,
            map: None,
            goal: Goal::default(),
            category: None,
            labels: BTreeSet::new(),
            limits: Rates::default(),
            priorities: Priorities::default(),
            sequential: false,
            super_seeding: false,
            paused: false,
            forced: false,
            order: None,
        }
    }
}

/// Files with another priority than the normal one, by their positions among the files except padding. No file is in two of
/// the sets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Priorities {
    /// Files that are not downloaded.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub skip: BTreeSet<u32>,
    /// Files that are requested last.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub low: BTreeSet<u32>,
    /// Files that are requested first.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub high: BTreeSet<u32>,
}

/// The keys of the TOML file.
#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
struct Fields {
    #[serde(skip_serializing_if = "Option::is_none")]
    folder: Option<PathText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<PathText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    move_to: Option<PathText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "is_default")]
    layout: ContentLayout,
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<String>,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    labels: BTreeSet<String>,
    #[serde(skip_serializing_if = "is_default")]
    sequential: bool,
    #[serde(skip_serializing_if = "is_default")]
    super_seeding: bool,
    #[serde(skip_serializing_if = "is_default")]
    paused: bool,
    #[serde(skip_serializing_if = "is_default")]
    forced: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<i64>,
    #[serde(skip_serializing_if = "is_default")]
    goal: Goal,
    #[serde(skip_serializing_if = "is_default")]
    limits: Rates,
    #[serde(skip_serializing_if = "is_default")]
    priorities: Priorities,
    #[serde(skip_serializing_if = "is_default")]
    names: NamesFields,
    #[serde(skip_serializing_if = "Option::is_none")]
    names_before: Option<NamesFields>,
    /// The text of a content map.
    #[serde(skip_serializing_if = "Option::is_none")]
    content_map: Option<PathText>,
}

/// The names of content.
#[derive(Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct NamesFields {
    /// The name of the content; empty if it has no folder of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    top: Option<String>,
    /// Paths of files, by their positions in decimal digits.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    files: BTreeMap<String, String>,
}

impl From<&Names> for NamesFields {
    fn from(names: &Names) -> Self {
        let files = names.files().iter();
        Self {
            top: match names.top() {
                Top::Own => None,
                Top::Named(name) => Some(name.clone()),
                Top::None => Some(String::new()),
            },
            files: files
                .map(|(file, path)| (file.to_string(), path.clone()))
                .collect(),
        }
    }
}

impl NamesFields {
    fn names(self, key: &str) -> Result<Names, String> {
        let top = match self.top {
            None => Top::Own,
            Some(name) if name.is_empty() => Top::None,
            Some(name) => Top::Named(name),
        };
        let file = |(file, path): (String, String)| match file.parse() {
            Ok(file) => Ok((file, path)),
            Err(_) => Err(format!(
                "{key}.files: {file:?} is not the position of a file"
            )),
        };
        let files = self.files.into_iter().map(file).collect::<Result<_, _>>()?;
        Names::new(top, files).map_err(|error| format!("{key}: {error}"))
    }
}

/// A path or another text: a text, or its bytes if it is not UTF-8.
#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "a path must be a text, or a list of bytes")]
enum PathText {
    Text(String),
    Bytes(Vec<u8>),
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl From<&Path> for PathText {
    fn from(path: &Path) -> Self {
        Self::of(OsStr::as_bytes(path.as_os_str()).to_vec())
    }
}

impl PathText {
    fn of(bytes: Vec<u8>) -> Self {
        match String::from_utf8(bytes) {
            Ok(text) => Self::Text(text),
            Err(error) => Self::Bytes(error.into_bytes()),
        }
    }

    fn into_bytes(self) -> Vec<u8> {
        match self {
            Self::Text(text) => text.into_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }

    /// Returns the path if it is absolute. A daemon has no folder that other paths could start from.
    fn path(self, key: &str) -> Result<PathBuf, String> {
        let path = PathBuf::from(OsString::from_vec(self.into_bytes()));
        if !path.is_absolute() || path.as_os_str().as_bytes().contains(&0) {
            return Err(format!("{key}: not an absolute path"));
        }
        Ok(path)
    }
}

impl From<Choices> for Fields {
    fn from(choices: Choices) -> Self {
        let path = Some(choices.place.path().into());
        let (folder, content) = match choices.place {
            Place::Folder(_) => (path, None),
            Place::Content(_) => (None, path),
        };
        Self {
            folder,
            content,
            move_to: choices.move_to.as_deref().map(PathText::from),
            title: choices.title,
            layout: choices.layout,
            category: choices.category,
            labels: choices.labels,
            sequential: choices.sequential,
            super_seeding: choices.super_seeding,
            paused: choices.paused,
            forced: choices.forced,
            order: choices.order,
            goal: choices.goal,
            limits: choices.limits,
            priorities: choices.priorities,
            names: (&choices.names).into(),
            names_before: choices.names_before.as_ref().map(NamesFields::from),
            content_map: choices.map.map(|map| PathText::of(map.to_bytes())),
        }
    }
}

impl TryFrom<Fields> for Choices {
    type Error = String;

    fn try_from(fields: Fields) -> Result<Self, String> {
        let place = match (fields.folder, fields.content) {
            (Some(folder), None) => Place::Folder(folder.path("folder")?),
            (None, Some(content)) => Place::Content(content.path("content")?),
            (None, None) => return Err("neither folder nor content".to_owned()),
            (Some(_), Some(_)) => return Err("both folder and content".to_owned()),
        };
        if matches!(place, Place::Content(_)) && fields.move_to.is_some() {
            return Err("move_to: content without a folder is not moved".to_owned());
        }
        if matches!(place, Place::Content(_)) && fields.content_map.is_some() {
            return Err("content_map: content without a folder".to_owned());
        }
        let map = fields.content_map.map(|text| {
            let map = ContentMap::parse(&text.into_bytes());
            map.map(Arc::new)
                .map_err(|error| format!("content_map: {error}"))
        });
        let move_to = fields.move_to.map(|path| path.path("move_to"));
        let Priorities { skip, low, high } = &fields.priorities;
        let mut twice = skip.intersection(low).chain(skip.intersection(high));
        if let Some(file) = twice.next().or_else(|| low.intersection(high).next()) {
            return Err(format!("priorities: two for file {file}"));
        }
        let before = fields.names_before.map(|names| names.names("names_before"));
        Ok(Self {
            place,
            move_to: move_to.transpose()?,
            title: fields.title,
            layout: fields.layout,
            names: fields.names.names("names")?,
            names_before: before.transpose()?,
            map: map.transpose()?,
            goal: fields.goal,
            category: fields.category,
            labels: fields.labels,
            limits: fields.limits,
            priorities: fields.priorities,
            sequential: fields.sequential,
            super_seeding: fields.super_seeding,
            paused: fields.paused,
            forced: fields.forced,
            order: fields.order,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;
    use std::time::Duration;

    use hashlane_api::Target;

    use super::*;

    fn read(text: &str) -> Result<Choices, String> {
        toml::from_str(text).map_err(|error: toml::de::Error| error.message().to_owned())
    }

    #[test]
    fn all_choices_are_read_as_they_were_written() {
        let choices = Choices {
            move_to: Some("/new".into()),
            title: Some("a \"title\"".to_owned()),
            layout: ContentLayout::NoSubfolder,
            names: Names::new(Top::None, [(7, "b/c d".to_owned())].into()).unwrap(),
            names_before: Some(Names::new(Top::Named("x".into()), BTreeMap::new()).unwrap()),
            map: Some(
                ContentMap::parse(
                    format!(
                        "hashlane content map 1\ntorrent {}\na\\tb\t/c d\n",
                        "0".repeat(40)
                    )
                    .as_bytes(),
                )
                .unwrap()
                .into(),
            ),
            goal: Goal {
                ratio: Target::At(1.5),
                time: Target::At(Duration::from_secs(86_400)),
                idle: Target::At(Duration::from_secs(60)),
            },
            category: Some("tv \"3\"\n[limits]".to_owned()),
            labels: ["b", "a"].map(str::to_owned).into(),
            limits: Rates {
                down: NonZeroU32::new(1),
                up: Some(NonZeroU32::MAX),
            },
            priorities: Priorities {
                skip: [0, 7].into(),
                low: [1].into(),
                high: [u32::MAX].into(),
            },
            sequential: true,
            super_seeding: true,
            paused: true,
            forced: true,
            order: Some(-3),
            ..Choices::at(Place::Folder("/srv/\u{e4}".into()))
        };
        let text = toml::to_string(&choices).unwrap();
        assert_eq!(read(&text).as_ref(), Ok(&choices), "{text}");
        let never = Choices {
            goal: Goal {
                ratio: Target::Never,
                time: Target::Inherited,
                idle: Target::Never,
            },
            ..choices
        };
        let text = toml::to_string(&never).unwrap();
        assert_eq!(read(&text), Ok(never), "{text}");
        let bytes = OsString::from_vec(b"/srv/\xFF\n".to_vec());
        let plain = Choices::at(Place::Content(bytes.into()));
        let text = toml::to_string(&plain).unwrap();
        assert_eq!(text, "content = [47, 115, 114, 118, 47, 255, 10]\n");
        assert_eq!(read(&text), Ok(plain));
    }

    #[test]
    fn contradictions_are_refused() {
        for (text, reason) in [
            ("", "neither folder nor content"),
            ("folder = '/a'\ncontent = '/a'", "both folder and content"),
            ("folder = 'a'", "folder: not an absolute path"),
            ("content = [97]", "content: not an absolute path"),
            ("content = [47, 0]", "content: not an absolute path"),
            (
                "content = '/a'\nmove_to = '/b'",
                "move_to: content without a folder is not moved",
            ),
            (
                "folder = '/a'\nmove_to = 'b'",
                "move_to: not an absolute path",
            ),
            ("content = 3", "a path must be a text, or a list of bytes"),
            (
                "content = [300]",
                "a path must be a text, or a list of bytes",
            ),
            (
                "folder = '/a'\ngoal.ratio = -0.5",
                "goal.ratio: negative, or not a number",
            ),
            (
                "folder = '/a'\ngoal.seconds = 'always'",
                "a limit must be a number above zero, \"never\" or \"inherited\"",
            ),
            (
                "folder = '/a'\ngoal.ratio = nan",
                "goal.ratio: negative, or not a number",
            ),
            (
                "folder = '/a'\nnames.top = '..'",
                "names: \"..\": path component is \"..\", which leaves the content folder",
            ),
            (
                "folder = '/a'\nnames.files.x = 'b'",
                "names.files: \"x\" is not the position of a file",
            ),
            (
                "folder = '/a'\ncontent_map = 'x'",
                "content_map: is not a content map: the first line is not `hashlane content map 1`",
            ),
            (
                "content = '/a'\ncontent_map = 'x'",
                "content_map: content without a folder",
            ),
            (
                "folder = '/a'\nnames_before.files.1 = '/b'",
                "names_before: \"/b\": path component is empty",
            ),
            (
                "folder = '/a'\n[priorities]\nlow = [3]\nhigh = [3]",
                "priorities: two for file 3",
            ),
        ] {
            assert_eq!(read(text).unwrap_err(), reason, "{text}");
        }
        let unknown = read("folder = '/a'\nfolders = 3").unwrap_err();
        assert!(unknown.contains("unknown field `folders`"), "{unknown}");
    }
}
