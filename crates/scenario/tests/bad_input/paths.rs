//! Mistakes in ways, reverse directions, boxes and tunnels, and several mistakes at once.

use super::{Case, GOOD, errors};

pub const CASES: &[Case] = &[
    // Ways.
    (
        "rate = ",
        "duplex = false\nrate = ",
        &["x.toml:17:7: flow `bulk`: there is no path from `a` to `b` and back; \
           join them by links; data and ACKs need both directions"],
    ),
    (
        "[queue.red]",
        "[link.spare]\nfrom = \"b\"\nto = \"a\"\nrate = \"1 Mbps\"\ndelay = \"1 ms\"\n[queue.red]",
        &["x.toml:9:7: links `pipe~reverse` and `spare` join the same nodes; a route uses only one of them; \
           put a node between, or make them one link"],
    ),
    (
        "to = \"b\"\nrate",
        "to = \"a\"\nrate",
        &[
            "x.toml:3:7: `link.pipe`: `pipe` has the same node at both ends; name two different nodes",
            "x.toml:18:6: `flow.bulk.to`: there is no node `b`; valid nodes: a",
        ],
    ),
    // The reverse direction.
    (
        "queue = \"red\"",
        "queue = \"red\"\nreverse = { from = \"b\" }",
        &["x.toml:9:13: `link.pipe.reverse.from` cannot be set for the reverse direction; set `link.pipe.from`"],
    ),
    (
        "queue = \"red\"",
        "queue = \"red\"\nreverse = { queue = \"x\" }",
        &["x.toml:9:21: `link.pipe.reverse.queue`: there is no queue `x`; valid queues: default, red"],
    ),
    (
        "queue = \"red\"",
        "duplex = false\nreverse = { loss = 0.1 }",
        &["x.toml:9:1: `link.pipe` is simplex and has no reverse direction; leave out this table or `duplex = false`"],
    ),
    // Several at once, in the order of their lines.
    (
        "rate = \"1 Mbps\"\ndelay = \"5 ms\"",
        "rate = \"1\"\ndealy = \"5 ms\"\nloss = \"x\"",
        &[
            "x.toml:6:8: `link.pipe.rate`: `1` is not a rate; write a number and a unit, such as \"1.5 Mbps\"",
            "x.toml:7:1: unknown key `link.pipe.dealy`; did you mean `delay`?",
            "x.toml:8:8: `link.pipe.loss` is a string, not a number",
        ],
    ),
    // Boxes.
    (
        "queue = \"red\"\n",
        "boxes = [\"wal\"]\n[box.wall]\nsyn = \"drop\"\n",
        &["x.toml:8:10: `link.pipe.boxes[0]`: there is no box `wal`; did you mean `wall`?"],
    ),
    (
        "queue = \"red\"\n",
        "boxes = [\"wall\", \"wall\"]\n[box.wall]\nsyn = \"drop\"\n",
        &["x.toml:8:18: `link.pipe.boxes[1]`: `wall` is in this list already; name each box once"],
    ),
    (
        "[queue.red]",
        "[box.idle]\nshare = 0.5\n[queue.red]",
        &["x.toml:9:6: `box.idle` has no action; give it syn, syn_ack, clear, rewrite, drop or longest"],
    ),
    (
        "[queue.red]",
        "[box.wall]\nsyn = \"drop\"\nshare = 9\n[queue.red]",
        &["x.toml:11:9: `box.wall.share` is 9, not a share; write a number from 0 to 1"],
    ),
    (
        "[queue.red]",
        "[box.wall]\nrewrite = { ect0 = \"ect0\" }\nclear = [\"ece\", \"ece\"]\n[queue.red]",
        &[
            "x.toml:10:20: `box.wall.rewrite.ect0` changes nothing; write another codepoint, or leave it out",
            "x.toml:11:17: `box.wall.clear[1]` is in this list already; leave it out",
        ],
    ),
    (
        "[queue.red]",
        "[box.wall]\nsyn = \"rst\"\n[queue.red]",
        &["x.toml:10:7: `box.wall.syn` cannot be `rst`; valid values: pass, strip, drop, reset"],
    ),
    (
        "[queue.red]",
        "[box.wall]\nrewrite = { ect = \"ce\" }\n[queue.red]",
        &["x.toml:10:13: unknown key `box.wall.rewrite.ect`; did you mean `ect1`?"],
    ),
    // Tunnels.
    (
        "queue = \"red\"\n",
        "tunnel = \"vnp\"\n[tunnel.vpn]\n",
        &["x.toml:8:10: `link.pipe.tunnel`: there is no tunnel `vnp`; did you mean `vpn`?"],
    ),
    (
        "[queue.red]",
        "[tunnel.vpn]\ningress = \"compat\"\n[queue.red]",
        &["x.toml:10:11: `tunnel.vpn.ingress` cannot be `compat`; valid values: normal, compatibility, rfc3168-full"],
    ),
    (
        "[queue.red]",
        "[tunnel.vpn]\negress = \"rfc4301\"\n[queue.red]",
        &["x.toml:10:10: `tunnel.vpn.egress` cannot be `rfc4301`; valid values: rfc6040, rfc3168-full, \
             rfc3168-limited, rfc2003"],
    ),
    (
        "[queue.red]",
        "[tunnel.vpn]\nmode = \"normal\"\n[queue.red]",
        &["x.toml:10:1: unknown key `tunnel.vpn.mode`; valid keys: ingress, egress, overhead"],
    ),
    (
        "[queue.red]",
        "[tunnel.vpn]\noverhead = \"64036 B\"\n[queue.red]",
        &["x.toml:10:12: `tunnel.vpn.overhead` is 64036 B: with it the longest packet here, 1500 B, would have more \
             than 65535 B; write at most 64035 B, or shorter packets"],
    ),
    (
        "traffic = \"ftp\"\ntcp = \"mine\"\n",
        "traffic = { kind = \"cbr\", rate = \"1 Mbps\", packet = \"65530 B\" }\n[tunnel.vpn]\noverhead = \"20 B\"\n",
        &["x.toml:21:12: `tunnel.vpn.overhead` is 20 B: with it the longest packet here, 65530 B, would have more \
             than 65535 B; write at most 5 B, or shorter packets"],
    ),
    (
        "queue = \"red\"\n",
        "tunnel = \"vpn\"\nboxes = [\"wall\"]\n[tunnel.vpn]\n[box.wall]\nsyn = \"drop\"\n",
        &["x.toml:9:10: `link.pipe.boxes[0]`: `wall` acts on TCP headers, which are within the tunnel `vpn`; \
             name it behind the tunnel, or a box that has only `rewrite`"],
    ),
];

