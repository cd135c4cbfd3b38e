//! Every mistake in an experiment is answered with its line, its key and a remedy.

use crate::common;

use common::GOOD;
use ecnlab_scenario::parse_experiment;

/// An experiment on the good scenario; the cases put something in its place.
fn experiment(rest: &str) -> Result<usize, String> {
    let text = format!("format = 1\nscenario = \"x.toml\"\nreplicates = 2\n{rest}");
    let read = |_: &std::path::Path| Ok(GOOD.to_owned());
    match parse_experiment("e.toml", &text, &read) {
        Ok(experiment) => Ok(experiment.len()),
        Err(wrong) => {
            let lines = wrong.iter().map(|d| d.to_string().lines().next().unwrap_or_default().to_owned());
            Err(lines.collect::<Vec<_>>().join("\n"))
        }
    }
}

#[test]
fn mistakes_in_experiments_are_answered() {
    let cases = [
        ("[set]\n\"queue.red.maxp\" = 1", "e.toml:5:1: unknown key `queue.red.maxp`; did you mean `max_p`?"),
        (
            "[set]\n\"queue.red.max_p\" = 7",
            "e.toml:5:21: `queue.red.max_p`: 7 is not a valid probability; it must be above 0 and at most 1",
        ),
        (
            "[grid.x]\npath = \"queue.red.maxp\"\nvalues = [0.1]",
            "e.toml:5:8: unknown key `queue.red.maxp`; did you mean `max_p`?",
        ),
        (
            "[grid.x]\npath = \"queue.red.max_p\"\nvalues = [0.1, 7]",
            "e.toml:6:16: `queue.red.max_p`: 7 is not a valid probability; it must be above 0 and at most 1",
        ),
        (
            "[grid.x]\npath = \"queue.red.max_p\"",
            "e.toml:4:7: `grid.x` must have `path` and `values`, or `points`; see `ecnlab docs scenario`, Experiments",
        ),
        (
            "[grid.x]\npath = \"queue.red.max_p\"\nvalues = [0.1]\nlabels = [\"a\", \"b\"]",
            "e.toml:4:7: `grid.x` has not as many labels as values; write one for each, or none",
        ),
        (
            "[grid.x]\npath = \"queue.red.max_p\"\nvalues = [0.1, 0.1]",
            "e.toml:4:7: `grid.x` has two points `0.1`; give each its own label",
        ),
        (
            "[grid.x]\npath = \"queue.red.max_p\"\nvalues = []",
            "e.toml:4:7: `grid.x` has no point; write at least one value, or leave the axis out",
        ),
        (
            "[grid.seed]\npath = \"queue.red.max_p\"\nvalues = [0.1]",
            "e.toml:4:7: `grid.seed`: an axis cannot be called `seed`, as a column of the results is; write another name",
        ),
        (
            "[grid.x]\npoints = [{ label = \"a\", sett = {} }]",
            "e.toml:5:26: unknown key `grid.x.points[0].sett`; did you mean `set`?",
        ),
        (
            "[grid.x]\npath = \"queue.red.max_p\"\nvalues = [0.1]\n[arm.a]\nset = { \"queue.red.max_p\" = 0.2 }",
            "e.toml:8:9: `arm.a.set.queue.red.max_p` sets `queue.red.max_p`, but `grid.x` sets it, too; let one of them set it",
        ),
        ("[arms.x]\nset = {}", "e.toml:4:2: unknown key `arms`; did you mean `arm`?"),
        (
            "[metrics]\ng = { table = \"flows\" }",
            "e.toml:5:1: `metrics.g` lacks `column`; name it, or `aggregate = \"count\"` for the number of rows",
        ),
        (
            "[metrics]\ng = { table = \"flows\", column = \"x\", aggregate = \"meen\" }",
            "e.toml:5:50: `metrics.g.aggregate` cannot be `meen`; did you mean `mean`?",
        ),
        ("[metrics]\ng = { ratio = [\"g\", \"h\"] }", "e.toml:5:16: `metrics.g.ratio[0]`: `g` would contain itself"),
        (
            "[metrics]\ng = { ratio = [\"h\", \"h\"] }",
            "e.toml:5:16: `metrics.g.ratio[0]`: there is no metric `h`; valid metrics: g",
        ),
        (
            "[metrics]\ng = { column = \"x\" }",
            "e.toml:5:1: `metrics.g` must have one of `table`, `ratio` and `difference`; see `ecnlab docs scenario`, Metrics",
        ),
    ];
    let mut wrong = Vec::new();
    for (text, expected) in cases {
        let result = experiment(text);
        if result != Err(expected.to_owned()) {
            wrong.push(format!("{text}\n  says     {result:?}\n  must say {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(experiment(""), Ok(2));
}

#[test]
fn too_many_runs_are_a_slip_of_the_keyboard() {
    let values: Vec<String> = (1..=1_001).map(|i| i.to_string()).collect();
    let axis = |name: &str, key: &str| format!("[grid.{name}]\npath = \"{key}\"\nvalues = [{}]\n", values.join(", "));
    let text = axis("a", "flow.bulk.count") + &axis("b", "node.a.count");
    let expected =
        "e.toml:3:14: the experiment has 2004002 runs; at most 1000000 fit; write fewer replicates or points";
    assert_eq!(experiment(&text), Err(expected.to_owned()));
}

#[test]
fn a_scenario_that_cannot_be_read_is_named() {
    let read = |_: &std::path::Path| Err(std::io::Error::other("no such file"));
    let text = "format = 1\nscenario = \"../x.toml\"\nreplicates = 1\n";
    let wrong = parse_experiment("dir/e.toml", text, &read).unwrap_err().to_string();
    assert!(
        wrong.starts_with("dir/e.toml:2:12: `scenario`: cannot read `dir/../x.toml`: no such file; the path starts"),
        "{wrong}"
    );
}
