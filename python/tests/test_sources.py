"""Sources of typed numbers in the texts of papers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ecnlab.base.errors import EcnlabError
from ecnlab.papers.sources import calculated, require_source

TESTBED = """
profile = "ns-2.29"
limits = ["0.1 s", "-4 points"]
[link.pipe]
rate = "1.5 Mbps"
delay = "30 ms"
loss = 0.1
[[claim]]
id = "R1.bulk"
limit = 0.25
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "testbed.toml").write_text(TESTBED, encoding="utf-8")
    (tmp_path / "quoted.json").write_text('{"verdicts": {"R1.bulk": {"full": "yes"}, "R2": {"full": "no"}}}')
    return tmp_path


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("1.5", "testbed.toml:link.pipe.rate"),
        ("1.5 Mbps", "testbed.toml:link.pipe.rate"),
        ("0.03", "testbed.toml:link.pipe.delay"),
        ("30", "testbed.toml:link.pipe.delay"),
        ("10%", "testbed.toml:link.pipe.loss"),
        ("2.29", "testbed.toml:profile"),
        ("0.1", "testbed.toml:limits.0"),
        ("−4", "testbed.toml:limits.1"),
        ("4", "testbed.toml:limits.1"),
        ("25%", 'testbed.toml:claim."R1.bulk".limit'),
        ("at every", 'quoted.json:verdicts."R1.bulk".full'),
        ("50.7", "arithmetic: 60 * 500 / 592"),
        ("10%", "arithmetic: 2 * 0.05"),
        ("-1.50", "arithmetic: -(2 ** 3 - 5) / 2"),
        ("38.8%", "page 4"),
        ("0.85", "RFC 8511, section 3"),
        ("2,151", "slide 8"),
        ("2.26", "figure 3"),
        ("5.2", "table 1"),
        ("99.9%", "section VI.B"),
        ("14.4 ± 2.3", "tool: make crosscheck"),
        ("8.2%", "run: commit 13349071"),
    ],
)
def test_a_typed_number_has_a_source(folder, text, source) -> None:
    require_source(text, source, folder)


@pytest.mark.parametrize(
    ("text", "source", "message"),
    [
        ("1.6", "testbed.toml:link.pipe.rate", "'1.6' is not testbed.toml:link.pipe.rate, which is '1.5 Mbps'"),
        ("1.5 kbps", "testbed.toml:link.pipe.rate", "which is '1.5 Mbps'"),
        ("1.5%", "testbed.toml:link.pipe.rate", "which is '1.5 Mbps'"),
        ("+4", "testbed.toml:limits.1", "which is '-4 points'"),
        ("3", "testbed.toml:link.pipe.delay", "which is '30 ms'"),
        ("11%", "testbed.toml:link.pipe.loss", "which is 0.1"),
        ("at every", "quoted.json:verdicts.R2.full", "'at every' is not quoted.json:verdicts.R2.full, which is 'no'"),
        ("often", "testbed.toml:link.pipe.loss", "which is 0.1"),
        ("1.5 to 2", "testbed.toml:link.pipe.rate", "which is '1.5 Mbps'"),
        ("1.5", "testbed.toml:link.pipe.rat", "no key of testbed.toml is called 'rat'; did you mean 'rate'?"),
        ("1.5", "testbed.toml:link.pipe.rate.low", "nothing is below '1.5 Mbps'"),
        ("1.5", "testbad.toml:link.pipe.rate", "testbad.toml:link.pipe.rate names no file of the paper"),
        ("50.8", "arithmetic: 60 * 500 / 592", "'50.8' is not 60 * 500 / 592 = 50.6757"),
        ("11%", "arithmetic: 2 * 0.05", "'11%' is not 2 * 0.05 = 0.1"),
        ("1 to 2", "arithmetic: 1 + 1", "'1 to 2' has 2 numbers; arithmetic has one"),
        ("1.5", "testbed.toml", "the source 'testbed.toml' of '1.5' is none of FILE:KEY, page"),
        ("1.5", "", "the source '' of '1.5' is none of"),
        ("1.5", "page", "is none of"),
        ("1.5", "tool:", "is none of"),
    ],
)
def test_a_wrong_source_is_an_error(folder, text, source, message) -> None:
    with pytest.raises(EcnlabError, match=re.escape(message)):
        require_source(text, source, folder)


@pytest.mark.parametrize(
    "expression", ["", "1 +", "1 / 0", "abs(1)", "x", "'a' + 'b'", "True", "2 // 1", "2.0 ** 9999"]
)
def test_arithmetic_has_numbers_and_operators_only(expression) -> None:
    with pytest.raises(EcnlabError, match="no arithmetic"):
        calculated(expression)
