"""`make sentences`: sentences drawn at random, each number with its source."""

from __future__ import annotations

import re
import sys
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "tools" / "sentences"))
import sentences

from ecnlab.papers.registry import PAPERS


def test_sentences_are_drawn_with_the_source_of_each_number(capsys) -> None:
    assert sentences.main(["--seed", "3", "--count", "40", "rfc2884"]) == 0
    out = capsys.readouterr().out
    assert "40 of " in out and out.count("\n40. ") == 1
    measured = 0
    for line, source in pairwise(out.splitlines()):
        if re.match(r""" {4}.* from \{(?!tally|runs|given|")""", line):
            measured += 1
            assert re.match(r" {8}(points|numbers|claims|linux): .*, \d+ seeds of [a-z]", source), line
    assert measured > 20
    assert sentences.main(["--seed", "3", "--count", "40", "rfc2884"]) == 0
    assert capsys.readouterr().out == out


def test_every_sentence_of_every_readme_has_its_sources() -> None:
    for name in PAPERS:
        found = [sentence for sentence in sentences.of_readme(name) if sentence.has_numbers()]
        assert len(found) > 30
        assert all(list(sentence.lines()) for sentence in found)
