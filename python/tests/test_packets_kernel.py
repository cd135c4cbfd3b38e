"""Every packet at our queues beside the kernel's, on the kernel that `make linux` builds; skipped, with a word, where there
is none. ECNLAB_TRACES random traces for each discipline, 5 if nothing is said; `make linux` has 200."""

from __future__ import annotations

import os
from typing import Final

import pytest
from conftest import kernel_or_skip, mostly_slow
from queues_beside_the_kernel import LAWS, scenario

from ecnlab._core import Scenario
from ecnlab.agreement.packets import ask, questions

TRACES = int(os.environ.get("ECNLAB_TRACES", "5"))


@pytest.fixture(scope="module")
def kernel():
    return kernel_or_skip()


SHALLOW: Final = (11, 36, 131, 137, 166, 170)
"""Seeds of tbf whose bucket is below two MTUs and has no peak rate, around codel or fq_codel, with packets that wait for it."""


def compared(kernel, law, seeds):
    asked = [
        (question, seed)
        for seed in seeds
        for question in questions(Scenario(f"{law}-{seed}.toml", scenario(law, seed)))
    ]
    traces = ask(asked, kernel)
    assert len(traces) == len(seeds)
    for trace in traces:
        assert not trace.differences, f"seed {trace.seed}\n{trace.question.scenario.to_toml()}\n{trace.first()}"
    return traces


@pytest.mark.parametrize("law", mostly_slow(LAWS, "fq_codel", "dualpi2"))
def test_each_packet_fares_as_at_the_kernels(kernel, law):
    traces = compared(kernel, law, range(1, TRACES + 1))
    # Nothing is shown by queues that never drop.
    assert sum(fate.ours is None for trace in traces for fate in trace.fates) > TRACES


def test_tbf_with_a_bucket_below_two_mtus_is_the_unpatched_kernels(kernel):
    compared(kernel, "tbf", SHALLOW)
