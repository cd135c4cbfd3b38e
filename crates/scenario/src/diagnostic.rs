//! Errors with location, problem and remedy.

use std::fmt;

use crate::absent;
use crate::path::Path;
use crate::source::Place;
use crate::synonyms::{self, plain};
use crate::text::visible;

/// Maximum number of characters shown of a line; of a longer line those around the location.
const LONGEST: usize = 120;

/// One error in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The file, as named by the caller.
    pub path: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The dotted key concerned; empty if the text is not valid TOML.
    pub key: String,
    /// The problem, without a full stop.
    pub message: String,
    /// The remedy; empty if it is obvious from the message.
    pub help: String,
    /// The line of the file.
    pub excerpt: String,
    /// Number of characters concerned, from `column` on.
    pub width: usize,
    /// A table, as TOML, that is accepted in place of the one with the errors; empty if none is proposed.
    pub table: String,
}

/// All errors of a file, in the order of its lines. Never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostic {
    pub(crate) fn new(place: &Place, key: &Path, message: impl Into<String>, help: impl Into<String>) -> Diagnostic {
        let at = place.position();
        Diagnostic {
            path: place.file().to_owned(),
            line: at.line,
            column: at.column,
            key: key.to_string(),
            message: message.into(),
            help: help.into(),
            excerpt: at.excerpt.to_owned(),
            width: at.width,
            table: String::new(),
        }
    }

    /// This error with a `table` that is accepted in place of the one with the errors.
    pub(crate) fn with_table(self, table: String) -> Diagnostic {
        Diagnostic { table, ..self }
    }
}

/// `file:line:column: message; help`, then the line with a caret under the place, and the accepted table.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", visible(&self.path), self.line, self.column, visible(&self.message))?;
        if !self.help.is_empty() {
            write!(f, "; {}", visible(&self.help))?;
        }
        let number = self.line.to_string();
        let part = |from: usize, len: usize| self.excerpt.chars().skip(from).take(len).collect::<String>();
        let (at, all) = (self.column - 1, self.excerpt.chars().count());
        let from = if all > LONGEST { at.saturating_sub(LONGEST / 3) } else { 0 };
        let (before, meant) = (part(from, at - from), part(at, self.width.min(LONGEST - (at - from).min(LONGEST))));
        // Tabs remain tabs in the indentation, so that the caret is below its character on a terminal.
        let indent: String = visible(&before).chars().map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let carets = "^".repeat(visible(&meant).chars().count().max(1));
        let (cut, open) = (if from > 0 { "\u{2026}" } else { "" }, if from + LONGEST < all { "\u{2026}" } else { "" });
        write!(f, "\n  {number} | {cut}{}{open}", visible(&part(from, LONGEST)))?;
        let indent = if cut.is_empty() { indent } else { format!(" {indent}") };
        write!(f, "\n  {:width$} | {indent}{carets}", "", width = number.len())?;
        if !self.table.is_empty() {
            f.write_str("\n  this table is accepted:")?;
        }
        self.table.lines().try_for_each(|line| write!(f, "\n    {}", visible(line)))
    }
}

impl Diagnostics {
    /// Creates the list: sorted by line, without duplicates.
    pub(crate) fn of(mut found: Vec<Diagnostic>) -> Diagnostics {
        found.sort_by(|a, b| (&a.path, a.line, a.column, &a.message).cmp(&(&b.path, b.line, b.column, &b.message)));
        found.dedup();
        Diagnostics(found)
    }

    /// Iterates over the errors, in the order of their lines.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.0.iter()
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(one: Diagnostic) -> Diagnostics {
        Diagnostics(vec![one])
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, diagnostic) in self.0.iter().enumerate() {
            let gap = if i == 0 { "" } else { "\n" };
            write!(f, "{gap}{diagnostic}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}

/// Returns a remedy for the unknown word `word`: the most similar of `valid`, or all of them if none is similar.
pub(crate) fn suggest<S: AsRef<str>>(word: &str, valid: &[S], plural: &str) -> String {
    let named = match plural {
        "values" => law_remedy(word, valid),
        "keys" => synonyms::meant(word, valid).or_else(|| did_you_mean(word, valid)),
        _ => did_you_mean(word, valid),
    };
    if let Some(remedy) = named {
        return remedy;
    }
    if valid.is_empty() {
        return format!("there are no {plural}");
    }
    let list: Vec<&str> = valid.iter().map(S::as_ref).collect();
    format!("valid {plural}: {}", list.join(", "))
}

/// Returns a remedy for `word`, which is none of the names `valid` of laws: its synonym, the reason why ecnlab does not have it,
/// or the most similar name. `None` if there is none of these.
pub fn law_remedy<S: AsRef<str>>(word: &str, valid: &[S]) -> Option<String> {
    synonyms::meant(word, valid).or_else(|| absent::remedy(word, valid)).or_else(|| did_you_mean(word, valid))
}

fn did_you_mean<S: AsRef<str>>(word: &str, valid: &[S]) -> Option<String> {
    nearest(word, valid).map(|near| format!("did you mean `{near}`?"))
}

/// Returns the word of `valid` that `word` most likely stands for.
fn nearest<'a, S: AsRef<str>>(word: &str, valid: &'a [S]) -> Option<&'a str> {
    // Matches `minth` and `Min-Th` with `min_th`: separators are the most common mistake.
    let target = plain(word);
    let distance = |s: &str| strsim::damerau_levenshtein(&target, &plain(s));
    let best = valid.iter().map(AsRef::as_ref).min_by_key(|s| distance(s))?;
    // Up to a third of the letters may differ, but not all of them.
    let letters = target.chars().count();
    (distance(best) <= (letters.max(3) / 3).min(letters.saturating_sub(1))).then_some(best)
}
