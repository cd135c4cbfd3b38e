"""TBIT's ECN tests, for simulated and real servers (``docs/probe.md``)."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

from ecnlab import _core
from ecnlab._core import Cancel, Scenario
from ecnlab.base.errors import EcnlabError
from ecnlab.base.lawcode import guarded
from ecnlab.base.lazy_imports import pl
from ecnlab.base.markdown import table as table_of
from ecnlab.base.systems import require_linux
from ecnlab.base.threads import Threads, returned
from ecnlab.scenario.files import read_scenario

Answers: TypeAlias = dict[str, Any]
"""Results for one server: the fields of ``ecnlab_probe::Answers``, and ``class``, ``findings`` and ``slowed``."""

BOXES: Final = Path(__file__).with_name("boxes.toml")
"""A server behind each box, in each direction."""

NEAR: Final = "198.18.0.1"
"""This machine's address on the prober's device, from the benchmarking network (RFC 2544 appendix C.2.2)."""

OWN: Final = "198.18.0.2"
"""The prober's address on the device."""

DEVICE: Final = "ecnprobe"

REQUEST: Final = "GET / HTTP/1.0\r\nHost: {host}\r\nUser-Agent: ecnlab\r\n\r\n"

FORWARDING: Final = Path("/proc/sys/net/ipv4/ip_forward")


def probe(scenario: Scenario | Path | str, flows: Sequence[str] = (), seed: int = 1) -> dict[str, Answers]:
    """Probe the server of each of ``flows`` of a scenario, of all with TCP if none is named; return the results by flow name.

    The server is the flow's ``from`` end with its TCP, the prober is at its ``to`` end; the links carry no other traffic.
    Raises SpecError, EcnlabError.
    """
    if not isinstance(scenario, Scenario):
        scenario = read_scenario(Path(scenario))
    try:
        with guarded():
            return dict(_core.probe_scenario(scenario, list(flows), seed))
    except ValueError as error:
        raise EcnlabError(str(error)) from None


def probe_host(host: str, port: int, request: str = REQUEST) -> Answers:
    """Probe a real server over IPv4; an empty ``host`` is this machine.

    Packets pass a temporary TUN device of this network namespace, which requires CAP_NET_ADMIN. Packets for another
    machine leave this one only if it forwards them. Raises EcnlabError, OSError.
    """
    require_linux("a probe of a real server", "probe a scenario")
    address = _address(host)
    text = request.replace("{host}", host or NEAR).encode()
    cancel = Cancel()
    try:
        with Threads[Answers](cancel.cancel) as threads:
            threads.begin(returned(lambda: _core.probe_host(address, port, text, DEVICE, NEAR, OWN, cancel)))
            (answers,) = threads.values()
    except PermissionError as error:
        message = f"{DEVICE}: {error.strerror or error}: a TUN device needs root (CAP_NET_ADMIN)"
        raise EcnlabError(message) from None
    except ValueError as error:
        raise EcnlabError(str(error)) from None
    return answers


def _address(host: str) -> str:
    """Return the IPv4 address of ``host``. Raises EcnlabError if the prober's packets cannot reach it."""
    if not host:
        return NEAR
    try:
        address = socket.getaddrinfo(host, None, socket.AF_INET, socket.SOCK_STREAM)[0][4][0]
    except OSError as error:
        raise EcnlabError(f"{host} has no IPv4 address: {error}") from None
    if str(address).startswith("127."):
        raise EcnlabError(
            f"{address} is a loopback address, which the prober's device cannot reach: let the server listen on all addresses and write `:PORT`, "
            f"which is {NEAR}, this machine's end of the prober's device"
        )
    if not _is_own(str(address)) and FORWARDING.read_text().strip() == "0":
        raise EcnlabError(
            f"{address} is another machine, and this one does not forward packets: set `sysctl net.ipv4.ip_forward=1`, and let the "
            f"firewall send packets of {OWN} under this machine's address (nft: `ip saddr {OWN} masquerade`)"
        )
    return str(address)


def _is_own(address: str) -> bool:
    """Return whether the address belongs to this machine."""
    if address == NEAR:
        return True
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe_socket:
        try:
            probe_socket.bind((address, 0))
        except OSError:
            return False
    return True


def table(requested: dict[str, Answers]) -> pl.DataFrame:
    """Return one row per server: its results and its class."""
    return pl.DataFrame([{"server": name, **_row(answers)} for name, answers in requested.items()])


def _row(answers: Answers) -> dict[str, str]:
    echo, back = answers["echo"], answers["back"]
    reduction = back["reduction"]
    return {
        "plain SYN": answers["plain"],
        "ECN SYN": answers["setup"],
        "ECE before CE": _yes(echo["before_ce"]),
        "after CE": _yes(echo["of_ce"]),
        "until CWR": _yes(echo["until_cwr"]),
        "after CWR": _yes(echo["after_cwr"]),
        "its data": _codepoints(back["data"]),
        "without ECN": _codepoints(answers["unmarked"]),
        "CWR after ECE": _yes(reduction and reduction["cwr"]),
        "window": f"{reduction['before']} to {reduction['after']}" if reduction else "-",
        "class": answers["class"],
    }


def _yes(value: bool | None) -> str:
    return "-" if value is None else "yes" if value else "no"


def _codepoints(seen: dict[str, int]) -> str:
    names = {"not_ect": "Not-ECT", "ect1": "ECT(1)", "ect0": "ECT(0)", "ce": "CE"}
    return ", ".join(name for key, name in names.items() if seen[key]) or "-"


def markdown(frame: pl.DataFrame) -> str:
    """Return ``frame`` as a Markdown table."""
    return table_of(frame.columns, frame.iter_rows()) + "\n"
