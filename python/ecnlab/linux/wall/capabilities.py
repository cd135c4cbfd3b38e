"""Check of the machine's capabilities by trial in a scratch namespace, before a run starts."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path
from typing import Final

from ecnlab._core import Scenario
from ecnlab.base.errors import EcnlabError
from ecnlab.laws.kernel.findings import Findings
from ecnlab.linux.plan import Plan
from ecnlab.linux.wall.guest import Guest

REMEDIES: Final = {
    "namespaces": "it needs root, or CAP_SYS_ADMIN and CAP_NET_ADMIN (`sudo`; in a container `--privileged`)",
    "mounts": "it needs CAP_SYS_ADMIN, and in a container a profile that permits mounting (`--privileged`)",
    "tun": "it needs CAP_NET_ADMIN and the driver: `modprobe tun`, in a container `--device /dev/net/tun`",
}
"""The remedy for each failed operation."""


def check_machine(guest: Guest) -> None:
    """Raise EcnlabError with cause and remedy if namespaces and devices cannot be created here."""
    done = subprocess.run([guest.container, "check"], capture_output=True, text=True, check=False)
    if done.returncode:
        problem = done.stderr.strip()
        remedy = REMEDIES.get(problem.partition(":")[0], "")
        raise EcnlabError(
            f"this machine's kernel cannot be used as the engine: {problem}: {remedy}; or leave `--clock wall` out: the kernel of "
            "`ecnlab linux build` needs no rights"
        )


def check_congestion(scenario: Scenario, requested: Plan) -> None:
    """Raise SpecError, with file, line and key, for a window law that the machine's kernel does not allow to select."""
    found = Findings()
    for name, law in sorted({(home.tcp.name, home.tcp.congestion) for home in requested.homes}):
        if not _has(law):
            known = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().strip()
            found.refuse(
                f"tcp.{name}.congestion",
                f"`tcp.{name}.congestion`: the kernel of this machine does not offer `{law}`",
                f"it has {known}; `modprobe tcp_{law}` may add it",
            )
    found.raise_if_any(scenario)


def _has(law: str) -> bool:
    with socket.socket() as probe:
        try:
            probe.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, law.encode())
        except OSError:
            return False
    return True
