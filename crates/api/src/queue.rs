//! Moves in the queue.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Where torrents are moved in the queue. They keep the order that they have among each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum QueueMove {
    /// To the first positions.
    Top,
    /// One position towards the first.
    Up,
    /// One position towards the last.
    Down,
    /// To the last positions.
    Bottom,
    /// To this position among the others, from 0.
    #[serde(untagged)]
    To(usize),
}

/// A text is not a place in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not top, up, down, bottom or a position from 0")]
pub struct InvalidQueueMove;

impl FromStr for QueueMove {
    type Err = InvalidQueueMove;

    fn from_str(text: &str) -> Result<Self, InvalidQueueMove> {
        Ok(match text {
            "top" => Self::Top,
            "up" => Self::Up,
            "down" => Self::Down,
            "bottom" => Self::Bottom,
            position => Self::To(position.parse().map_err(|_| InvalidQueueMove)?),
        })
    }
}