#[test]
fn references_are_names_or_members_of_arrays() {
    let array = GOOD.replacen("[link.pipe]", "[node.a]\ncount = 4\n[link.pipe]", 1);
    let from = |node: &str| {
        let flow = format!("[flow.bulk]\nfrom = \"{node}\"");
        errors(&array.replacen("[flow.bulk]\nfrom = \"a\"", &flow, 1))
    };
    assert_eq!((from("a"), from("a[3]")), (vec![], vec![]));
    assert_eq!(from("a[4]"), ["x.toml:19:8: `flow.bulk.from`: there is no node `a[4]`; there is a[0] to a[3]"]);
    // Any other text is an unknown name.
    for odd in ["a[x]", "]", "a[-1]"] {
        let expected = format!("x.toml:19:8: `flow.bulk.from`: there is no node `{odd}`; valid nodes: a, b");
        assert_eq!(from(odd), [expected]);
    }
    assert_eq!(from("a["), ["x.toml:19:8: `flow.bulk.from`: there is no node `a[`; did you mean `a`?"]);
}

/// Links in one direction: each node reaches each in a ring, but none of the first pair is reached from the second.
#[test]
fn data_and_acks_need_a_path_over_any_links() {
    let link = |from: usize, to: usize| {
        format!(
            "[link.l{from}{to}]\nfrom = \"n{from}\"\nto = \"n{to}\"\nrate = \"1 Mbps\"\ndelay = \"1 ms\"\nduplex = false\n"
        )
    };
    let errors = |links: &[(usize, usize)], from: usize, to: usize| {
        let links: String = links.iter().map(|&(from, to)| link(from, to)).collect();
        let flow = format!("[flow.f]\nfrom = \"n{from}\"\nto = \"n{to}\"\ntraffic = \"ftp\"\n");
        errors(&format!("format = 1\nduration = \"1 s\"\n{links}{flow}"))
    };
    let pairs = [(0, 1), (1, 0), (1, 2), (2, 3), (3, 2)];
    assert_eq!((errors(&pairs, 0, 1), errors(&pairs, 3, 2)), (vec![], vec![]));
    let apart = errors(&pairs, 1, 2);
    assert!(apart.len() == 1 && apart[0].contains("no path from `n1` to `n2` and back"), "{apart:?}");
    let ring: Vec<(usize, usize)> = (0..5).map(|i| (i, (i + 1) % 5)).collect();
    for (from, to) in [(0, 1), (1, 0), (0, 3), (4, 2)] {
        assert!(errors(&ring, from, to).is_empty());
    }
}
