// The dumbbell of bench/c.toml in ns-3: 50 ECN flows through RED at 100 Mbit/s. Prints one JSON object.
//
//   source[i] --1 Gbit/s, 2 ms-- R1 ==100 Mbit/s, 16 ms, RED (R1 to R2 only)== R2 --1 Gbit/s, 2 ms-- sink[i]
//
//   ns3_dumbbell SECONDS SEED
//
// Settings that only cost time are off: traces, timestamps, IPv6, queue discs of the access links. A device between the queue disc and
// the wire holds one packet, ns-3's least. SACK is on, as is ns-3's default; c's senders have none. `packets` are the segments that the
// sinks have read; `wall_s` is the event loop.
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace ns3;

namespace {

constexpr uint32_t FLOWS = 50;
constexpr uint32_t MSS = 1460;
constexpr uint32_t BUFFER = 2000 * MSS;
constexpr uint16_t PORT = 5000;

void SetDefaults(uint32_t seed) {
    RngSeedManager::SetRun(seed);
    ObjectFactory scheduler("ns3::PriorityQueueScheduler");
    Simulator::SetScheduler(scheduler);
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpLinuxReno"));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TcpClassicRecovery::GetTypeId()));
    Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue("On"));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(0.2)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(MSS));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(BUFFER));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(BUFFER));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::Ipv4::WeakEsModel", BooleanValue(false)); // a lookup less for each packet
}

NetDeviceContainer Connect(Ptr<Node> a, Ptr<Node> b, const char* rate, const char* delay, const char* queue) {
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue(rate));
    link.SetChannelAttribute("Delay", StringValue(delay));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(queue));
    return link.Install(a, b);
}

Ptr<QueueDisc> InstallRed(Ptr<NetDevice> device) {
    TrafficControlHelper control;
    control.SetRootQueueDisc("ns3::RedQueueDisc", "MaxSize", StringValue("1000p"), "MinTh", DoubleValue(100), "MaxTh",
                             DoubleValue(300), "QW", DoubleValue(0.0002), "LInterm", DoubleValue(10), "Gentle",
                             BooleanValue(true), "UseEcn", BooleanValue(true), "UseHardDrop", BooleanValue(true),
                             "MeanPktSize", UintegerValue(MSS + 40), "LinkBandwidth", StringValue("100Mbps"),
                             "LinkDelay", StringValue("16ms"));
    return control.Install(device).Get(0);
}

class Dumbbell {
  public:
    Dumbbell() {
        m_routers.Create(2);
        m_sources.Create(FLOWS);
        m_sinks.Create(FLOWS);
        Ipv4StaticRoutingHelper routing;
        InternetStackHelper stack;
        stack.SetRoutingHelper(routing);
        stack.SetIpv6StackInstall(false);
        stack.InstallAll();
        m_addresses.SetBase("10.1.0.0", "255.255.255.252");
        NetDeviceContainer ends = Connect(m_routers.Get(0), m_routers.Get(1), "100Mbps", "16ms", "1p");
        m_red = InstallRed(ends.Get(0));
        Ipv4InterfaceContainer middle = m_addresses.Assign(ends);
        m_control.Uninstall(ends.Get(1));
        DynamicCast<PointToPointNetDevice>(ends.Get(1))->GetQueue()->SetMaxSize(QueueSize("5000p"));
        Default(m_routers.Get(0), middle.GetAddress(1));
        Default(m_routers.Get(1), middle.GetAddress(0));
        for (uint32_t i = 0; i < FLOWS; ++i) {
            Attach(m_sources.Get(i), m_routers.Get(0));
        }
        for (uint32_t i = 0; i < FLOWS; ++i) {
            AddFlow(i, Attach(m_sinks.Get(i), m_routers.Get(1)));
        }
    }

    uint64_t Segments() const {
        uint64_t bytes = 0;
        for (const Ptr<PacketSink>& reader : m_readers) {
            bytes += reader->GetTotalRx();
        }
        return bytes / MSS;
    }

    uint32_t Marks() const { return m_red->GetStats().nTotalMarkedPackets; }
    uint32_t Drops() const { return m_red->GetStats().nTotalDroppedPackets; }

  private:
    static void Default(Ptr<Node> node, Ipv4Address next) {
        Ipv4StaticRoutingHelper helper;
        helper.GetStaticRouting(node->GetObject<Ipv4>())->SetDefaultRoute(next, 1);
    }

    Ipv4Address Attach(Ptr<Node> host, Ptr<Node> router) {
        NetDeviceContainer ends = Connect(host, router, "1Gbps", "2ms", "5000p");
        m_addresses.NewNetwork();
        Ipv4InterfaceContainer assigned = m_addresses.Assign(ends);
        m_control.Uninstall(ends);
        Default(host, assigned.GetAddress(1));
        return assigned.GetAddress(0);
    }

    void AddFlow(uint32_t i, Ipv4Address sink) {
        PacketSinkHelper reader("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), PORT));
        ApplicationContainer read = reader.Install(m_sinks.Get(i));
        read.Start(Seconds(0));
        m_readers.push_back(DynamicCast<PacketSink>(read.Get(0)));
        BulkSendHelper writer("ns3::TcpSocketFactory", InetSocketAddress(sink, PORT));
        writer.SetAttribute("SendSize", UintegerValue(MSS));
        writer.Install(m_sources.Get(i)).Start(Seconds(m_starts->GetValue(0, 1)));
    }

    NodeContainer m_routers, m_sources, m_sinks;
    Ipv4AddressHelper m_addresses;
    TrafficControlHelper m_control;
    Ptr<QueueDisc> m_red;
    Ptr<UniformRandomVariable> m_starts = CreateObject<UniformRandomVariable>();
    std::vector<Ptr<PacketSink>> m_readers;
};

} // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: ns3_dumbbell SECONDS SEED\n");
        return 2;
    }
    SetDefaults(std::strtoul(argv[2], nullptr, 10));
    Dumbbell dumbbell;
    Simulator::Stop(Seconds(std::atof(argv[1])));
    const auto began = std::chrono::steady_clock::now();
    Simulator::Run();
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - began;
    std::printf("{\"simulator\":\"ns-3\",\"packets\":%llu,\"marks\":%u,\"drops\":%u,\"wall_s\":%.6f}\n",
                static_cast<unsigned long long>(dumbbell.Segments()), dumbbell.Marks(), dumbbell.Drops(), wall.count());
    std::fflush(stdout);
    std::_Exit(0); // the teardown of all objects is no part of the simulation
}
