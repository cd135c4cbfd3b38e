//! Plays `tests/data/scripts/**/*.script` to the endpoint: one test a script and variant, and one for `docs/generated/rules.md`.

mod script;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ecnlab_script::{Case, Failure, find, parse, run, settings};
use libtest_mimic::{Arguments, Failed, Trial};
use script::{mutate, rules};

/// With this variable set, the test of `docs/generated/rules.md` writes the page instead of comparing it.
const WRITE_RULES: &str = "ECNLAB_WRITE_RULES";

fn main() {
    let arguments = Arguments::from_args();
    // Cargo plays tests in the folder of their package.
    let repository = Path::new("../..");
    libtest_mimic::run(&arguments, trials(repository)).exit();
}

fn trials(repository: &Path) -> Vec<Trial> {
    let root = repository.join("tests/data/scripts");
    let files = find(&root).unwrap_or_default();
    let (mut cases, mut trials) = (Vec::new(), Vec::new());
    for file in &files {
        match parse::read(&[&root], file) {
            Ok(read) => cases.extend(read),
            Err(failure) => trials.push(Trial::test(file.display().to_string(), move || Err(fail(failure)))),
        }
    }
    let page = repository.join("docs/generated/rules.md");
    let written = rules::page(&cases);
    trials.push(Trial::test("there are scripts", move || if files.is_empty() { Err("none".into()) } else { Ok(()) }));
    trials.push(Trial::test("docs/generated/rules.md is up to date", move || compare_rules(&page, &written)));
    trials.extend(cases.into_iter().map(|case| Trial::test(case.name.clone(), move || prove(&case))));
    trials
}

/// The script holds, and would not hold if any one thing it claims were otherwise.
fn prove(case: &Case) -> Result<(), Failed> {
    let config = Arc::new(settings::config(case).map_err(fail)?);
    match run::run_beside(&config, case, mutate::claims).map_err(fail)? {
        None => Ok(()),
        Some((what, step)) => {
            let message = format!("the script still holds with a wrong {what} in this line");
            Err(fail(Failure::new(&step.place, message)))
        }
    }
}

fn compare_rules(page: &PathBuf, written: &str) -> Result<(), Failed> {
    if std::env::var_os(WRITE_RULES).is_some() {
        return Ok(std::fs::write(page, written)?);
    }
    if std::fs::read_to_string(page).unwrap_or_default() == written {
        Ok(())
    } else {
        Err(format!("stale: {WRITE_RULES}=1 cargo test -p ecnlab-tcp --test scripts").into())
    }
}

fn fail(failure: Failure) -> Failed {
    format!("\n{failure}").into()
}
