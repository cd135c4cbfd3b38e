"""Run the same dumbbells in ns-2.35 and in ecnlab and print their means side by side.

Exit code 0: no difference without an explanation in docs/fidelity.md; 1: there is one; 2: ns-2 could not be run.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

import comparison
import laws
import ns2
import simulated
import traces
from cells import HERE, Cell, cells

ROOT = HERE.parents[2]
Measure = Callable[[Cell, int], dict[str, float]]


def main() -> int:
    """Parse the command line, run both sides, print the table."""
    options = _arguments()
    try:
        ns2.ensure()
    except ns2.Ns2Error as error:
        print(f"crosscheck: {error}", file=sys.stderr)
        return 2
    chosen = [c for c in cells() if options.cell in c.name]
    seeds = range(options.first, options.first + options.seeds)
    sides: dict[str, Measure] = {
        "ns-2.35": lambda cell, seed: ns2.measure(cell.ns2, cell.groups, seed),
        "ecnlab": simulated.measure,
    }
    results = {side: _sweep(side, measure, chosen, seeds) for side, measure in sides.items()}
    rows = [
        comparison.compare(cell.name, metric, *([run[metric] for run in results[side][cell.name]] for side in sides))
        for cell in chosen
        for metric in results["ns-2.35"][cell.name][0]
    ]
    fidelity = ROOT / "docs" / "fidelity.md"
    comparison.judge(rows, comparison.load_explanations(HERE / "explained.toml", fidelity))
    _print_table(rows)
    _write(options.out, rows, options.seeds)
    known = traces.load_explanations(HERE / "explained.toml", comparison.anchors(fidelity))
    unexplained = _compare_traces(options.patterns, known)
    stale = laws.others()
    print(f"laws: ns-2 prints other files than crates/aqm/tests/ns2 has: {stale or None}")
    return 1 if unexplained or stale or any(row.verdict == "DIFFERS" for row in rows) else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make crosscheck", description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=40, help="runs per cell and simulator (default 40)")
    parser.add_argument("--first", type=int, default=1, help="the first seed (default 1)")
    parser.add_argument("--cell", default="", help="only the cells whose name contains this")
    parser.add_argument("--patterns", type=int, default=20, help="packet traces of each kind (default 20)")
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "crosscheck.json", help="where the numbers go")
    options = parser.parse_args()
    if options.seeds < 2:
        parser.error("--seeds: at least 2, or there is no interval")
    return options


def _sweep(side: str, measure: Measure, chosen: list[Cell], seeds: range) -> dict[str, list[dict[str, float]]]:
    """Run every cell with every seed on all cores; the order of the result does not depend on the cores."""
    begun = time.perf_counter()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        pending = {cell.name: [pool.submit(measure, cell, seed) for seed in seeds] for cell in chosen}
        results = {name: [future.result() for future in futures] for name, futures in pending.items()}
    seconds = time.perf_counter() - begun
    print(f"{side}: {len(chosen)} cells x {len(seeds)} seeds in {seconds:.0f} s", file=sys.stderr)
    return results


def _compare_traces(count: int, known: dict[traces.Pattern, str]) -> int:
    """Compare packet by packet; print where traces part; return how many do so without an explanation."""
    chosen = traces.patterns(count)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        parted = [found for found in pool.map(traces.difference, chosen) if found]
    print(f"\npacket by packet: {len(chosen) - len(parted)} of {len(chosen)} traces identical")
    for found in parted:
        anchor = known.get(found.pattern)
        print(f"{found.pattern}: explained (docs/fidelity.md#{anchor})" if anchor else traces.show(found))
    return sum(found.pattern not in known for found in parted)


def _print_table(rows: list[comparison.Row]) -> None:
    header = f"{'metric':<28}{'ns-2.35':>22}{'ecnlab':>22}{'difference':>18}{'p':>9}  verdict"
    cell = ""
    for row in rows:
        if row.cell != cell:
            cell = row.cell
            print(f"\n{cell}\n{header}")
        difference = "-" if row.difference is None else f"{row.difference:+.2%} ± {row.difference_half_width:.2%}"
        note = f"{row.verdict} (docs/fidelity.md#{row.anchor})" if row.anchor else row.verdict
        print(f"{row.metric:<28}{_show(row.ns2):>22}{_show(row.ecnlab):>22}{difference:>18}{row.p:>9.2g}  {note}")
    counts = {v: sum(r.verdict == v for r in rows) for v in ("inside", "chance", "explained", "DIFFERS")}
    print("\n" + ", ".join(f"{count} {verdict}" for verdict, count in counts.items()))


def _show(sample: comparison.Sample) -> str:
    digits = 0 if sample.mean >= 10_000 else 2
    return f"{sample.mean:.{digits}f} ± {sample.half_width:.{digits}f}"


def _write(path: Path, rows: list[comparison.Row], seeds: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    table = [asdict(row) | {"difference": row.difference} for row in rows]
    path.write_text(json.dumps({"seeds": seeds, "level": comparison.LEVEL, "rows": table}, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
