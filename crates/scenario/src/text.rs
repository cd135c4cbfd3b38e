//! Text from files, made fit to be shown: what a terminal would obey is written out.

use std::borrow::Cow;

/// Whether `c` has no look of its own but may change that of others: control characters, marks of direction, ends of
/// lines and what fills no place.
pub(crate) fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// `text` with what cannot be seen written as `\x1b` or `\u{202e}`; tabs, and ends of lines, stay.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    let raw = |c: char| is_unseen(c) && c != '\t' && c != '\n';
    if !text.contains(raw) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match u32::from(c) {
            _ if !raw(c) => shown.push(c),
            code @ 0..=0xff => shown.push_str(&format!("\\x{code:02x}")),
            code => shown.push_str(&format!("\\u{{{code:x}}}")),
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_written_out() {
        assert_eq!(visible("a\x1b[2Jb\u{9b}\u{202e}c\r"), "a\\x1b[2Jb\\x9b\\u{202e}c\\x0d");
        assert_eq!(visible("größe\tµ = 1\n"), "größe\tµ = 1\n");
    }
}
