"""A quantile of fewer than 1/(1 - q) samples states their number: on the terminal, on pages and in tables of sweeps."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest

import ecnlab
from ecnlab.folder.few_samples import needed, remark

SCENARIO = """
format = 1
duration = "DURATION"
warmup = "0 s"

link.wire = { from = "a", to = "b", rate = "1 Mbps", delay = "5 ms", queue = "fifo" }
queue.fifo = { discipline = "droptail", limit = "20 packets", quantiles = true }
tcp.plain = {}

[flow.clock]
from = "a"
to = "b"
traffic = { kind = "cbr", rate = "80 kbps", packet = "1000 B" }
start = "0 s"

[flow.page]
from = "a"
to = "b"
traffic = { kind = "crr", request = "100 B", response = "500 B" }
tcp = "plain"
start = "0 s"
"""

EXPERIMENT = """
format = 1
title = "Tails"
scenario = "wire.toml"
replicates = 2
seed = 1

metrics.tail = { table = "links", column = "sojourn_p99_s", where = { link = "wire" } }
metrics.middle = { table = "links", column = "sojourn_p50_s", where = { link = "wire" } }
metrics.pages = { table = "transactions", column = "latency_s", aggregate = "p99" }
metrics.apart = { difference = ["tail", "middle"] }
"""


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("sojourn_p99_s", 100),
        ("sojourn_p999_s", 1000),
        ("p90", 10),
        ("p95_s", 20),
        ("median_s", 2),
        ("sojourn_p50_s", 2),
    ],
)
def test_a_quantile_needs_one_sample_above_it(name: str, least: int) -> None:
    assert needed(name) == least
    assert remark(name, least) == "" and remark(name, least - 1).startswith(f" of {least - 1} sample")


@pytest.mark.parametrize("name", ["sojourn_mean_s", "sojourn_max_s", "page", "rtt_min_s", "mean_pie_p", "step1"])
def test_other_columns_are_no_quantiles(name: str) -> None:
    assert needed(name) is None and remark(name, 1) == ""


def written(where: Path, duration: str) -> Path:
    (where / "wire.toml").write_text(SCENARIO.replace("DURATION", duration))
    (where / "tails.toml").write_text(EXPERIMENT)
    return where / "wire.toml"


def test_a_short_run_states_its_samples_and_a_long_one_does_not(cli, tmp_path) -> None:
    short = cli("run", written(tmp_path, "500 ms"), "--out", "short")
    departed = ecnlab.load(tmp_path / "short").table("queues").filter(link="wire", group="all")["departed"][0]
    assert departed < 100
    assert f" of {departed} samples" in short.stdout and f" of {departed} samples" in cli("show", "short").stdout
    page = tmp_path / "short.html"
    cli("report", "short", "-o", str(page))
    assert f" of {departed} samples" in html.unescape(page.read_text())
    stored = json.loads(cli("show", "short", "--json", "--table", "links").stdout)["links"]
    assert isinstance(stored[0]["sojourn_p99_s"], float)
    assert "samples" not in cli("show", "short", "--csv").stdout
    long = cli("run", written(tmp_path, "2 s"), "--out", "long").stdout
    table = long[: long.index("\nqueues")]  # one column of the table of links is one line
    (p99,) = (line for line in table.splitlines() if line.startswith("sojourn_p99_s"))
    (p999,) = (line for line in table.splitlines() if line.startswith("sojourn_p999_s"))
    assert "samples" not in p99 and "samples" in p999


def test_means_of_quantiles_in_sweeps_state_the_samples_of_a_run(cli, tmp_path) -> None:
    written(tmp_path, "500 ms")
    assert cli("sweep", "tails.toml", "--out", "out", "--workers", 1).returncode == 0
    rows = {line.split()[0]: line for line in cli("show", "out").stdout.splitlines() if line.startswith(tuple("tmpa"))}
    counts = ecnlab.load(tmp_path / "out").table("queues").collect().filter(link="wire", group="all")["departed"]
    remark = (
        f"of {counts.min()} samples" if counts.min() == counts.max() else f"of {counts.min()} to {counts.max()} samples"
    )
    assert remark in rows["tail"] and remark in rows["apart"]
    assert "samples" not in rows["middle"] and re.search(r"of \d+ (to \d+ )?samples", rows["pages"])
    page = tmp_path / "sweep.html"
    cli("report", "out", "-o", str(page))
    assert remark in html.unescape(page.read_text())
