"""Tables that are written while their rows come."""

from __future__ import annotations

import errno
import random
import threading

import polars as pl
import pytest

import ecnlab
from ecnlab.folder.streamed_tables import Growing
from ecnlab.folder.written_parquet import WrittenParquet

ROWS = pl.DataFrame({"time_s": [i / 7 for i in range(40_000)], "link": ["a", "b"] * 20_000, "packets": range(40_000)})


def pieces(rows, seed):
    rng, start = random.Random(seed), 0
    while start < rows.height:
        size = rng.randint(1, 3_000)
        yield rows.slice(start, size)
        start += size


def writers():
    """The threads that write tables."""
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("writer of ")]


def grown(folder, blocks, **options):
    """The file of a table of ``blocks``."""
    with Growing(folder, **options) as growing:
        for block in blocks:
            growing.add("queue_series", block)
        growing.finish("queue_series", folder / "whole.parquet")
    assert not writers()
    return folder / "whole.parquet"


@pytest.mark.parametrize("block_rows", [100, 5_000, 40_000, 50_000])
def test_the_file_has_the_rows_in_order_and_depends_on_no_division(tmp_path, block_rows):
    paths = []
    for seed in range(2):
        (tmp_path / str(seed)).mkdir()
        paths.append(grown(tmp_path / str(seed), pieces(ROWS, seed), block_rows=block_rows))
        assert pl.read_parquet(paths[-1]).equals(ROWS)
        assert [path.name for path in (tmp_path / str(seed)).iterdir()] == ["whole.parquet"]
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_rows_of_runs_with_other_laws_are_joined(tmp_path):
    law = ROWS.with_columns(max_p=pl.lit(0.5))
    path = grown(tmp_path, [ROWS, law, law, ROWS], block_rows=20_000)
    assert pl.read_parquet(path).equals(pl.concat([ROWS, law, law, ROWS], how="diagonal"))


def test_tables_larger_than_the_limit_are_refused(tmp_path):
    with pytest.raises(ecnlab.EcnlabError, match=r"larger than 1 kB, with rows of queue_series: allow more with"):
        grown(tmp_path, pieces(ROWS, 1), block_rows=1_000, most=1_000)
    assert not writers()


def test_a_full_disk_is_reported_with_its_number(tmp_path):
    (tmp_path / "full").symlink_to("/dev/full")
    file = WrittenParquet(tmp_path / "full", ROWS.schema, 1_000)
    with pytest.raises(OSError, match="No space left on device") as caught:
        for _ in range(100):
            file.put(ROWS)
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(tmp_path / "full"))
    with pytest.raises(OSError, match="No space left on device"):
        file.end()
    assert not writers()


def test_a_folder_that_vanished_is_reported(tmp_path):
    file = WrittenParquet(tmp_path / "gone" / "file", ROWS.schema, 1_000)
    with pytest.raises(OSError, match="No such file"):
        file.end()
