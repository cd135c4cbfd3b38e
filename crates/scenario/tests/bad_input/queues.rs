//! Mistakes in queues within queues and shapers.

use super::Case;

pub const CASES: &[Case] = &[
    // Queues within queues.
    (
        "[tcp.mine]",
        "[queue.two]\ndiscipline = \"classes\"\nschedule = \"strict\"\nlimit = \"9 packets\"\n\
         [queue.two.class.a]\ndiscipline = \"codel\"\nlimit = \"9 packets\"\ncodepoint = [\"ect1\"]\n[tcp.mine]",
        &["x.toml:21:1: unknown key `queue.two.class.a.codepoint`; did you mean `codepoints`?"],
    ),
    (
        "[tcp.mine]",
        "[queue.two]\ndiscipline = \"classes\"\nschedule = \"strict\"\nlimit = \"9 packets\"\n\
         [queue.two.class.a]\ndiscipline = \"codel\"\nlimit = \"9 packets\"\ngroups = [\"blk\"]\n\
         [queue.two.class.b]\ndiscipline = \"fq_codel\"\n[tcp.mine]",
        &["x.toml:21:10: `queue.two.class.a.groups`: there is no flow group `blk`; did you mean `bulk`?"],
    ),
    (
        "[tcp.mine]",
        "[queue.two]\ndiscipline = \"classes\"\nschedule = \"strict\"\nlimit = \"9 packets\"\n\
         class = { a = { discipline = \"codel\", limit = \"9 packets\", interval = \"0 s\" } }\n[tcp.mine]",
        &["x.toml:18:71: `queue.two.class.a.interval`: 0 s would drop everything; write a round trip"],
    ),
    (
        "[tcp.mine]",
        "[queue.two]\ndiscipline = \"fq\"\nlimit = \"9 packets\"\nclass = 3\n[tcp.mine]",
        &[
            "x.toml:17:9: `queue.two.class` is an integer, not a table; write tables [queue.two.class.NAME], each a queue",
        ],
    ),
    // Shapers.
    (
        "[tcp.mine]",
        "[queue.two]\ndiscipline = \"tbf\"\nrate = \"2 Mbps\"\nburst = \"3 kB\"\npeakrate = \"1 Mbps\"\n\
         limit = \"9 packets\"\n[tcp.mine]",
        &["x.toml:18:12: `queue.two.peakrate`: it is not above `rate`, 2 Mbps; write a higher one, or leave it out"],
    ),
    (
        "queue = \"red\"",
        "queue = \"two\"\n[queue.two]\ndiscipline = \"tbf\"\nrate = \"1 Mbps\"\nburst = \"3 kB\"\nlimit = \"9 packets\"",
        &["x.toml:11:8: `queue.two.rate`: it is not below the rate of the link behind it, 1 Mbps; \
           write a lower one"],
    ),
    (
        "[tcp.mine]",
        "[queue.two]\ndiscipline = \"htb\"\nlimit = \"9 packets\"\n[queue.two.class.a]\ndiscipline = \"droptail\"\n\
         limit = \"9 packets\"\n[queue.two.sharing.a]\nrate = \"0 Mbps\"\n[tcp.mine]",
        &["x.toml:21:8: `queue.two.sharing.a.rate`: `0 Mbps` is not a rate above zero; \
           write a number and a unit, such as \"1.5 Mbps\""],
    ),
    (
        "[tcp.mine]",
        "[queue.two]\ndiscipline = \"htb\"\nlimit = \"9 packets\"\n[queue.two.class.a]\ndiscipline = \"droptail\"\n\
         limit = \"9 packets\"\n[queue.two.sharing.a]\nrate = \"1 Mbps\"\nceil = \"500 kbps\"\n[tcp.mine]",
        &[
            "x.toml:22:8: `queue.two.sharing.a.ceil`: it is below `rate`, 1 Mbps; write at least as much, or leave it out",
        ],
    ),
    (
        "[tcp.mine]",
        "[queue.two]\ndiscipline = \"htb\"\nlimit = \"9 packets\"\n[queue.two.class.a]\ndiscipline = \"droptail\"\n\
         limit = \"9 packets\"\n[queue.two.sharing.a]\nrate = \"1 Mbps\"\nparent = \"b\"\n[tcp.mine]",
        &["x.toml:22:10: `queue.two.sharing.a.parent`: there is no class `b`; write a table sharing.b"],
    ),
    (
        "[tcp.mine]",
        "[queue.two]\ndiscipline = \"cbq\"\nlimit = \"9 packets\"\n[queue.two.class.a]\ndiscipline = \"droptail\"\n\
         limit = \"9 packets\"\n[queue.two.sharing.b]\nrate = \"1 Mbps\"\n[tcp.mine]",
        &["x.toml:17:1: `queue.two.class.a`: it has no rate; write a table sharing.a with `rate`"],
    ),
    (
        "[tcp.mine]",
        "[queue.two]\ndiscipline = \"cbq\"\nlimit = \"9 packets\"\n[queue.two.class.a]\ndiscipline = \"droptail\"\n\
         limit = \"9 packets\"\n[queue.two.sharing]\na = { rate = \"1 Mbps\", maxburst = 3, minburst = 4 }\n[tcp.mine]",
        &["x.toml:21:49: `queue.two.sharing.a.minburst`: it is above `maxburst`, 3; write no more"],
    ),
    (
        "min_th =",
        "full = \"fattest\"\nmin_th =",
        &["x.toml:12:8: `queue.red.full`: \"fattest\" is for queues of several queues; \
           write \"tail\", \"random\" or \"front\""],
    ),
    (
        "limit = \"60 packets\"\n",
        "",
        &["x.toml:9:1: `queue.red` lacks `limit`; add, for example, `limit = \"100 packets\"`"],
    ),
    (
        "discipline = \"red\"\n",
        "",
        &["x.toml:9:1: `queue.red` lacks `discipline`; add, for example, `discipline = \"red\"`"],
    ),
    (
        "\"ftp\"",
        "\"crr\"",
        &["x.toml:19:1: `flow.bulk.traffic` lacks `request`; add, for example, `request = \"1500 B\"`"],
    ),
    ("duration = \"10 s\"\n", "", &["x.toml:1:1: `duration` is missing; add, for example, `duration = \"60 s\"`"]),
];
