"""
Firewalls that drop ECN-setup SYNs
==================================

A firewall drops SYNs that ask for ECN, in some connections. The client repeats the SYN without ECN after a timeout of one second, so that
these connections begin a second later. The picture shows the share of transfers that take at least the time on the x axis.
"""

# %%

import ecnlab

ecnlab.copy_example("hostile")
run = ecnlab.run("hostile.toml", overrides={"duration": "30 s", "link.home.boxes": []})
box = run.table("boxes")
print(
    f"{box['dropped'].sum()} SYNs dropped; {run.flows['ecn_fallbacks'].sum()} of {run.flows['connections'].sum()} connections fell back"
)
figure = run.plot.completion(tail=True).with_(title="Completion times behind a firewall that drops ECN-setup SYNs")
figure
