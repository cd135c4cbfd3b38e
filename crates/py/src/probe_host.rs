//! The prober, for real servers.

use std::net::{IpAddr, SocketAddr};

use ecnlab_live::{Settings, Target, Tun};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

use crate::errors::Cancelled;
use crate::probe::to_python;
use crate::scenario::Cancel;

/// Probe the server at `address` and `port` with `request` over a TUN device `device` of this network namespace: the
/// kernel has the address `near` at its near end, the prober `own` at its far end, all three of one IP version. The device is removed at the end.
/// Raises OSError, ValueError, Cancelled.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "Python names them")]
pub fn probe_host<'py>(
    py: Python<'py>,
    address: &str,
    port: u16,
    request: &[u8],
    device: &str,
    near: &str,
    own: &str,
    cancel: &Bound<'py, Cancel>,
) -> PyResult<Bound<'py, PyAny>> {
    let (address, near, own) = (ip(address)?, ip(near)?, ip(own)?);
    let server = SocketAddr::new(address, port);
    let stop = &cancel.get().0;
    let answers = py.detach(|| {
        let tun = Tun::create(device)?;
        // With `peer` in place of the route, IPv6 has no route to the prober.
        let ip = vec![
            format!("addr add {near} dev {device}"),
            format!("link set {device} up"),
            format!("route add {own} dev {device}"),
        ];
        Settings { sysctls: Vec::new(), ip }.apply()?;
        let first_port = 40_000 + (std::process::id() % 20_000) as u16;
        let seed = u64::from(std::process::id());
        ecnlab_live::probe(&tun, &Target { server, own, first_port, request: request.to_vec(), seed }, stop)
    });
    match answers
        .map_err(|error| PyOSError::new_err((error.raw_os_error().unwrap_or(0), format!("{device}: {error}"))))?
    {
        Some(answers) => to_python(py, &answers),
        None => Err(Cancelled::new_err("the probe was cancelled")),
    }
}

fn ip(text: &str) -> PyResult<IpAddr> {
    text.parse().map_err(|_| PyValueError::new_err(format!("{text} is not an IP address")))
}
