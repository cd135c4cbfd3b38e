//! What `check` can ask an endpoint, by name.

use ecnlab_base::Dur;
use ecnlab_tcp::Endpoint;

/// The value of `name` as a script writes it.
pub fn observe(endpoint: &Endpoint, name: &str) -> Result<String, String> {
    let (sample, counters) = (endpoint.sample(), endpoint.counters());
    let value = match name {
        "state" => return Ok(state(&format!("{:?}", endpoint.state()))),
        "ecn" => return Ok(if endpoint.ecn_negotiated() { "yes" } else { "no" }.into()),
        "in_recovery" => return Ok(if sample.in_recovery { "yes" } else { "no" }.into()),
        "srtt" => return Ok(seconds(sample.srtt)),
        "rttvar" => return Ok(seconds(sample.rttvar)),
        "rto" => return Ok(seconds(sample.rto)),
        "cwnd" => sample.cwnd,
        "ssthresh" => sample.ssthresh,
        "received" => endpoint.received(),
        "consumed" => endpoint.consumed(),
        "acked" => endpoint.acked(),
        "timeouts" => counters.timeouts,
        "fast_recoveries" => counters.fast_recoveries,
        "ecn_reductions" => counters.ecn_reductions,
        "ece_received" => counters.ece_received,
        "cwr_received" => counters.cwr_received,
        "bytes_marked" => counters.bytes_marked,
        "ecn_holds" => counters.ecn_holds,
        "quenches" => counters.quenches_received,
        "quench_reductions" => counters.quench_reductions,
        "retransmits_fast" => counters.retransmits_fast,
        "retransmits_timeout" => counters.retransmits_timeout,
        "dupacks" => counters.dupacks_received,
        _ => return column(endpoint, name).ok_or_else(|| format!("`{name}` is nothing that can be checked")),
    };
    Ok(value.to_string())
}

/// A value of the window law's own, with up to nine places.
fn column(endpoint: &Endpoint, name: &str) -> Option<String> {
    let text = format!("{:.9}", endpoint.law_value(name)?);
    Some(text.trim_end_matches('0').trim_end_matches('.').to_owned())
}

/// The RFC's spelling of a state: `FinWait1` is FIN-WAIT-1.
fn state(variant: &str) -> String {
    let mut name = String::new();
    for c in variant.chars() {
        if !name.is_empty() && (c.is_uppercase() || c.is_ascii_digit()) {
            name.push('-');
        }
        name.extend(c.to_uppercase());
    }
    name
}

/// Seconds without trailing zeros.
fn seconds(d: Dur) -> String {
    let text = format!("{}.{:012}", d.ps() / 1_000_000_000_000, d.ps() % 1_000_000_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
