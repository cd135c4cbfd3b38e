//! Head of a law's page: label, name in a scenario, summary, reference.

use crate::registry::Law;

/// Returns the head of the page of `laws`, which share a name.
pub(super) fn of(laws: &[&Law]) -> String {
    let title = laws.first().map(|law| capitalized(law.label)).unwrap_or_default();
    let laws: Vec<String> = laws.iter().map(|law| paragraph(law)).collect();
    format!("# {title}\n\n{}", laws.join("\n"))
}

fn paragraph(law: &Law) -> String {
    let (table, key) = law.key.rsplit_once('.').unwrap_or_default();
    let summary = capitalized(law.summary.trim_end_matches('.'));
    let named = format!("`{key} = {}` in `[{table}]`. {summary}.", value(law));
    let source = law.files.map(|(source, _)| format!("Source: `{source}`.")).unwrap_or_default();
    let reference = if law.reference.is_empty() { String::new() } else { format!("Reference: {}. ", law.reference) };
    format!("{named}\n\n{reference}{source}\n")
}

/// Returns the value that selects the law.
fn value(law: &Law) -> String {
    law.named_by.map_or_else(|| format!("\"{}\"", law.name), |key| format!("{{ {key} = \"...\" }}"))
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
