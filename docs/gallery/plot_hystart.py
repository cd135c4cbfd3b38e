"""
Slow start and HyStart++
========================

Standard slow start doubles the window until the queue overflows. HyStart++ (RFC 9406) leaves slow start when the RTT grows. The picture has
the queue in the first five seconds of one CUBIC flow at 100 Mbit/s.
"""

# %%

import matplotlib.pyplot as plt

import ecnlab

ecnlab.copy_example("dumbbell")
rates = {
    f"link.{name}.rate": rate for name, rate in (("access", "1 Gbps"), ("bottleneck", "100 Mbps"), ("exit", "1 Gbps"))
}
fifo = {
    "queue.red": {"discipline": "droptail", "limit": "500 packets"},
    "flow.bulk.count": 1,
    "tcp.default.congestion": "cubic",
}
time = {"duration": "5 s", "warmup": "0 s", "sample": "10 ms"}
figure, axes = plt.subplots(figsize=(5, 2.8), layout="constrained")
for rule in ("standard", "hystart++"):
    run = ecnlab.run("dumbbell.toml", overrides={**rates, **fifo, **time, "tcp.default.slow_start": rule})
    queue, lost = run.queue_series.filter(link="bottleneck"), run.flows["retransmits"].sum()
    axes.plot(queue["time_s"], queue["packets"], label=f"{rule}: {lost} retransmissions", linewidth=1)
axes.set(xlabel="time, s", ylabel="queue, packets", title="Queue of the first five seconds", ylim=(0, 750))
axes.legend(loc="upper right")
figure
