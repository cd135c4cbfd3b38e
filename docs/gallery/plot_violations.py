"""
Violations in a capture
=======================

A middlebox at the end of the bottleneck sets ECT(0) in packets that are not ECN-capable. The analysis of a capture behind it finds
every packet that breaks a rule of RFC 3168, with the section.
"""

# %%

import matplotlib.pyplot as plt
import polars as pl

import ecnlab

ecnlab.copy_example("dumbbell")
box = {"box.set": {"rewrite": {"not-ect": "ect0"}}, "link.bottleneck.boxes": ["set"], "duration": "15 s"}
capture = {"capture.behind": {"link": "bottleneck", "end": "to"}}
run = ecnlab.run("dumbbell.toml", overrides={**box, **capture}, captures="captures")
found = (
    ecnlab.trace(run.captures[0]).violations.group_by("says", "section").agg(pl.len().alias("packets")).sort("packets")
)
print(found)

figure, axes = plt.subplots(figsize=(5, 2.8), layout="constrained")
axes.barh(found["says"].str.replace(", but", ",\nbut"), found["packets"])
axes.set(xlabel="packets", title=f"{found['packets'].sum()} packets break a rule")
figure
