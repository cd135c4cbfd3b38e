"""TBIT's ECN tests, for simulated and real servers (``docs/probe.md``)."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

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


class Ends(NamedTuple):
    """Both ends of the prober's device in one IP version, and what else depends on the version."""

    near: str
    """This machine's address."""
    own: str
    """The prober's address."""
    family: socket.AddressFamily
    forwarding: str
    """The kernel's setting, without which it forwards no packets."""
    nft: str
    """The version's name in `nft`."""


ENDS: Final = {
    4: Ends("198.18.0.1", "198.18.0.2", socket.AF_INET, "net.ipv4.ip_forward", "ip"),
    6: Ends("2001:2::1", "2001:2::2", socket.AF_INET6, "net.ipv6.conf.all.forwarding", "ip6"),
}
"""By IP version; from the benchmarking networks (RFC 2544 appendix C.2.2, RFC 5180 §8)."""

DEVICE: Final = "ecnprobe"

REQUEST: Final = "GET / HTTP/1.0\r\nHost: {host}\r\nUser-Agent: ecnlab\r\n\r\n"

SYSCTLS: Final = Path("/proc/sys")


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
    """Probe a real server; an empty ``host`` is this machine over IPv4, ``::1`` over IPv6.

    A name with addresses of both versions is probed over IPv4. Packets pass a temporary TUN device of this network
    namespace, which requires CAP_NET_ADMIN. Packets for another machine leave this one only if it forwards them. Raises
    EcnlabError, OSError.
    """
    require_linux("a probe of a real server", "probe a scenario")
    address = _address(host)
    ends = ENDS[ip_address(address).version]
    text = request.replace("{host}", _in_url(host or address)).encode()
    cancel = Cancel()
    try:
        with Threads[Answers](cancel.cancel) as threads:
            threads.begin(returned(lambda: _core.probe_host(address, port, text, DEVICE, ends.near, ends.own, cancel)))
            (answers,) = threads.values()
    except PermissionError as error:
        message = f"{DEVICE}: {error.strerror or error}: a TUN device needs root (CAP_NET_ADMIN)"
        raise EcnlabError(message) from None
    except ValueError as error:
        raise EcnlabError(str(error)) from None
    return answers


def _in_url(host: str) -> str:
    """Return ``host`` as URLs and the header Host have it: IPv6 addresses in brackets."""
    return f"[{host}]" if ":" in host else host


def _address(host: str) -> str:
    """Return the address of ``host``. Raises EcnlabError if the prober's packets cannot reach it."""
    if not host:
        return ENDS[4].near
    address = _resolved(host)
    if address == "::1":
        # IPv6 has no other short name for this machine.
        return ENDS[6].near
    ends = ENDS[ip_address(address).version]
    if address.startswith("127."):
        raise EcnlabError(
            f"{address} is a loopback address, which the prober's device cannot reach: let the server listen on all addresses and write `:PORT`, "
            f"which is {ends.near}, this machine's end of the prober's device"
        )
    if ip_address(address).is_link_local:
        raise EcnlabError(f"{address} is a link-local address, which the prober's device cannot reach: name another")
    if not _is_own(address, ends) and not _forwards(ends):
        raise EcnlabError(
            f"{address} is another machine, and this one does not forward packets: set `sysctl {ends.forwarding}=1`, and let the "
            f"firewall send packets of {ends.own} under this machine's address (nft: `{ends.nft} saddr {ends.own} masquerade`)"
        )
    return address


def _resolved(host: str) -> str:
    """Return the IPv4 address of ``host``, or its IPv6 address if it has no other."""
    for ends in ENDS.values():
        with suppress(OSError):
            return str(socket.getaddrinfo(host, None, ends.family, socket.SOCK_STREAM)[0][4][0])
    raise EcnlabError(
        f"{host} has no address, neither of IPv4 nor of IPv6: is it a name or an address that this machine resolves?"
    )


def _forwards(ends: Ends) -> bool:
    """Return whether this machine forwards packets of the version; without the version it has no setting."""
    setting = SYSCTLS / ends.forwarding.replace(".", "/")
    return setting.exists() and setting.read_text().strip() != "0"


def _is_own(address: str, ends: Ends) -> bool:
    """Return whether the address belongs to this machine."""
    if address == ends.near:
        return True
    with socket.socket(ends.family, socket.SOCK_DGRAM) as probe_socket:
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
