"""The kernel build and its location, identified by a digest of its inputs."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from ecnlab import laws
from ecnlab.base.errors import EcnlabError
from ecnlab.folder.sealed_json import read_plain_json

HERE: Final = Path(__file__).parent

CONFIG: Final = HERE / "kernel.config"
"""Kernel features beyond the minimum, independent of the laws."""


class Patch(NamedTuple):
    """A change to our copy of the kernel source. docs/linux.md ("Kernel patches") documents each by its name."""

    name: str
    switch: str | None
    """Option of the kernel without which the patch has no effect; None if it only adds something, or is a build setting."""
    edits: tuple[tuple[str, str, str], ...]
    """A file, a text in it, and the replacement."""


TBF_LINE: Final = "ecnlab_tbf_line"
"""Kernel option: tbf polls its inner queue like a network driver."""

IPV6: Final = "ecnlab_ipv6"
"""Option of the kernel: it starts IPv6."""

CLOCK_NS: Final = "ecnlab_clock_ns"
"""Option of the kernel: its clock has units of 1 ns, and its timers are exact."""

PATCHES: Final = (
    # The tick of a timer is 1 ms, as most distributions have it; user-mode Linux has 10 ms and no option for it.
    Patch(
        "hz-1000",
        None,
        (("arch/um/Kconfig", "config HZ\n\tint\n\tdefault 100\n", "config HZ\n\tint\n\tdefault 1000\n"),),
    ),
    # In closed loops tbf replaces a driver, which polls the queue until it is empty; from the empty poll RED detects
    # idle time. tbf only peeks, so that RED below it would never decay its average.
    # The option is one of user-mode Linux (`add`): it does not become part of the kernel's command line, and so not of its
    # entropy.
    Patch(
        "tbf-asks-empty",
        TBF_LINE,
        (
            (
                "net/sched/sch_tbf.c",
                "#include <net/pkt_sched.h>\n",
                "#include <net/pkt_sched.h>\n#include <init.h>\n\n"
                "/* Whether tbf takes the place of a network driver. */\nstatic bool as_line;\n\n"
                "static int __init set_as_line(char *rest, int *add)\n{\n\tas_line = true;\n\t*add = 0;\n\treturn 0;\n}\n"
                f'__uml_setup("{TBF_LINE}", set_as_line,\n"{TBF_LINE}\\n    tbf asks for packets as a driver does.\\n\\n");\n',
            ),
            (
                "net/sched/sch_tbf.c",
                "\t\tqdisc_qstats_overlimit(sch);\n\t}\n\treturn NULL;\n",
                "\t\tqdisc_qstats_overlimit(sch);\n\t} else if (as_line) {\n\t\tq->qdisc->ops->dequeue(q->qdisc);\n\t}\n"
                "\treturn NULL;\n",
            ),
        ),
    ),
    # A driver polls for a packet when its line is free. tbf peeks as soon as the previous packet has left:
    # disciplines would see waits shorter by the transmission time of a packet, and RED's idle time would start while
    # the last packet is on the line.
    Patch(
        "tbf-line-is-free",
        TBF_LINE,
        (
            (
                "net/sched/sch_tbf.c",
                "static struct sk_buff *tbf_dequeue(struct Qdisc *sch)\n{\n\tstruct tbf_sched_data *q = qdisc_priv(sch);\n"
                "\tstruct sk_buff *skb;\n\n",
                "/* Whether a line of the bucket's rate, with room for one packet, has sent the packet before. */\n"
                "static bool line_is_free(struct tbf_sched_data *q)\n{\n\ts64 now = ktime_get_ns();\n"
                "\ts64 short_of = q->buffer - q->tokens - (now - q->t_c);\n\n"
                "\tif (short_of <= 0 || q->max_size >= 2 * psched_mtu(qdisc_dev(q->qdisc)) || tbf_peak_present(q))\n"
                "\t\treturn true;\n\tqdisc_watchdog_schedule_ns(&q->watchdog, now + short_of);\n\treturn false;\n}\n\n"
                "static struct sk_buff *tbf_dequeue(struct Qdisc *sch)\n{\n\tstruct tbf_sched_data *q = qdisc_priv(sch);\n"
                "\tstruct sk_buff *skb;\n\n\tif (as_line && !line_is_free(q))\n\t\treturn NULL;\n\n",
            ),
        ),
    ),
    # A change of rate fills tbf's bucket, so that one packet too many leaves, and lets its timer go off as before the change.
    Patch(
        "tbf-line-changes",
        TBF_LINE,
        (
            (
                "net/sched/sch_tbf.c",
                "static int tbf_change(struct Qdisc *sch, struct nlattr *opt,\n\t\t      struct netlink_ext_ack *extack)\n{\n",
                "/* ns for which the packet in transmission, if any, occupies a line that continues at `rate`. */\n"
                "static s64 left_of_packet(struct tbf_sched_data *q, const struct psched_ratecfg *rate)\n{\n"
                "\ts64 left = q->buffer - q->tokens - (ktime_get_ns() - q->t_c);\n\n"
                "\tif (!as_line || left <= 0 || q->max_size >= 2 * psched_mtu(qdisc_dev(q->qdisc)))\n\t\treturn 0;\n"
                "\treturn mul_u64_u64_div_u64(left, q->rate.rate_bytes_ps, rate->rate_bytes_ps);\n}\n\n"
                "static int tbf_change(struct Qdisc *sch, struct nlattr *opt,\n\t\t      struct netlink_ext_ack *extack)\n{\n"
                "\ts64 left;\n",
            ),
            (
                "net/sched/sch_tbf.c",
                "\tsch_tree_lock(sch);\n\tif (child) {\n",
                "\tsch_tree_lock(sch);\n\tleft = left_of_packet(q, &rate);\n\tif (child) {\n",
            ),
            (
                "net/sched/sch_tbf.c",
                "\tq->tokens = q->buffer;\n\tq->ptokens = q->mtu;\n\n\tmemcpy(&q->rate, &rate, sizeof(struct psched_ratecfg));\n",
                "\tq->tokens = q->buffer - left;\n\tq->ptokens = q->mtu;\n"
                "\tif (as_line && q->rate.rate_bytes_ps) {\n\t\tq->t_c = ktime_get_ns();\n"
                "\t\tqdisc_watchdog_schedule_ns(&q->watchdog, q->t_c);\n\t}\n\n"
                "\tmemcpy(&q->rate, &rate, sizeof(struct psched_ratecfg));\n",
            ),
        ),
    ),
    # netem computes when a packet arrives as the packet enters: the one in transmission would keep its old rate, and packets
    # behind a long delay would keep that delay as long as the link is busy.
    Patch(
        "netem-line-changes",
        TBF_LINE,
        (
            (
                "net/sched/sch_netem.c",
                "#include <net/inet_ecn.h>\n",
                "#include <net/inet_ecn.h>\n#include <init.h>\n\n"
                "/* Whether netem takes the place of a line. */\nstatic bool as_line;\n\n"
                "static int __init set_as_line(char *rest, int *add)\n{\n\tas_line = true;\n\t*add = 0;\n\treturn 0;\n}\n"
                f'__uml_setup("{TBF_LINE}", set_as_line,\n"{TBF_LINE}\\n    netem follows changes as a line does.\\n\\n");\n',
            ),
            (
                "net/sched/sch_netem.c",
                "\tstruct tc_netem_slot\tslot_config;\n\tstruct qdisc_watchdog\twatchdog;\n",
                "\tstruct tc_netem_slot\tslot_config;\n\tstruct qdisc_watchdog\twatchdog;\n\n"
                "\t/* As a line: when the last packet has left, when it arrives, and when the one before it arrives. */\n"
                "\tu64\t\t\tline_end, line_arrival, line_before;\n",
            ),
            (
                "net/sched/sch_netem.c",
                "\t\tnow = ktime_get_ns();\n\n\t\tif (q->rate) {\n",
                "\t\tnow = ktime_get_ns();\n\n\t\tif (as_line) {\n\t\t\tnow = max(now, q->line_end);\n"
                "\t\t\tif (q->rate)\n\t\t\t\tnow += packet_time_ns(qdisc_pkt_len(skb), q);\n"
                "\t\t\tq->line_end = now;\n\t\t\tq->line_before = q->line_arrival;\n"
                "\t\t\tq->line_arrival = max(now + delay, q->line_before);\n\t\t\tdelay = q->line_arrival - now;\n"
                "\t\t} else if (q->rate) {\n",
            ),
            (
                "net/sched/sch_netem.c",
                "/* Parse netlink message to set options */\nstatic int netem_change(",
                "/* The packet in transmission continues at the new rate, and takes the new delay. No packet overtakes. */\n"
                "static void change_line(struct netem_sched_data *q, u64 old_rate)\n{\n\tu64 now = ktime_get_ns();\n\n"
                "\tif (!as_line || q->line_end <= now || !q->t_tail)\n\t\treturn;\n"
                "\tif (old_rate && q->rate)\n"
                "\t\tq->line_end = now + mul_u64_u64_div_u64(q->line_end - now, old_rate, q->rate);\n"
                "\tq->line_arrival = max(q->line_end + q->latency, q->line_before);\n"
                "\tnetem_skb_cb(q->t_tail)->time_to_send = q->line_arrival;\n"
                "\tqdisc_watchdog_schedule_ns(&q->watchdog, netem_skb_cb(q->t_head)->time_to_send);\n}\n\n"
                "/* Parse netlink message to set options */\nstatic int netem_change(",
            ),
            (
                "net/sched/sch_netem.c",
                "\tint old_loss_model = CLG_RANDOM;\n",
                "\tint old_loss_model = CLG_RANDOM;\n\tu64 old_rate;\n",
            ),
            (
                "net/sched/sch_netem.c",
                "\told_loss_model = q->loss_model;\n",
                "\told_loss_model = q->loss_model;\n\told_rate = q->rate;\n",
            ),
            (
                "net/sched/sch_netem.c",
                "\nunlock:\n\tsch_tree_unlock(sch);\n\ntable_free:\n",
                "\n\tchange_line(q, old_rate);\n\nunlock:\n\tsch_tree_unlock(sch);\n\ntable_free:\n",
            ),
        ),
    ),
    # Without the option the clock has units of 256 ns, and a timer is up to 501 ns late, as in the unpatched kernel.
    Patch(
        "clock-ns",
        CLOCK_NS,
        (
            (
                "arch/um/kernel/time.c",
                "static int itimer_next_event(unsigned long delta,\n\t\t\t     struct clock_event_device *evt)\n{\n"
                "\tdelta += 1;\n",
                "static unsigned int timer_unit = TIMER_MULTIPLIER;\n\n"
                "static int itimer_next_event(unsigned long delta,\n\t\t\t     struct clock_event_device *evt)\n{\n"
                "\tdelta += timer_unit > 1 || !delta;\n",
            ),
            (
                "arch/um/kernel/time.c",
                "static u64 timer_read(struct clocksource *cs)\n",
                "static int __init set_timer_unit(char *str)\n{\n\ttimer_unit = 1;\n\t_timer_clockevent.min_delta_ns = 1;\n"
                f'\t_timer_clockevent.min_delta_ticks = 1;\n\treturn 1;\n}}\n__setup("{CLOCK_NS}", set_timer_unit);\n\n'
                "static u64 timer_read(struct clocksource *cs)\n",
            ),
            (
                "arch/um/kernel/time.c",
                "\t\t\ttime_travel_update_time_rel(TIMER_MULTIPLIER);\n\t\treturn time_travel_time / TIMER_MULTIPLIER;\n",
                "\t\t\ttime_travel_update_time_rel(timer_unit);\n\t\treturn time_travel_time / timer_unit;\n",
            ),
            (
                "arch/um/kernel/time.c",
                "clocksource_register_hz(&timer_clocksource, NSEC_PER_SEC/TIMER_MULTIPLIER)",
                "clocksource_register_hz(&timer_clocksource, NSEC_PER_SEC/timer_unit)",
            ),
        ),
    ),
    # IPv6 draws random numbers as it starts, and the kernel stirs the time into its entropy after each function that it calls at
    # boot, also after one that only returns (`ipv6.disable=1`). Without the call, runs over IPv4 have the random numbers of a kernel
    # without IPv6.
    Patch(
        "ipv6-on-request",
        IPV6,
        (
            ("net/ipv6/af_inet6.c", "#include <linux/module.h>\n", "#include <linux/module.h>\n#include <init.h>\n"),
            (
                "net/ipv6/af_inet6.c",
                "device_initcall(inet6_init);\n",
                "device_initcall(inet6_init);\n\n"
                "/* The function that boot leaves out, if any. */\ninitcall_t ecnlab_left_out __initdata = inet6_init;\n\n"
                "static int __init start_ipv6(char *rest, int *add)\n{\n\tecnlab_left_out = NULL;\n\t*add = 0;\n\treturn 0;\n}\n"
                f'__uml_setup("{IPV6}", start_ipv6,\n"{IPV6}\\n    IPv6 starts.\\n\\n");\n',
            ),
            (
                "init/main.c",
                "int __init_or_module do_one_initcall(initcall_t fn)\n",
                "extern initcall_t ecnlab_left_out;\n\nint __init_or_module do_one_initcall(initcall_t fn)\n",
            ),
            (
                "init/main.c",
                "\tif (initcall_blacklisted(fn))\n",
                "\tif (initcall_blacklisted(fn) || fn == ecnlab_left_out)\n",
            ),
        ),
    ),
    Patch(
        "line-driver",
        None,
        (("drivers/net/Makefile", "obj-$(CONFIG_VETH) += veth.o\n", "obj-$(CONFIG_VETH) += veth.o ecnlab_line.o\n"),),
    ),
)
"""Differences of our copy of the source, in the order in which they are applied."""

EDITS: Final = tuple(edit for patch in PATCHES for edit in patch.edits)
"""The edits of all patches: file, text and replacement."""

ADDED: Final = (("drivers/net/ecnlab_line.c", HERE / "driver/line.c"),)
"""Files that our copy of the source has besides."""

ABOUT: Final = "about.json"

BUILD: Final = "ecnlab linux build"


@dataclass(frozen=True)
class Kernel:
    """A kernel ready to boot, with the file system of its guest."""

    folder: Path
    about: dict[str, Any]
    """``version`` of the source, ``config`` hash, ``guest`` hash."""

    @property
    def binary(self) -> Path:
        """The kernel, a program of the host."""
        return self.folder / "linux"

    @property
    def entropy(self) -> Path:
        """The library that makes its entropy a function of the seed."""
        return self.folder / "entropy.so"

    @property
    def root(self) -> Path:
        """Initial contents of a run's file system."""
        return self.folder / "root"


