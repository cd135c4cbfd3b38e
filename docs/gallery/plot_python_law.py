"""
A law in Python
===============

The window law and the queue discipline of this run are two classes in files of their own: ``laws/reno.py`` and ``laws/step.py``, which is
printed below. It marks packets that find more than 20 others in the queue.
"""

# %%

from pathlib import Path

import ecnlab

ecnlab.copy_example("userlaws")
print(Path("laws/step.py").read_text())
run = ecnlab.run("userlaws.toml")
mean = run.links.filter(link="bottleneck")["queue_mean_packets"].item()
figure = run.plot.queue("bottleneck").with_(title=f"Two flows behind step marking: {mean:.1f} packets on average")
figure
