"""
FQ-CoDel isolates
=================

Four bulk transfers, requests for 20 kB and a voice stream share 10 Mbit/s. FQ-CoDel gives each flow a queue of its own and serves sparse
flows first: the voice stream hardly waits behind the others. The lines are the distributions of the queueing delays of each group.
"""

# %%

import ecnlab

ecnlab.copy_example("fair")
run = ecnlab.run("fair.toml", overrides={"queue.fair.quantiles": True})
print(run.table("sojourns").filter(link="bottleneck").select("group", "sojourn_p50_s", "sojourn_p99_s"))
figure = run.plot.sojourn("bottleneck", by="group").with_(title="Queueing delays behind FQ-CoDel")
figure
