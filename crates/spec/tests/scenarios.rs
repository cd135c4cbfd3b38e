use ecnlab_spec::parse_scenario;
#[test]
fn t() {
    let text = std::fs::read_to_string("../../examples/dumbbell.toml").unwrap();
    let s = parse_scenario("dumbbell.toml", &text).unwrap_or_else(|e| panic!("{e}"));
    println!("{:#}", s.resolved());
    let p = s.plan(1);
    println!("{:#?}", p.links.iter().map(|l| (&l.name, l.from, l.to, l.delay)).collect::<Vec<_>>());
    let again = parse_scenario("r", &toml::to_string(&s.resolved()).unwrap()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(again.hash(), s.hash());
    for bad in [
        text.replace("min_th", "minth").replace("10 Mbps", "10"),
        text.replace("queue = \"red\"", "queue = \"rde\""),
        text.replace("\"ftp\"", "{ kind = \"crr\", request = \"1 KB\", response = 5 }"),
        text.replace("\"ftp\"", "{ kind = \"crrr\" }"),
        text.replace("\"ftp\"", "\"crr\""),
        text.replace("\"ftp\"", "{ kind = \"ftp\", sise = \"1 KB\" }"),
        text.replace("from = \"r1\"\n", ""),
        text.replace("[link.exit]", "[link.exit]\nreverse = { queue = 5, from = \"x\", sise = 1 }"),
        text.replace("[link.exit]", "[link.exit]\nreverse = { queue = \"x\", sise = 1 }"),
        text.replace("max_p = 0.1", "max_p = 1.5\nadaptive = { interval = \"1 s\", x = 1 }"),
        text.replace("max_p = 0.1", "max_p = 1.5\nadaptive = { interval = \"0 s\" }"),
        text.replace("[flow.bulk]", "[flow.bulk]\ntcp = \"modern\"\ntcp_to = \"x\"\nstart=5"),
        text.replace("[flow.bulk]", "[tcp.x]\nmin_rto = \"x\"\nprofle = 1\necn = \"yes\"\n[flow.bulk]"),
        text.replace("[flow.bulk]", "[tcp.x]\nsack = false\n[flow.bulk]"),
    ] {
        println!("{}\n", parse_scenario("dumbbell.toml", &bad).unwrap_err());
    }
}
