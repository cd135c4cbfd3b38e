"""Statistics of the kernel's queue disciplines, decoded by the laws' files. Bytes and sums are made up by hand."""

from __future__ import annotations

import struct
from typing import Final

import pytest

from ecnlab import laws
from ecnlab.base.errors import EcnlabError
from ecnlab.laws.kinds import Counts
from ecnlab.linux.tables import counts

DROPS: Final = 20
"""All drops of a queue, as the kernel counts them beside a discipline's own statistics."""


def words(*numbers: int) -> bytes:
    """Fields of four bytes."""
    return struct.pack(f"={len(numbers)}I", *numbers)


def attribute(kind: int, payload: bytes) -> bytes:
    """An attribute of netlink, padded to four bytes."""
    return struct.pack("=HH", 4 + len(payload), kind) + payload + bytes(-len(payload) % 4)


def tins(*marks: int) -> bytes:
    """CAKE's statistics of tins with so many marks: TCA_CAKE_TIN_STATS_ECN_MARKED_PACKETS is 8, _TIN_STATS of CAKE 10."""
    each = [attribute(2, words(1)) + attribute(8, words(one)) + attribute(9, bytes(8)) for one in marks]
    return attribute(2, bytes(8)) + attribute(10, b"".join(attribute(i + 1, tin) for i, tin in enumerate(each)))


KNOWN: Final = {
    # Fields in the order of linux/pkt_sched.h; those that are read are no small numbers.
    "red": ("red", words(11, 12, 3, 14), Counts(14, None, None, 12)),
    "choke": ("choke", words(11, 12, 3, 14, 5), Counts(14, None, None, 12)),
    # 8 bytes of probability, then delay, rate, estimating, packets_in, dropped, overlimit, maxq, ecn_mark.
    "pie": ("pie", bytes(8) + words(1, 2, 3, 4, 15, 16, 7, 18), Counts(18, 20 - 16, 0, 16)),
    "fq_pie": ("fq_pie", words(1, 12, 13, 4, 15, 6, 7, 8, 9), Counts(15, 20 - 13, 0, 13)),
    # maxpacket, count, lastcount, ldelay, drop_next, drop_overlimit, ecn_mark, dropping, ce_mark
    "codel": ("codel", words(1, 2, 3, 4, 2**32 - 1, 16, 17, 1, 19), Counts(17 + 19, 20 - 16, 0, 16)),
    # type, maxpacket, drop_overlimit, ecn_mark, new_flow_count, new_flows_len, old_flows_len, ce_mark, memory, overmemory
    "fq_codel": ("fq_codel", words(0, 1, 12, 13, 4, 5, 6, 17, 8, 9), Counts(13 + 17, 20 - 12, 0, 12)),
    # earlydrop, penaltydrop, bucketdrop, queuedrop, childdrop, marked, maxqlen, maxprob, avgprob
    "sfb": ("sfb", words(1, 2, 3, 4, 5, 16, 7, 8, 9), Counts(16, 20 - (4 + 5), 0, 4 + 5)),
    # prob, delay_c, delay_l, packets_in_c, packets_in_l, maxq, ecn_mark, step_marks, credit, three of memory
    "dualpi2": ("dualpi2", words(1, 2, 3, 4, 5, 6, 17, 18, 2**32 - 9, 10, 11, 12), Counts(17 + 18, None, None, None)),
    "cake": ("cake", tins(5, 0, 70), Counts(75, None, None, None)),
    "droptail": ("bfifo", b"", Counts(0, 0, 0, 20)),
    "tbf": ("tbf", b"", Counts(0, 0, 0, 20)),
}
"""For each law that the kernel has: what it calls it, its statistics, and what they count."""

WITH_STATISTICS: Final = [law for law, (_, own, _) in KNOWN.items() if own]


def test_every_law_that_runs_on_linux_is_decoded_here() -> None:
    assert set(KNOWN) == {name for name, law in laws.queues().items() if law.qdisc}


@pytest.mark.parametrize("law", KNOWN)
def test_a_law_counts_what_its_statistics_hold(law: str) -> None:
    kind, own, expected = KNOWN[law]
    assert counts(law, kind, DROPS, own) == expected


@pytest.mark.parametrize("law", KNOWN)
def test_what_is_not_counted_is_what_the_law_says(law: str) -> None:
    kind, own, _ = KNOWN[law]
    found = counts(law, kind, DROPS, own)._asdict()
    assert tuple(name for name, value in found.items() if value is None) == laws.discipline(law).uncounted


@pytest.mark.parametrize("law", WITH_STATISTICS)
def test_short_statistics_are_refused_with_the_law_and_what_was_expected(law: str) -> None:
    kind, own, _ = KNOWN[law]
    for short in (own[:-1], own[:-4], own[: len(own) // 2], own[:3], b""):
        with pytest.raises(EcnlabError, match=f"^the kernel's statistics of `{law}` are not those expected: .*[0-9]"):
            counts(law, kind, DROPS, short)


def test_the_message_has_the_struct_and_both_sizes() -> None:
    with pytest.raises(
        EcnlabError,
        match=r"`red` are not those expected: tc_red_xstats has 16 bytes, got 12; use the source of Linux ",
    ):
        counts("red", "red", DROPS, words(1, 2, 3))


@pytest.mark.parametrize("law", [law for law in WITH_STATISTICS if law != "cake"])
def test_fields_that_a_newer_kernel_adds_behind_the_others_change_nothing(law: str) -> None:
    kind, own, expected = KNOWN[law]
    assert counts(law, kind, DROPS, own + words(99)) == expected


@pytest.mark.parametrize("law", KNOWN)
def test_another_discipline_than_the_laws_is_refused(law: str) -> None:
    _, own, _ = KNOWN[law]
    with pytest.raises(EcnlabError, match=f"^the kernel's discipline for `{law}` is .*, got `noqueue`$"):
        counts(law, "noqueue", DROPS, own)


def test_statistics_of_a_class_are_not_those_of_a_discipline() -> None:
    with pytest.raises(EcnlabError, match=r"`fq_codel` .*: tc_fq_codel_xstats of a discipline has the type 0, got 1"):
        counts("fq_codel", "fq_codel", DROPS, words(1, *range(9)))


CAKES: Final = {
    "tins missing": (attribute(2, bytes(8)), r"TCA_CAKE_STATS_TIN_STATS \(attribute 10\) is missing"),
    "no tin": (attribute(10, b""), "TCA_CAKE_STATS_TIN_STATS has one tin or more, got none"),
    "no marks": (
        attribute(10, attribute(1, attribute(2, words(1)))),
        r"TCA_CAKE_TIN_STATS_ECN_MARKED_PACKETS \(attribute 8\) is missing",
    ),
    "marks too long": (attribute(10, attribute(1, attribute(8, bytes(8)))), "has 4 bytes, got 8"),
    "too long for what is left": (struct.pack("=HH", 40, 10) + bytes(8), "an attribute of 40 bytes .* the 12 left"),
    "no length": (bytes(8), "an attribute of 0 bytes"),
}


@pytest.mark.parametrize("what", CAKES)
def test_attributes_of_cake_that_are_not_as_expected_are_refused(what: str) -> None:
    own, said = CAKES[what]
    with pytest.raises(EcnlabError, match=f"`cake` are not those expected: .*{said}"):
        counts("cake", "cake", DROPS, own)


def test_flags_of_an_attributes_type_are_not_part_of_it() -> None:
    nested = 0x8000  # NLA_F_NESTED
    own = attribute(10 | nested, attribute(1 | nested, attribute(8, words(6))))
    assert counts("cake", "cake", DROPS, own).marks == 6
