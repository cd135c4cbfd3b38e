"""The types of a paper's data files: errors with their place, and the JSON schemas for editors."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import Final

import jsonschema
import pytest

from ecnlab.base.errors import EcnlabError
from ecnlab.papers.published import MetricsFile, PublishedFile
from ecnlab.papers.registry import PAPERS
from ecnlab.papers.tables import ReportFile
from ecnlab.scenario.data_files import read_file

ROOT: Final = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "schema"))
import make_schemas  # noqa: E402

PAGE: Final = '[page]\ntitle = ""\nanswer = ""\nlede = ""\nagreement = ""\n'
HEAD: Final = 'paper = "P"\ntitle = ""\nauthors = ""\ndate = ""\n[[claim]]\nid = "P01.a"\nrow = "P01"\n'
CLAIM: Final = 'metric = "m"\nwhere = {}\nstatement = ""\n'
METRIC: Final = '[metric.gain]\nname = ""\ndefinition = ""\nkind = "gain"\n[metric.loss]\nname = ""\ndefinition = ""\n'


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        (ReportFile, "", "x.toml: the key 'page' is missing"),
        (ReportFile, f"pages = []\n{PAGE}", "x.toml: no key is called 'pages'; did you mean 'page'?"),
        (ReportFile, PAGE + "lead = 1", "x.toml: page: no key is called 'lead'; did you mean 'lede'?"),
        (
            ReportFile,
            PAGE + '[section.a]\ntitle = ""\ntext = ""\n[section.b]\ntitle = ""\ntext = ""\n[[section.b.figure]]\ntilte=1',
            "x.toml: section.b.figure[0]: no key is called 'tilte'; did you mean 'title'?",
        ),
        (
            ReportFile,
            PAGE + '[section.a]\ntitle = ""\ntext = ""\ntable = [{caption = "", keys = [], columns = [{name = "n"}]}]',
            "x.toml: section.a.table[0].columns[0]: the key 'metric' is missing",
        ),
        (ReportFile, PAGE + "[axis.a]\nlog = 1", "x.toml: axis.a.log: expected `bool`, got `int`"),
        (MetricsFile, METRIC + 'kind = "meen"', "x.toml: metric.loss.kind: 'meen' is none of difference, gain, mean, ratio"),
        (MetricsFile, METRIC + 'kind = "mean"\nbounds = [1, 0]', "x.toml: metric.loss: bounds 1.0 to 0.0 leave no room"),
        (
            MetricsFile,
            METRIC + 'kind = "mean"\nmeasure = { table = "flows", ovr = "avg(x)" }',
            "x.toml: metric.loss.measure: no key is called 'ovr'; did you mean 'over'?",
        ),
        (PublishedFile, f'{HEAD}{CLAIM}test = "below"', "x.toml: claim[0] (P01.a): the key 'limit' is missing"),
        (
            PublishedFile,
            f'{HEAD}{CLAIM}test = "belov"',
            "x.toml: claim[0].test: 'belov' is none of trend, no-trend, below, above, near",
        ),
        (
            PublishedFile,
            f'{HEAD}{CLAIM}test = "near"\ntarget = 1\ntolerence = 1',
            "x.toml: claim[0] (P01.a): no key is called 'tolerence'; did you mean 'tolerance'?",
        ),
        (
            PublishedFile,
            f'{HEAD}{CLAIM}test = "trend"\naxis = "a"\nexpected = "rising"',
            "x.toml: claim[0].expected: 'rising' is none of decreasing, increasing",
        ),
    ],
)  # fmt: skip
def test_an_error_has_the_place_and_the_nearest_key(tmp_path, kind, text, message) -> None:
    file = tmp_path / "x.toml"
    file.write_text(f"format = 1\n{text}")
    with pytest.raises(EcnlabError) as caught:
        read_file(file, kind)
    assert str(caught.value) == f"{tmp_path}/{message}"


def test_another_format_is_an_error(tmp_path) -> None:
    (tmp_path / "x.toml").write_text("format = 2")
    with pytest.raises(EcnlabError, match=r"x.toml: format 2; this ecnlab reads format 1"):
        read_file(tmp_path / "x.toml", ReportFile)


@pytest.mark.parametrize("name", make_schemas.FILES)
def test_the_schema_is_valid_and_accepts_every_paper(name) -> None:
    schema = make_schemas.schema(name)
    validator = jsonschema.validators.validator_for(schema)(schema)
    validator.check_schema(schema)
    for paper in PAPERS:
        text = (ROOT / "papers" / paper / f"{name}.toml").read_text()
        assert text.startswith(f"#:schema ../../schema/{name}.schema.json\n")
        validator.validate(tomllib.loads(text))
        with pytest.raises(jsonschema.ValidationError):
            validator.validate({**tomllib.loads(text), "formt": 1})
