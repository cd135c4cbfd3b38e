//! Checks of flows over QUIC.

use ecnlab_quic::Impossible;
use ecnlab_traffic::Params as Traffic;

use crate::file::Flow;
use crate::findings::Findings;
use crate::path::Path;
use crate::tables::Tables;

/// Rejects impossible values of each `[quic.NAME]`.
pub(crate) fn check_settings(tables: &Tables, found: &mut Findings<'_>) {
    for (name, settings) in &tables.quics {
        if let Err(Impossible { key, problem, remedy }) = settings.check() {
            let at = Path::of(&["quic", name, key]);
            found.value(&at, format!("`{at}` {problem}"), remedy);
        }
    }
}

/// Rejects settings that do not exist, that the stack does not accept, or that do not fit the flow. `path` is the flow's.
pub(crate) fn check(flow: &Flow, path: &Path, tables: &Tables, found: &mut Findings<'_>) {
    if !flow.names_quic() {
        return;
    }
    let known: Vec<&String> = tables.quics.keys().collect();
    let keys = [("quic", &flow.quic), ("quic_from", &flow.quic_from), ("quic_to", &flow.quic_to)];
    for (key, name) in keys.iter().filter_map(|(key, name)| Some((key, name.as_ref()?))) {
        found.known(&path.key(key), "quic", name, &known);
    }
    check_keys(flow, path, found);
    let Some(ends) = flow.quics() else {
        let key = if flow.quic_from.is_some() { "quic_from" } else { "quic_to" };
        let at = path.key(key);
        return found.key(&at, format!("`{at}`: the other end has no QUIC"), "write `quic` for both ends");
    };
    let [Some(from), Some(to)] = ends.map(|name| tables.quics.get(name)) else { return };
    if let Err(error) = ecnlab_quic::check([from, to]) {
        let at = Path::of(&["quic", ends[0], "stack"]);
        found.value(&at, format!("`{at}`: {error}"), "");
    }
}

/// Rejects keys that have no effect with QUIC.
fn check_keys(flow: &Flow, path: &Path, found: &mut Findings<'_>) {
    let streams = matches!(flow.traffic, Traffic::Ftp(_) | Traffic::Crr(_) | Traffic::Web(_));
    let at = path.key("traffic");
    let message = format!("`{at}`: traffic of the kind `{}` does not run over QUIC", flow.traffic.name());
    found.unless(streams, &at, message, "write \"ftp\", \"crr\" or \"web\", or leave out `quic`");
    let at = path.key("read_rate");
    found.unless(flow.read_rate.is_none(), &at, format!("`{at}`: applications read at once over QUIC"), "leave it out");
}
