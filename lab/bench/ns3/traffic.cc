#include "traffic.h"

#include "ns3/boolean.h"
#include "ns3/bulk-send-application.h"
#include "ns3/config.h"
#include "ns3/enum.h"
#include "ns3/inet-socket-address.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/tcp-cubic.h"
#include "ns3/tcp-socket-factory.h"
#include "ns3/udp-socket-factory.h"
#include "ns3/uinteger.h"

namespace bench {

using namespace ns3;

NS_OBJECT_ENSURE_REGISTERED(UdpSource);

TypeId UdpSource::GetTypeId() {
    static const TypeId id = TypeId("bench::UdpSource").SetParent<Application>();
    return id;
}

UdpSource::UdpSource(Address to, double mbps) : m_to(to), m_gapSeconds(CreateObject<UniformRandomVariable>()) {
    const double mean = 8.0 * kDatagram / (mbps * 1e6);
    m_gapSeconds->SetAttribute("Min", DoubleValue(0.5 * mean));
    m_gapSeconds->SetAttribute("Max", DoubleValue(1.5 * mean));
}

void UdpSource::StartApplication() {
    m_socket = Socket::CreateSocket(GetNode(), UdpSocketFactory::GetTypeId());
    m_socket->Bind();
    m_socket->Connect(m_to);
    SendLater();
}

void UdpSource::StopApplication() {
    m_next.Cancel();
}

void UdpSource::SendLater() {
    m_next = Simulator::Schedule(Seconds(m_gapSeconds->GetValue()), &UdpSource::Send, this);
}

void UdpSource::Send() {
    m_socket->Send(Create<Packet>(kDatagram));
    ++m_sent;
    SendLater();
}

namespace {

constexpr std::uint16_t kFirstPort = 5000;

/// The period of all applications.
struct Period {
    Time start;
    Time stop;
};

template <typename App>
Ptr<App> Install(const Ptr<Node>& node, const Ptr<App>& app, const Period& period) {
    node->AddApplication(app);
    app->SetStartTime(period.start);
    app->SetStopTime(period.stop);
    return app;
}

Ptr<PacketSink> Sink(const Ptr<Node>& node, std::uint16_t port, TypeId protocol, const Period& period) {
    auto sink = CreateObject<PacketSink>();
    sink->SetAttribute("Protocol", TypeIdValue(protocol));
    sink->SetAttribute("Local", AddressValue(InetSocketAddress(Ipv4Address::GetAny(), port)));
    return Install(node, sink, period);
}

void BulkSend(const Ptr<Node>& node, const Address& to, const Period& period) {
    auto sender = CreateObject<BulkSendApplication>();
    sender->SetAttribute("Remote", AddressValue(to));
    sender->SetAttribute("SendSize", UintegerValue(64 * 1024));
    Install(node, sender, period);
}

} // namespace

void ConfigureTcp() {
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpCubic::GetTypeId()));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(kSegment));
    // ns-3 does not tune its buffers. These are about what Linux lets its own grow to, so that the congestion window decides.
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(6 << 20));
}

std::vector<StationTraffic> InstallTraffic(const Scenario& scenario, const Network& network, Time start, Time stop) {
    const Period period{start, stop};
    std::uint16_t port = kFirstPort;
    std::vector<StationTraffic> all;
    for (std::size_t i = 0; i < scenario.stations.size(); ++i) {
        const Station& station = scenario.stations[i];
        const Ptr<Node> node = network.stations[i]->GetNode();
        const Ipv4Address address = network.stationAddresses[i];
        StationTraffic traffic;
        if (station.udpMbps > 0) {
            traffic.sinks.push_back(Sink(node, ++port, UdpSocketFactory::GetTypeId(), period));
            traffic.udp = Install(network.server,
                                  CreateObject<UdpSource>(InetSocketAddress(address, port), station.udpMbps), period);
        }
        for (std::uint32_t n = 0; n < station.tcpDown; ++n) {
            traffic.sinks.push_back(Sink(node, ++port, TcpSocketFactory::GetTypeId(), period));
            BulkSend(network.server, InetSocketAddress(address, port), period);
        }
        for (std::uint32_t n = 0; n < station.tcpUp; ++n) {
            traffic.sinks.push_back(Sink(network.server, ++port, TcpSocketFactory::GetTypeId(), period));
            BulkSend(node, InetSocketAddress(network.serverAddress, port), period);
        }
        if (station.ping) {
            auto ping = CreateObject<Ping>();
            ping->SetAttribute("Destination", AddressValue(address));
            ping->SetAttribute("Interval", TimeValue(MilliSeconds(200)));
            ping->SetAttribute("VerboseMode", EnumValue(Ping::SILENT));
            traffic.ping = Install(network.server, ping, period);
        }
        all.push_back(traffic);
    }
    return all;
}

} // namespace bench
