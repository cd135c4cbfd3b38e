//! The laws that a scenario can name, and the profiles of TCP, for the page's choices and labels.

use ecnlab_base::facts::Column;
use ecnlab_scenario::registry::{self, Law};
use serde_json::{Map, Value, json};

/// Returns every law as `{family: {name: {label, summary, reference, columns, ...}}}`. Columns are those that it adds to
/// tables: `{table: {column: {unit, meaning}}}`.
pub fn laws() -> Value {
    let mut families = Map::new();
    for law in registry::laws() {
        let members = families.entry(law.family).or_insert_with(|| json!({}));
        members[law.name] = facts(&law);
    }
    families.into()
}

fn facts(law: &Law) -> Value {
    let columns =
        law.columns.iter().flat_map(|(tables, columns)| tables.iter().map(|table| (*table, described(columns))));
    let queue = law.queue.map(|queue| json!({"uses_ecn": queue.uses_ecn, "shown": queue.shown}));
    let marks = law.tcp.filter(|_| law.family == "congestion").map(|tcp| tcp.marks.name());
    json!({
        "label": law.label,
        "summary": law.summary,
        "reference": law.reference,
        "columns": columns.map(|(table, columns)| (table.to_owned(), columns)).collect::<Map<_, _>>(),
        "queue": queue,
        "marks": marks,
    })
}

fn described(columns: &[Column]) -> Value {
    let one = |column: &Column| (column.name.to_owned(), json!({"unit": column.unit, "meaning": column.meaning}));
    columns.iter().map(one).collect::<Map<_, _>>().into()
}

/// Returns every profile of TCP: `{name: summary}`.
pub fn profiles() -> Value {
    ecnlab_tcp::profiles()
        .map(|profile| (profile.name.to_owned(), json!(profile.summary)))
        .collect::<Map<_, _>>()
        .into()
}

#[cfg(test)]
mod tests {
    use super::{laws, profiles};

    #[test]
    fn laws_have_labels_summaries_and_columns() {
        let all = laws();
        assert_eq!(all["queue"]["red"]["label"], "RED");
        assert_eq!(all["queue"]["red"]["queue"]["uses_ecn"], true);
        assert!(all["congestion"]["prague"]["columns"]["flow_series"]["prague_alpha"]["meaning"].is_string());
        assert!(profiles()["linux-7"].is_string());
    }
}
