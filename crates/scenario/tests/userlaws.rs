//! Laws in files of the user's: how a scenario names them, and what a supplier finds becomes part of it.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use ecnlab_scenario::{
    Found, Requested, Scenario, Supplier, parse_experiment_with, parse_scenario, parse_scenario_with,
};
use ecnlab_tcp::cc;

const FILE: &str = r#"format = 1
duration = "10 s"
[link.l]
from = "a"
to = "b"
rate = "1 Mbps"
delay = "10 ms"
queue = "q"
[queue.q]
discipline = { python = "laws/q.py:Q" }
limit = "10 packets"
[tcp.default]
congestion = { python = "w.py:W" }
[flow.f]
from = "a"
to = "b"
traffic = "ftp"
"#;

/// Has every law, from a file with this digest, unless it is called `none.py`; records the requests.
#[derive(Debug)]
struct Files(&'static str, Mutex<Vec<String>>);

struct Nothing;

impl cc::Supply for Nothing {
    fn object(&self, _: cc::Window) -> Box<dyn cc::CongestionControl> {
        unreachable!("no run is begun")
    }
}

impl ecnlab_aqm::userlaw::Supply for Nothing {
    fn object(&self, _: ecnlab_aqm::LinkContext) -> Box<dyn ecnlab_aqm::Aqm> {
        unreachable!("no run is begun")
    }
}

impl Files {
    fn find(&self, requested: Requested<'_>) -> Result<String, String> {
        let Requested { scenario, key, file, class } = requested;
        self.1.lock().unwrap().push(format!("{scenario} {key} {file} {class}"));
        if file == "none.py" { Err("there is no `none.py`; write it".to_owned()) } else { Ok(self.0.to_owned()) }
    }
}

impl Supplier for Files {
    fn window(&self, requested: Requested<'_>) -> Found<dyn cc::Supply> {
        self.find(requested).map(|digest| (Arc::new(Nothing) as _, digest))
    }
    fn queue(&self, requested: Requested<'_>) -> Found<dyn ecnlab_aqm::userlaw::Supply> {
        self.find(requested).map(|digest| (Arc::new(Nothing) as _, digest))
    }
}

fn files(digest: &'static str) -> Arc<Files> {
    Arc::new(Files(digest, Mutex::default()))
}

fn read(text: &str, digest: &'static str) -> Result<Scenario, String> {
    parse_scenario_with("dir/x.toml", text, files(digest)).map_err(|wrong| wrong.to_string())
}

#[test]
fn each_law_is_requested_from_the_supplier_by_its_key() {
    let supplier = files("12");
    parse_scenario_with("dir/x.toml", FILE, supplier.clone()).unwrap();
    let requested = supplier.1.lock().unwrap().clone();
    assert_eq!(
        requested,
        ["dir/x.toml tcp.default.congestion.python w.py W", "dir/x.toml queue.q.discipline.python laws/q.py Q"]
    );
}

#[test]
fn the_digest_of_the_file_is_part_of_the_scenario_and_of_its_hash() {
    let one = read(FILE, "12").unwrap();
    let resolved = one.resolved();
    let law = serde_json::json!({ "kind": "user-defined", "python": "w.py:W", "sha256": "12" });
    assert_eq!(resolved["tcp"]["default"]["congestion"], law);
    assert_eq!(resolved["queue"]["q"]["discipline"], "user-defined");
    assert_eq!(
        (&resolved["queue"]["q"]["python"], &resolved["queue"]["q"]["sha256"]),
        (&"laws/q.py:Q".into(), &"12".into())
    );
    assert_eq!(one.hash(), read(FILE, "12").unwrap().hash());
    assert_ne!(one.hash(), read(FILE, "34").unwrap().hash());
    assert_eq!(one.plan(1).unsupplied(), None);
}

#[test]
fn what_is_resolved_is_the_same_scenario_and_refuses_a_changed_file() {
    let text = toml::to_string(&read(FILE, "12").unwrap().resolved()).unwrap();
    assert_eq!(read(&text, "12").unwrap().hash(), read(FILE, "12").unwrap().hash());
    let wrong = read(&text, "34").unwrap_err();
    assert!(wrong.contains("`queue.q.python`: the file has changed: its SHA-256 is 34, not 12"), "{wrong}");
    assert!(wrong.contains("`tcp.default.congestion.python`: the file has changed"), "{wrong}");
}

#[test]
fn a_refusal_of_the_supplier_has_its_line_and_remedy() {
    let wrong = read(&FILE.replace("w.py", "none.py").replace("laws/q.py", "none.py"), "12").unwrap_err();
    assert!(
        wrong.contains("dir/x.toml:10:25: `queue.q.discipline.python`: there is no `none.py`; write it"),
        "{wrong}"
    );
    assert!(
        wrong.contains("dir/x.toml:13:25: `tcp.default.congestion.python`: there is no `none.py`; write it"),
        "{wrong}"
    );
}

#[test]
fn other_values_are_found_by_the_same_supplier() {
    let base = read(FILE, "12").unwrap();
    let law: toml::Table = toml::from_str("python = \"v.py:V\"").unwrap();
    let changed = base.with(&[("tcp.default.congestion".to_owned(), law.into())]).unwrap();
    assert_eq!(changed.resolved()["tcp"]["default"]["congestion"]["python"], "v.py:V");
    assert_eq!((changed.plan(1).unsupplied(), changed.resolved()["queue"] == base.resolved()["queue"]), (None, true));
    // From a law in a file to one of the simulator's own, and back.
    let plain = changed.with(&[("queue.q.discipline".to_owned(), "droptail".into())]).unwrap();
    assert_eq!(plain.resolved()["queue"]["q"]["discipline"], "droptail");
}

/// Has every law until it has been requested so often.
#[derive(Debug)]
struct Until(u32, AtomicU32);

impl Supplier for Until {
    fn window(&self, _: Requested<'_>) -> Found<dyn cc::Supply> {
        let before = self.1.fetch_add(1, Relaxed);
        if before < self.0 { Ok((Arc::new(Nothing), String::new())) } else { Err("it is deleted".to_owned()) }
    }
    fn queue(&self, _: Requested<'_>) -> Found<dyn ecnlab_aqm::userlaw::Supply> {
        Ok((Arc::new(Nothing), String::new()))
    }
}

/// The base and each cell request the law when the experiment is read, and a cell again when it is run.
#[test]
fn a_cell_that_is_no_scenario_is_an_error_and_not_the_base() {
    let text = "format = 1\nscenario = \"x.toml\"\nreplicates = 1\n\
                [grid.rate]\npath = \"link.l.rate\"\nvalues = [\"1 Mbps\", \"2 Mbps\"]\n";
    let supplier = |times| Arc::new(Until(times, AtomicU32::new(0)));
    let read = |times| parse_experiment_with("e.toml", text, &|_| Ok(FILE.to_owned()), supplier(times)).unwrap();
    assert_eq!(read(5).scenarios().map(|all| all.len()), Ok(2));
    let experiment = read(3);
    assert!(experiment.run(0).is_err() && experiment.scenarios().is_err());
    assert!(experiment.runs().all(|run| run.is_err()));
}

#[test]
fn without_a_supplier_the_name_stays_and_no_run_begins() {
    let scenario = parse_scenario("x.toml", FILE).unwrap();
    assert!(scenario.resolved()["tcp"]["default"]["congestion"].get("sha256").is_none());
    assert_eq!(scenario.plan(1).unsupplied(), Some("w.py:W"));
    let wrong = ecnlab_engine::run(&scenario.plan(1), 1).unwrap_err().to_string();
    assert_eq!(wrong, "`w.py:W` is a user-defined law, which only the simulator of the Python package runs");
    let reno = scenario.with(&[("tcp.default.congestion".to_owned(), "reno".into())]).unwrap();
    assert_eq!(reno.plan(1).unsupplied(), Some("laws/q.py:Q"));
}

#[test]
fn a_name_that_is_none_a_strange_key_and_a_strange_table_are_refused() {
    let wrong = |from: &str, to: &str| read(&FILE.replace(from, to), "12").unwrap_err();
    assert!(wrong("w.py:W", "w.py").contains("`tcp.default.congestion.python` \"w.py\" names no class in a file"));
    assert!(wrong("laws/q.py:Q", "q").contains("\"q\" names no class in a file"));
    let beside = wrong("limit =", "threshold = \"3 packets\"\nlimit =");
    assert!(beside.contains("unknown key `queue.q.threshold`"), "{beside}");
    let strange = wrong("{ python = \"laws/q.py:Q\" }", "{ ruby = \"q.rb:Q\" }");
    assert!(strange.contains("`queue.q.discipline` names no discipline"), "{strange}");
    let both = wrong("\"laws/q.py:Q\" }", "\"laws/q.py:Q\", speed = 3 }");
    assert!(both.contains("unknown key `queue.q.discipline.speed`"), "{both}");
    let alone = wrong("{ python = \"w.py:W\" }", "\"user-defined\"");
    assert!(alone.contains("python"), "{alone}");
}
