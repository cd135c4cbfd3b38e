"""The changes of the links of a stored run, drawn again from its specification and seed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ecnlab._core import Scenario
from ecnlab.base.quantities import changes
from ecnlab.base.types import DrawnChanges
from ecnlab.scenario.built import toml_key, toml_value


def changing(spec: Mapping[str, Any]) -> bool:
    """Return whether a link of the resolved ``spec`` has a rate or delay that changes, or outages."""
    sides = [side for link in spec["link"].values() for side in (link, link.get("reverse", {}))]
    return any("outages" in side or any(changes(side.get(key, "")) for key in ("rate", "delay")) for side in sides)


def drawn_changes(spec: Mapping[str, Any], seed: int, path: str) -> dict[str, DrawnChanges]:
    """Return the changes of each link of the tables that has some, of a run of the resolved ``spec`` with ``seed``.

    ``path`` is the file of the scenario, at which the paths of traces start. User-defined laws are not loaded. Raises
    SpecError if a trace cannot be read or differs from that of the run.
    """
    # Changes do not depend on queues and TCPs, which may be user-defined laws.
    plain: dict[str, dict[str, Any]] = {"queue": {}, "tcp": {name: {} for name in spec["tcp"]}, "capture": {}}
    own = {**spec, **plain, "link": {name: _unqueued(link) for name, link in spec["link"].items()}}
    text = "\n".join(f"{toml_key(key)} = {toml_value(value, key)}" for key, value in own.items())
    links = Scenario(path, text).drawn(seed)["links"]
    return {link["name"]: link["changes"] for link in links if "changes" in link}


def _unqueued(link: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``link`` with the default queue in both directions."""
    found = {key: value for key, value in link.items() if key != "queue"}
    return found | ({"reverse": _unqueued(link["reverse"])} if "reverse" in link else {})
