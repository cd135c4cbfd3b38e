"""BBR, version 1."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Column, Window

MISSING: Final = "; missing if the window law is another"

COLUMNS: Final = {
    "bbr_bw_bps": Column("bit/s", f"BBR's estimate of the path's bandwidth, of payload{MISSING}"),
    "bbr_min_rtt_s": Column("s", f"BBR's least round-trip time of the last 10 s{MISSING}"),
    "bbr_pacing_gain": Column("ratio", f"BBR's pacing rate, in bandwidths{MISSING}", above_one=True),
    "bbr_cwnd_gain": Column(
        "ratio", f"BBR's window, in products of bandwidth and least round-trip time{MISSING}", above_one=True
    ),
}

LAW: Final = Window(label="BBR", kernel="bbr", kernel_options=("TCP_CONG_BBR",), columns=COLUMNS)
