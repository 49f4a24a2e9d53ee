//! The output of the commands.
//!
//! | module | |
//! |---|---|
//! | `reporter` | events as text or JSON lines |
//! | `labels` | the names of torrents in it |
//! | `history` | what was reported so far |
//! | `json` | JSON lines |
//! | `terminal` | the view of a terminal |

mod history;
mod json;
pub(crate) mod labels;
pub(crate) mod reporter;
mod terminal;
