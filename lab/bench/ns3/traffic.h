// Who sends what to whom, and what arrived.
#pragma once

#include "network.h"
#include "scenario.h"

#include "ns3/application.h"
#include "ns3/nstime.h"
#include "ns3/packet-sink.h"
#include "ns3/ping.h"
#include "ns3/random-variable-stream.h"
#include "ns3/socket.h"

#include <vector>

namespace bench {

/// Bytes of payload in a UDP datagram and in a full TCP segment.
constexpr std::uint32_t kDatagram = 1472;
constexpr std::uint32_t kSegment = 1448;

/// Sends UDP datagrams; gaps are uniform between half and one and a half times the mean.
class UdpSource : public ns3::Application {
  public:
    static ns3::TypeId GetTypeId();

    UdpSource(ns3::Address to, double mbps);

    std::uint64_t Sent() const { return m_sent; }

  private:
    void StartApplication() override;
    void StopApplication() override;
    void SendLater();
    void Send();

    ns3::Address m_to;
    ns3::Ptr<ns3::UniformRandomVariable> m_gapSeconds;
    ns3::Ptr<ns3::Socket> m_socket;
    ns3::EventId m_next;
    std::uint64_t m_sent = 0;
};

/// The flows of a station; pointers are null where it has no such flow.
struct StationTraffic {
    ns3::Ptr<UdpSource> udp;
    ns3::Ptr<ns3::Ping> ping;
    std::vector<ns3::Ptr<ns3::PacketSink>> sinks;   ///< Of all flows, in either direction.
};

/// Sets TCP's constants; before the network is built.
void ConfigureTcp();

/// Installs all flows, to run from `start` to `stop`.
std::vector<StationTraffic> InstallTraffic(const Scenario& scenario, const Network& network, ns3::Time start,
                                           ns3::Time stop);

} // namespace bench
