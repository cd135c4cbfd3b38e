//! Changes of single keys in the text of a scenario; comments and the order of lines stay.

use toml_edit::{DocumentMut, Item, RawString, Table, Value};

/// Returns `text` with `value`, in TOML, at each dotted key; without a value the key is removed. Tables are created where they are
/// missing: `[link.pipe]` as a table of its own, a table within an inline table inline.
///
/// # Errors
/// The problem in one sentence: `text` or a value is not TOML, or a key is inside something that is no table.
pub fn set(text: &str, changes: &[(String, Option<String>)]) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| error.message().to_owned())?;
    for (key, value) in changes {
        let value = value.as_deref().map(|value| parse(key, value)).transpose()?;
        change(document.as_item_mut(), key, value)?;
    }
    Ok(document.to_string())
}

fn parse(key: &str, value: &str) -> Result<Value, String> {
    value.parse().map_err(|error: toml_edit::TomlError| format!("`{key}`: {}", error.message()))
}

fn change(root: &mut Item, key: &str, value: Option<Value>) -> Result<(), String> {
    let mut parts = key.split('.').peekable();
    let mut at = root;
    while let Some(part) = parts.next() {
        let table = at.as_table_like_mut().ok_or_else(|| format!("`{key}`: the part before `{part}` is no table"))?;
        if parts.peek().is_none() {
            match value {
                Some(value) => put(table.entry(part).or_insert(Item::None), value),
                None => drop(table.remove(part)),
            }
            return Ok(());
        }
        if value.is_none() && !table.contains_key(part) {
            return Ok(());
        }
        // Only the last table of `[link.pipe]` has a header of its own.
        let mut new = Table::new();
        new.set_implicit(parts.clone().count() > 1);
        at = table.entry(part).or_insert(Item::Table(new));
        if at.is_none() {
            *at = Item::Table(Table::new());
        }
    }
    Ok(())
}

/// Replaces a value and keeps the comment after it.
fn put(item: &mut Item, mut value: Value) {
    if let Some(before) = item.as_value() {
        let (prefix, suffix) = (before.decor().prefix().cloned(), before.decor().suffix().cloned());
        value.decor_mut().set_prefix(prefix.unwrap_or_else(|| RawString::from(" ")));
        value.decor_mut().set_suffix(suffix.unwrap_or_default());
    }
    *item = Item::Value(value);
}

#[cfg(test)]
mod tests {
    use super::set;

    const TEXT: &str = "# A line.\nduration = \"30 s\"   # simulated\n\n[link.pipe]\nrate = \"10 Mbps\" # of each\nloss = 0.1\n\
                        \n[queue.q]\ndiscipline = { kind = \"red\", max_p = 0.1 }\n";

    fn with(key: &str, value: Option<&str>) -> Result<String, String> {
        set(TEXT, &[(key.to_owned(), value.map(str::to_owned))])
    }

    #[test]
    fn a_value_is_replaced_and_its_comment_stays() {
        let expected = TEXT.replace("\"10 Mbps\"", "\"20 Mbps\"");
        assert_eq!(with("link.pipe.rate", Some("\"20 Mbps\"")), Ok(expected));
        assert_eq!(with("duration", Some("\"9 s\"")), Ok(TEXT.replace("30 s", "9 s")));
    }

    #[test]
    fn a_key_is_removed_and_an_absent_one_stays_absent() {
        assert_eq!(with("link.pipe.loss", None), Ok(TEXT.replace("loss = 0.1\n", "")));
        assert_eq!(with("link.other.loss", None), Ok(TEXT.to_owned()));
    }

    #[test]
    fn keys_and_tables_are_added() {
        let text = with("link.pipe.delay", Some("\"5 ms\"")).unwrap();
        assert!(text.contains("loss = 0.1\ndelay = \"5 ms\"\n"), "{text}");
        let text = with("tcp.host.ecn", Some("\"accecn\"")).unwrap();
        assert!(text.ends_with("\n[tcp.host]\necn = \"accecn\"\n") && !text.contains("[tcp]"), "{text}");
    }

    #[test]
    fn a_key_of_an_inline_table_is_replaced_in_its_place() {
        let text = with("queue.q.discipline.max_p", Some("0.2")).unwrap();
        assert_eq!(text, TEXT.replace("max_p = 0.1", "max_p = 0.2"));
    }

    #[test]
    fn errors_name_the_key_or_the_problem() {
        assert!(with("duration.x", Some("1")).unwrap_err().contains("`duration.x`"));
        assert!(with("duration", Some("1 s")).unwrap_err().contains("`duration`"));
        assert!(set("a = ", &[]).is_err());
    }
}
