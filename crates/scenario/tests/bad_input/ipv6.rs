//! Mistakes in flows with `ip = 6`.

use super::Case;

pub const CASES: &[Case] = &[
    (
        "tcp = \"mine\"\n",
        "tcp = \"mine\"\nip = 5\n",
        &["x.toml:21:6: `flow.bulk.ip`: 5 is not a version of IP; write 4 or 6"],
    ),
    ("tcp = \"mine\"\n", "tcp = \"mine\"\nip = \"6\"\n", &["x.toml:21:6: `flow.bulk.ip` is a string, not an integer"]),
    (
        "tcp = \"mine\"\n",
        "tcp = \"mine\"\nip = 6\n[flow.four]\nfrom = \"a\"\nto = \"b\"\ntraffic = \"ftp\"\ntcp = \"mine\"\n",
        &[
            "x.toml:14:6: `tcp.mine` has no `mss`, whose default is 20 B less for flow `bulk` (ip = 6) than for `four`; write `mss` in [tcp.mine], such as \"1440 B\", or give `bulk` a [tcp.NAME] of its own",
        ],
    ),
    (
        "ecn = \"off\"\n[flow.bulk]",
        "ecn = \"ecn-becn\"\n[flow.bulk]\nip = 6",
        &[
            "x.toml:15:7: `tcp.mine.ecn` responds to source quenches, which IPv6 does not have (`flow.bulk.ip` is 6); write another feedback scheme, such as \"rfc3168\"",
        ],
    ),
    (
        "ecn = \"off\"\n[flow.bulk]",
        "data_headers = \"40 B\"\nack_headers = \"59 B\"\n[flow.bulk]\nip = 6",
        &[
            "x.toml:15:16: `tcp.mine.data_headers` is 40 B, less than the 60 B of IPv6 and TCP (`flow.bulk.ip` is 6); write \"real\", or \"60 B\"",
            "x.toml:16:15: `tcp.mine.ack_headers` is 59 B, less than the 60 B of IPv6 and TCP (`flow.bulk.ip` is 6); write \"real\", or \"60 B\"",
        ],
    ),
    (
        "ecn = \"off\"\n[flow.bulk]",
        "mss = \"65476 B\"\n[flow.bulk]\nip = 6",
        &[
            "x.toml:15:7: `tcp.mine.mss` is 65476 B: with headers of 60 B (`flow.bulk.ip` is 6) it is more than 65535 B; write at most 65475 B",
        ],
    ),
    (
        "traffic = \"ftp\"\ntcp = \"mine\"",
        "ip = 6\ntraffic = { kind = \"cbr\", rate = \"1 Mbps\", packet = \"47 B\" }",
        &[
            "x.toml:20:53: `flow.bulk.traffic.packet` is 47 B, less than the headers of IPv6 and UDP (`flow.bulk.ip` is 6); write 48 B or more",
        ],
    ),
    (
        "[tcp.mine]\necn = \"off\"\n[flow.bulk]",
        "becn = { thresh = \"10 packets\" }\n[tcp.mine]\n[flow.bulk]\nip = 6",
        &[
            "x.toml:14:8: `queue.red.becn`: IPv6 has no source quench, and flow `bulk` has ip = 6; leave it out, or `flow.bulk.ip`",
        ],
    ),
    (
        "queue = \"red\"",
        "queue = \"outer\"\n[queue.outer]\ndiscipline = \"classes\"\nlimit = \"60 packets\"\nschedule = \"strict\"\n\
         [queue.outer.class.all]\ndiscipline = \"red\"\nlimit = \"60 packets\"\nmin_th = \"5 packets\"\n\
         max_th = \"15 packets\"\nbecn = { thresh = \"10 packets\" }\n[flow.six]\nfrom = \"a\"\nto = \"b\"\ntraffic = \"ftp\"\nip = 6",
        &[
            "x.toml:18:8: `queue.outer.class.all.becn`: IPv6 has no source quench, and flow `six` has ip = 6; leave it out, or `flow.six.ip`",
        ],
    ),
];