def cache() -> Path:
    """Where sources and kernels are kept: ``$ECNLAB_LINUX``, or ``ecnlab/linux`` in the user's cache."""
    if own := os.environ.get("ECNLAB_LINUX"):
        return Path(own).absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute() / "ecnlab" / "linux"


def digest(*paths: Path, text: str = "") -> str:
    """A hash of the contents of files, and ``text``."""
    found = hashlib.sha256(text.encode())
    for path in paths:
        found.update(path.read_bytes())
    return found.hexdigest()[:12]


def config() -> list[str]:
    """The lines of the kernel's configuration: those of ``kernel.config``, and those that laws need. Their order has no meaning."""
    base = {line for line in CONFIG.read_text().splitlines() if "CONFIG_" in line}
    needed = [law.kernel_options for law in laws.queues().values()]
    needed += [law.kernel_options for law in laws.windows().values()]
    return sorted(base | {f"CONFIG_{option}=y" for options in needed for option in options})


def config_digest() -> str:
    """Digest that distinguishes kernels built from one source: configuration, edits and added files."""
    return digest(*(path for _, path in ADDED), text=repr((config(), EDITS, [name for name, _ in ADDED])))


def binary_digest(folder: Path) -> str:
    """Digest of what runs from the kernel's ``folder``: the kernel, its library, and the programs of a run's file system."""
    root = sorted(path for path in (folder / "root").rglob("*") if path.is_file())
    return digest(folder / "linux", folder / "entropy.so", *root)


def guest_sources() -> list[Path]:
    """The C sources of the guest and of the library that the kernel is loaded with."""
    return [*sorted((HERE / "guest").glob("*.[ch]")), *sorted((HERE / "host").glob("*.c"))]


def find() -> Kernel:
    """Return the kernel that was built last. Raises EcnlabError with a remedy if no matching one exists."""
    current = cache() / "current"
    if not current.exists():
        raise EcnlabError(f"no Linux kernel has been built: `{BUILD}` builds one in a few minutes; no root needed")
    folder = cache() / current.read_text().strip()
    about = read_plain_json(folder / ABOUT)
    if about["config"] != config_digest() or about["guest"] != digest(*guest_sources()) or "binary" not in about:
        raise EcnlabError(f"the Linux kernel in {folder} was built by another ecnlab: `{BUILD}` brings it up to date")
    return Kernel(folder, about)
