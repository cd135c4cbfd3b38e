//! What a scenario in a browser can use from outside of its text.

use std::collections::BTreeMap;
use std::sync::Arc;

use ecnlab_scenario::{Available, Found, Limit, Requested, Supplier, hex_sha256};
use {ecnlab_aqm as aqm, ecnlab_tcp as tcp};

/// Bytes of memory that a run may use: a quarter of what a page can address, so that the copies of its tables fit, too.
pub const MEMORY: u64 = 1 << 30;

/// Files that the reader has added, by the name that the scenario has for them. There are no laws in Python.
#[derive(Debug, Default)]
pub struct Files(pub BTreeMap<String, String>);

impl Supplier for Files {
    fn window(&self, requested: Requested<'_>) -> Found<dyn tcp::cc::Supply> {
        Err(python(requested.file))
    }

    fn queue(&self, requested: Requested<'_>) -> Found<dyn aqm::userlaw::Supply> {
        Err(python(requested.file))
    }

    fn trace(&self, _scenario: &str, file: &str) -> Result<(String, String), String> {
        let text = self
            .0
            .get(file)
            .ok_or_else(|| format!("the file `{file}` is not in the page; add it with \"Add a file\""))?;
        Ok((text.clone(), hex_sha256(text.as_bytes())))
    }

    fn memory(&self) -> Result<Option<Available>, String> {
        Ok(Some(Available { bytes: MEMORY, limit: Limit::Page }))
    }
}

fn python(file: &str) -> String {
    format!("`{file}` is a law in Python, which a browser does not run; use the command `ecnlab run`")
}

/// Parses a scenario with the `files` of the page.
///
/// # Errors
/// As [`ecnlab_scenario::parse_scenario_with`].
pub fn scenario(
    path: &str,
    text: &str,
    files: BTreeMap<String, String>,
) -> Result<ecnlab_scenario::Scenario, ecnlab_scenario::Diagnostics> {
    ecnlab_scenario::parse_scenario_with(path, text, Arc::new(Files(files)))
}

#[cfg(test)]
mod tests {
    use super::scenario;

    const HEAD: &str = "format = 1\nduration = \"10 s\"\n[flow.f]\nfrom = \"a\"\nto = \"b\"\ntraffic = \"ftp\"\n[link.l]\nfrom = \"a\"\nto = \"b\"\n\
                        delay = \"10 ms\"\n";

    #[test]
    fn a_trace_is_read_from_the_files_of_the_page() {
        let text = format!("{HEAD}rate = {{ csv = \"rates.csv\" }}\n");
        let wrong = scenario("s.toml", &text, [].into()).map(drop).unwrap_err().to_string();
        assert!(wrong.contains("s.toml:11:") && wrong.contains("Add a file"), "{wrong}");
        let files = [("rates.csv".to_owned(), "time_s,rate_mbps\n0,1\n5,2\n".to_owned())];
        let read = scenario("s.toml", &text, files.into());
        assert!(read.is_ok(), "{}", read.map(drop).unwrap_err());
    }

    #[test]
    fn a_law_in_python_and_a_run_that_is_too_large_are_refused() {
        let law = format!(
            "{HEAD}rate = \"1 Mbps\"\nqueue = \"q\"\n[queue.q]\nlimit = \"9 packets\"\ndiscipline = {{ python = \"law.py:Law\" }}\n"
        );
        let wrong = scenario("s.toml", &law, [].into()).map(drop).unwrap_err().to_string();
        assert!(wrong.contains("does not run"), "{wrong}");
        let large = format!("{HEAD}rate = \"1 Mbps\"\n").replace("[flow.f]", "[flow.f]\ncount = 900000");
        let wrong = scenario("s.toml", &large, [].into()).map(drop).unwrap_err().to_string();
        assert!(wrong.contains("a page in a browser has"), "{wrong}");
    }
}
