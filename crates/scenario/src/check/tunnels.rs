//! Checks of `[tunnel.NAME]` and of the tunnel named by a link.

use ecnlab_traffic::Checked as _;
use ecnlab_wire::{IpVersion, TCP_HEADER};

use crate::diagnostic::suggest;
use crate::file::Link;
use crate::findings::Findings;
use crate::path::Path;
use crate::tables::{Tables, flows_over};

/// Maximum length of an IP packet in bytes.
const LONGEST: u64 = 65_535;

/// Checks that the longest packet of the scenario fits into an IP packet with the outer header of each tunnel.
pub(crate) fn check(tables: &Tables, found: &mut Findings<'_>) {
    let segments = tables.tcps.iter().map(|(name, tcp)| {
        let over_ipv6 = flows_over(IpVersion::V6, name, &tables.flows).next().is_some();
        let ip = if over_ipv6 { IpVersion::V6 } else { IpVersion::V4 };
        tcp.config.mss.0 + u64::from(ip.header_len() + TCP_HEADER)
    });
    let datagrams = tables.flows.values().map(|flow| flow.traffic.largest_datagram().0);
    let longest = segments.chain(datagrams).max().unwrap_or_default();
    for (name, tunnel) in &tables.tunnels {
        let at = Path::of(&["tunnel", name, "overhead"]);
        let room = LONGEST.saturating_sub(longest);
        let message = format!(
            "`{at}` is {}: with it the longest packet here, {longest} B, would have more than {LONGEST} B",
            tunnel.overhead
        );
        found.unless(tunnel.overhead.0 <= room, &at, message, format!("write at most {room} B, or shorter packets"));
    }
}

/// Checks that the tunnel named by `link`, at `path`, exists, and that its boxes can read the headers on which they
/// act.
pub(crate) fn check_names(link: &Link, path: &Path, tables: &Tables, found: &mut Findings<'_>) {
    let Some(name) = &link.tunnel else { return };
    let at = path.key("tunnel");
    if !tables.tunnels.contains_key(name) {
        let names: Vec<&String> = tables.tunnels.keys().collect();
        found.value(&at, format!("`{at}`: there is no tunnel `{name}`"), suggest(name, &names, "tunnels"));
    }
    for (i, hostile) in link.boxes.iter().enumerate() {
        let at = path.key("boxes").index(i);
        let reads_tcp = tables.boxes.get(hostile).is_some_and(|hostile| hostile.reads_tcp());
        let message = format!("`{at}`: `{hostile}` acts on TCP headers, which are within the tunnel `{name}`");
        found.unless(!reads_tcp, &at, message, "name it behind the tunnel, or a box that has only `rewrite`");
    }
}
