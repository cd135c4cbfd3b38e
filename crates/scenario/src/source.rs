//! Source texts and locations in them, for error messages.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A text and its name, usually the path of its file.
#[derive(Debug)]
pub(crate) struct Source {
    pub name: String,
    pub text: String,
}

/// A range of a source.
#[derive(Clone)]
pub(crate) struct Place {
    source: Arc<Source>,
    start: usize,
    end: usize,
}

/// A location for display: line and column start at one, columns count characters.
pub(crate) struct Position<'a> {
    pub line: usize,
    pub column: usize,
    /// The whole line, without its end.
    pub excerpt: &'a str,
    /// Number of characters of the line that the range covers, at least one.
    pub width: usize,
}

impl Place {
    /// The range `span` of `source`, limited to the length of the source.
    pub fn new(source: &Arc<Source>, span: Range<usize>) -> Place {
        let end = span.end.min(source.text.len());
        Place { source: source.clone(), start: span.start.min(end), end }
    }

    /// Offset of its first byte.
    pub fn start(&self) -> usize {
        self.start
    }

    /// Name of the source.
    pub fn file(&self) -> &str {
        &self.source.name
    }

    /// Returns line, column and excerpt.
    pub fn position(&self) -> Position<'_> {
        let text = self.source.text.as_str();
        // Byte offsets from the parser are at character boundaries; any other is moved left to the nearest one.
        let start = (0..=self.start).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
        let line_start = text[..start].rfind('\n').map_or(0, |i| i + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |i| start + i);
        let excerpt = text[line_start..line_end].trim_end_matches('\r');
        // An error at the end of a line may be between `\r` and `\n`, after the excerpt.
        let column = text[line_start..start].chars().count().min(excerpt.chars().count()) + 1;
        let covered = excerpt.char_indices().filter(|(i, _)| (start..self.end).contains(&(line_start + i))).count();
        let line = text[..line_start].matches('\n').count() + 1;
        Position { line, column, excerpt, width: covered.max(1) }
    }
}

/// File, line and column only, to keep debug output short.
impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.position();
        write!(f, "{}:{}:{}", self.file(), at.line, at.column)
    }
}
