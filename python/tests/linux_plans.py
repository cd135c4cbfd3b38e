"""What the Linux engine makes of a scenario, for the tests of its plans."""

from __future__ import annotations

import pytest
from conftest import SCENARIO

from ecnlab._core import Scenario, SpecError
from ecnlab.linux.plan import plan

LINUX = SCENARIO.replace('profile = "modern"', 'profile = "linux-7"')
"""A scenario that the kernel can run: two flows of different TCPs between the same nodes."""


def the_plan(text: str = LINUX, seed: int = 1):
    return plan(Scenario("pipe.toml", text), seed)


def refused(text: str) -> str:
    with pytest.raises(SpecError) as error:
        the_plan(text)
    assert error.value.diagnostics
    return str(error.value)
