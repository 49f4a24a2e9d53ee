//! The piece map of a torrent: one character for each piece or for several pieces.

use anstyle::Style;
use hashlane_verify::PieceState;

use crate::output::text::{Palette, Styled};

/// The meaning of a character, worst first: the worst of several pieces is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cell {
    Unreadable,
    Bad,
    Unproven,
    /// Some pieces are present and some are not.
    Some,
    Missing,
    Unchecked,
    Have,
}

impl Cell {
    pub(crate) const ALL: [Self; 7] = [
        Self::Have,
        Self::Some,
        Self::Missing,
        Self::Bad,
        Self::Unproven,
        Self::Unreadable,
        Self::Unchecked,
    ];

    fn of(pieces: &[PieceState]) -> Self {
        let has = |state| pieces.contains(&state);
        if has(PieceState::Unreadable) {
            Self::Unreadable
        } else if has(PieceState::Bad) {
            Self::Bad
        } else if has(PieceState::Unproven) {
            Self::Unproven
        } else if pieces.iter().all(|piece| *piece == PieceState::Have) {
            Self::Have
        } else if has(PieceState::Have) {
            Self::Some
        } else if has(PieceState::Missing) {
            Self::Missing
        } else {
            Self::Unchecked
        }
    }

    pub(crate) fn glyph(self) -> char {
        match self {
            Self::Have => '█',
            Self::Some => '▒',
            Self::Missing => '░',
            Self::Bad => 'x',
            Self::Unproven => '?',
            Self::Unreadable => '!',
            Self::Unchecked => '·',
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Have => "have",
            Self::Some => "some of them",
            Self::Missing => "missing",
            Self::Bad => "bad",
            Self::Unproven => "unproven",
            Self::Unreadable => "unreadable",
            Self::Unchecked => "unchecked",
        }
    }

    pub(crate) fn style(self, palette: &Palette) -> Style {
        match self {
            Self::Have => palette.good,
            Self::Some => palette.partial,
            Self::Missing | Self::Unchecked => palette.dim,
            Self::Bad | Self::Unproven | Self::Unreadable => palette.bad,
        }
    }
}

/// The map of all pieces, in at most `max_rows` rows of at most `width` cells.
#[derive(Debug)]
pub struct PieceMap {
    pub(crate) rows: Vec<Vec<Cell>>,
    /// Number of pieces per cell; the last cell can have fewer.
    pub(crate) pieces_per_cell: usize,
}

impl PieceMap {
    /// Returns the map of these pieces.
    pub fn new(pieces: &[PieceState], width: usize, max_rows: usize) -> Self {
        let width = width.max(1);
        let pieces_per_cell = pieces.len().div_ceil(width * max_rows).max(1);
        let cells: Vec<Cell> = pieces.chunks(pieces_per_cell).map(Cell::of).collect();
        Self {
            rows: cells.chunks(width).map(<[Cell]>::to_vec).collect(),
            pieces_per_cell,
        }
    }

    /// Returns the rows as text.
    pub fn lines(&self, palette: &Palette) -> impl Iterator<Item = String> {
        self.rows.iter().map(|row| {
            let runs = row.chunk_by(|a, b| a == b);
            let runs = runs.map(|cells| {
                let glyphs: String = cells.iter().map(|cell| cell.glyph()).collect();
                Styled(cells[0].style(palette), glyphs).to_string()
            });
            runs.collect()
        })
    }

    /// Returns the kinds of cells that occur in the map.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = Cell> {
        Cell::ALL
            .into_iter()
            .filter(|cell| self.rows.iter().flatten().any(|other| other == cell))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use PieceState::{Bad, Have, Missing, Unchecked, Unreadable};

    fn drawn(pieces: &[PieceState], width: usize) -> Vec<String> {
        let map = PieceMap::new(pieces, width, 8);
        map.rows
            .iter()
            .map(|row| row.iter().map(|cell| cell.glyph()).collect())
            .collect()
    }

    #[test]
    fn few_pieces_have_a_cell_each() {
        let pieces = [Have, Bad, Missing, Unreadable, Unchecked];
        assert_eq!(drawn(&pieces, 80), ["█x░!·"]);
        assert_eq!(drawn(&pieces, 2), ["█x", "░!", "·"]);
    }

    #[test]
    fn many_pieces_share_cells_and_the_worst_one_shows() {
        let mut pieces = vec![Have; 1_000];
        pieces[500] = Bad;
        pieces[999] = Missing;
        let rows = drawn(&pieces, 10);
        assert_eq!(rows.len(), 8);
        assert!(rows.iter().all(|row| row.chars().count() <= 10));
        let cells: String = rows.concat();
        assert_eq!(cells.matches('x').count(), 1);
        assert!(cells.ends_with('▒'));
        assert_eq!(cells.matches('█').count(), cells.chars().count() - 2);
    }

    #[test]
    fn a_terminal_without_width_still_shows_a_map() {
        assert!(!drawn(&[Have; 3], 0).is_empty());
    }
}
