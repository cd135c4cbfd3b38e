//! Checks of flows with `ip = 6`: headers that fit, one MSS for each TCP, and no source quench, which only IPv4 has.

use ecnlab_aqm as aqm;
use ecnlab_tcp::Headers;
use ecnlab_traffic::Checked as _;
use ecnlab_wire::{IpVersion, TCP_HEADER, UDP_HEADER};
use serde_json::json;

use crate::file::Flow;
use crate::findings::Findings;
use crate::path::Path;
use crate::tables::{Duplex, Tables, Tcp, flows_over};

/// Maximum length of a packet on a link in bytes.
const LONGEST: u64 = 65_535;
/// Bytes of IPv6 and TCP without options.
const HEADERS: u64 = (IpVersion::V6.header_len() + TCP_HEADER) as u64;

pub(crate) fn check(tables: &Tables, found: &mut Findings<'_>) {
    let Some((name, _)) = tables.flows.iter().find(|(_, flow)| !flow.ip.is_v4()) else { return };
    check_queues(tables, name, found);
    for (name, flow) in tables.flows.iter().filter(|(_, flow)| !flow.ip.is_v4() && !flow.traffic.uses_tcp()) {
        check_datagrams(name, flow, found);
    }
    for (name, tcp) in &tables.tcps {
        if let [Some(six), four] = [IpVersion::V6, IpVersion::V4].map(|ip| flows_over(ip, name, &tables.flows).next()) {
            check_tcp(name, tcp, six, found);
            check_mss(name, six, four, found);
        }
    }
}

/// Rejects queues in use that send source quenches. `flow` has IPv6 packets.
fn check_queues(tables: &Tables, flow: &str, found: &mut Findings<'_>) {
    let directions = tables.links.values().flat_map(Duplex::directions);
    let mut names: Vec<&String> = directions.map(|link| &link.queue).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let Some(key) = tables.queues.get(name).and_then(|queue| quench_key(queue)) else { continue };
        let at = key.split('.').fold(Path::of(&["queue", name]), |at, key| at.key(key));
        let message = format!("`{at}`: IPv6 has no source quench, and flow `{flow}` has ip = 6");
        found.value(&at, message, format!("leave it out, or `flow.{flow}.ip`"));
    }
}

/// The key by which a queue, or one inside it, sends source quenches.
fn quench_key(queue: &aqm::Config) -> Option<String> {
    let name = queue.params.name();
    let key = aqm::registry::ROWS.iter().find(|row| row.facts.name == name).and_then(|row| row.facts.quenches);
    let own = key.filter(|key| !json!(queue.params)[key].is_null()).map(str::to_owned);
    let inside =
        || queue.classes.iter().find_map(|(name, class)| Some(format!("class.{name}.{}", quench_key(&class.queue)?)));
    own.or_else(inside)
}

fn check_datagrams(name: &str, flow: &Flow, found: &mut Findings<'_>) {
    let (at, least) = (Path::of(&["flow", name, "traffic", "packet"]), IpVersion::V6.header_len() + UDP_HEADER);
    let packet = flow.traffic.largest_datagram();
    let message = format!("`{at}` is {packet}, less than the headers of IPv6 and UDP (`flow.{name}.ip` is 6)");
    found.unless(packet.0 >= least.into(), &at, message, format!("write {least} B or more"));
}

/// Checks the lengths and the feedback of a TCP that the IPv6 flow `six` uses.
fn check_tcp(name: &str, tcp: &Tcp, six: &str, found: &mut Findings<'_>) {
    let (path, config) = (Path::of(&["tcp", name]), &tcp.config);
    for (key, headers) in [("data_headers", config.data_headers), ("ack_headers", config.ack_headers)] {
        let Headers::Fixed(bytes) = headers else { continue };
        let at = path.key(key);
        let message = format!("`{at}` is {bytes}, less than the {HEADERS} B of IPv6 and TCP (`flow.{six}.ip` is 6)");
        found.unless(bytes.0 >= HEADERS, &at, message, format!("write \"real\", or \"{HEADERS} B\""));
    }
    let (at, most) = (path.key("mss"), LONGEST - HEADERS);
    let message = format!(
        "`{at}` is {}: with headers of {HEADERS} B (`flow.{six}.ip` is 6) it is more than {LONGEST} B",
        config.mss
    );
    found.unless(config.mss.0 <= most, &at, message, format!("write at most {most} B"));
    let at = path.key("ecn");
    let message = format!("`{at}` responds to source quenches, which IPv6 does not have (`flow.{six}.ip` is 6)");
    found.unless(!config.accepted_ecn().quenches(), &at, message, "write another feedback scheme, such as \"rfc3168\"");
}

/// Checks that a TCP without `mss` has flows of one version only: the defaults differ by 20 bytes.
fn check_mss(name: &str, six: &str, four: Option<&str>, found: &mut Findings<'_>) {
    let path = Path::of(&["tcp", name]);
    if let (Some(four), None) = (four, found.node(&path.key("mss"))) {
        let message =
            format!("`{path}` has no `mss`, whose default is 20 B less for flow `{six}` (ip = 6) than for `{four}`");
        let help = format!("write `mss` in [{path}], such as \"1440 B\", or give `{six}` a [tcp.NAME] of its own");
        found.key(&path, message, help);
    }
}
