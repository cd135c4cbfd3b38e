//! Mistakes in distributions, traffic, the times of flows, jitter and losses.

use super::Case;

pub const CASES: &[Case] = &[
    // Distributions, and traffic that is not TCP's.
    (
        "\"5 ms\"",
        "{ exponential = \"5 ms\" }",
        &["x.toml:7:9: `link.pipe.delay` has no upper limit; write a time, or { uniform = [\"1 ms\", \"5 ms\"] }"],
    ),
    (
        "format = 1",
        "format = 1\nend_after = [\"bulc\"]",
        &["x.toml:2:13: `end_after`: there is no flow `bulc`; did you mean `bulk`?"],
    ),
    (
        "format = 1",
        "format = 1\nend_after = [\"bulk\"]",
        &[
            "x.toml:2:13: `end_after`: `bulk` does not transfer one file; write traffic = { kind = \"ftp\", size = \"1 MB\" } in [flow.bulk], or leave it out",
        ],
    ),
    (
        "traffic = \"ftp\"",
        "start = { pareto2 = { mean = \"1 s\", shape = 1 } }\ntraffic = \"ftp\"",
        &["x.toml:19:21: `flow.bulk.start.pareto2`: with shape 1 there is no mean; write a shape above 1"],
    ),
    (
        "traffic = \"ftp\"",
        "start = { exponential = \"1 s\", uniform = [\"1 s\", \"2 s\"] }\ntraffic = \"ftp\"",
        &[
            "x.toml:19:25: `flow.bulk.start.exponential`: `exponential` and `uniform` cannot both hold; write one of them",
        ],
    ),
    (
        "traffic = \"ftp\"",
        "start = { normal = \"1 s\" }\ntraffic = \"ftp\"",
        &["x.toml:19:11: unknown key `flow.bulk.start.normal`; valid keys: uniform, exponential, pareto, pareto2"],
    ),
    (
        "\"ftp\"",
        "{ kind = \"cbr\", rate = \"1 Mbps\", packet = \"20 B\" }",
        &[
            "x.toml:19:53: `flow.bulk.traffic.packet`: 20 B is not a possible size of a UDP packet; write 28 B to 65535 B",
            "x.toml:20:1: `flow.bulk.tcp`: traffic of the kind `cbr` has no TCP; leave it out",
        ],
    ),
    (
        "\"ftp\"\ntcp = \"mine\"",
        "{ kind = \"cbr\", rate = \"1 Mbps\", packet = \"1000 B\", jitter = 2 }",
        &["x.toml:19:72: `flow.bulk.traffic.jitter`: 2 is not a share of a pause; write a number from 0 to 1"],
    ),
    (
        "\"ftp\"",
        "{ kind = \"on-off\", rate = \"1 Mbps\", packet = \"1000 B\", on = \"1 s\", off = 2 }",
        &["x.toml:19:84: `flow.bulk.traffic.off` is an integer, not a time such as \"20 ms\" or \
           { uniform = [\"1 ms\", \"5 ms\"] }"],
    ),
    // ECN and source quenches of datagrams.
    (
        "\"ftp\"\ntcp = \"mine\"",
        "{ kind = \"cbr\", rate = \"1 Mbps\", packet = \"1 kB\", ecn = \"ect\" }",
        &["x.toml:19:67: `flow.bulk.traffic.ecn` cannot be `ect`; did you mean `ect0`?"],
    ),
    (
        "\"ftp\"\ntcp = \"mine\"",
        "{ kind = \"cbr\", rate = \"1 Mbps\", packet = \"1 kB\", quench = {} }",
        &["x.toml:19:70: `flow.bulk.traffic.quench`: routers send no source quench about Not-ECT datagrams; \
           write ecn = \"ect0\" as well"],
    ),
    (
        "\"ftp\"\ntcp = \"mine\"",
        "{ kind = \"cbr\", rate = \"1 Mbps\", packet = \"1 kB\", ecn = \"ect0\", quench = { evry = \"1 s\" } }",
        &["x.toml:19:86: unknown key `flow.bulk.traffic.quench.evry`; did you mean `every`?"],
    ),
    (
        "\"ftp\"\ntcp = \"mine\"",
        "{ kind = \"cbr\", rate = \"1 Mbps\", packet = \"1 kB\", ecn = \"ect0\", quench = { period = \"25 h\" } }",
        &["x.toml:19:95: `flow.bulk.traffic.quench.period`: 90000 s is too long; write at most 24 h"],
    ),
    (
        "\"ftp\"\ntcp = \"mine\"",
        "{ kind = \"cbr\", rate = \"1 Mbps\", packet = \"1 kB\", ecn = \"ect0\", quench = { period = 5 } }",
        &["x.toml:19:95: `flow.bulk.traffic.quench.period` is an integer, not a time with its unit in quotes, \
           such as \"20 ms\""],
    ),
    (
        "\"ftp\"",
        "{ kind = \"ftp\", ecn = \"ect0\" }",
        &["x.toml:19:27: unknown key `flow.bulk.traffic.ecn`; valid keys: size"],
    ),
    // Random sizes of transactions.
    (
        "\"ftp\"",
        "{ kind = \"crr\", request = \"1 B\", response = { pareto = { mean = \"5 kB\", shape = 0.5 } } }",
        &["x.toml:19:55: `flow.bulk.traffic.response`: with shape 0.5 there is no mean; write a shape above 1"],
    ),
    // When flows stop.
    (
        "tcp = \"mine\"\n",
        "tcp = \"mine\"\nstop = \"10 s\"\n",
        &["x.toml:21:8: `flow.bulk.stop`, 10 s, is not before the end of the run, 10 s, so it has no effect; \
           leave it out, or write an earlier one"],
    ),
    (
        "tcp = \"mine\"\n",
        "start = { uniform = [\"1 s\", \"3 s\"] }\nstop = { uniform = [\"2 s\", \"9 s\"] }\n",
        &["x.toml:21:8: `flow.bulk.stop`, 2 s at the earliest, is not after `start`, 3 s at the latest; \
           write a later stop or an earlier start"],
    ),
    (
        "tcp = \"mine\"\n",
        "start = { exponential = \"1 s\" }\nstop = \"9 s\"\n",
        &["x.toml:21:8: `flow.bulk.stop`: a `start` without an upper limit may come after it; \
           write the start as a time, or { uniform = [\"0 s\", \"1 s\"] }"],
    ),
    (
        "tcp = \"mine\"\n",
        "tcp = \"mine\"\nstpo = \"9 s\"\n",
        &["x.toml:21:1: unknown key `flow.bulk.stpo`; did you mean `stop`?"],
    ),
    // Jitter and losses in bursts.
    (
        "queue = \"red\"\n",
        "queue = \"red\"\njitter = { delay = \"5 ms\" }\n",
        &["x.toml:9:1: `link.pipe.jitter` lacks `reorder`; add, for example, `reorder = false`"],
    ),
    (
        "queue = \"red\"\n",
        "queue = \"red\"\njitter = \"5 ms\"\n",
        &["x.toml:9:10: `link.pipe.jitter` is a string, not a table"],
    ),
    (
        "queue = \"red\"\n",
        "queue = \"red\"\njitter = { delay = \"0 s\", reorder = false }\n",
        &["x.toml:9:20: `link.pipe.jitter.delay` is always 0 s; \
           write a distribution such as { uniform = [\"0 s\", \"5 ms\"] }"],
    ),
    (
        "queue = \"red\"\n",
        "queue = \"red\"\nburst_loss = { p = 0.1, r = 0 }\n",
        &["x.toml:9:29: `link.pipe.burst_loss.r` is 0: the bad state would never end; \
           write a number above 0; for losses at all times use `loss`"],
    ),
    (
        "queue = \"red\"\n",
        "queue = \"red\"\n[link.pipe.reverse]\nburst_loss = { p = 1.5, r = 0.5, good = -1, bda = 1 }\n",
        &["x.toml:10:45: unknown key `link.pipe.reverse.burst_loss.bda`; did you mean `bad`?"],
    ),
    (
        "queue = \"red\"\n",
        "queue = \"red\"\n[link.pipe.reverse]\nburst_loss = { p = 1.5, r = 0.5, good = -1 }\n",
        &[
            "x.toml:10:20: `link.pipe.reverse.burst_loss.p` is 1.5, not a probability; write a number from 0 to 1",
            "x.toml:10:41: `link.pipe.reverse.burst_loss.good` is -1, not a probability; write a number from 0 to 1",
        ],
    ),
];
