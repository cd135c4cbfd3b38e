//! Text from files made safe for display: terminal control characters are escaped.

use std::borrow::Cow;

/// Returns whether `c` is invisible but may change the display of other characters: control characters, direction
/// marks, line separators and zero-width characters.
pub(crate) fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Escapes invisible characters of `text` as `\x1b` or `\u{202e}`; tabs and line ends are kept.
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
