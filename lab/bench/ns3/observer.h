// What a run showed. Goodput and ping times are always recorded; looking into the MAC costs CPU time and is asked for.
#pragma once

#include "network.h"
#include "scenario.h"
#include "traffic.h"

#include "ns3/nstime.h"
#include "ns3/queue-disc.h"
#include "ns3/wifi-mac-queue.h"
#include "ns3/wifi-psdu.h"
#include "ns3/wifi-tx-vector.h"

#include <iosfwd>
#include <map>
#include <vector>

namespace bench {

class Observer {
  public:
    Observer(const Scenario& scenario, const Network& network, const std::vector<StationTraffic>& traffic);

    /// Counts aggregates and airtime from now on, and samples the access point's queues every 10 ms between the two times.
    void LookIntoMac(ns3::Time start, ns3::Time stop);

    /// One JSON object; `measured` is how long traffic ran.
    void Print(std::ostream& out, ns3::Time measured) const;

  private:
    /// Data PPDUs in one direction between the access point and a station.
    struct Ppdus {
        std::uint64_t ppdus = 0;
        std::uint64_t frames = 0;
        std::uint64_t mostFrames = 0;
        ns3::Time air;
        ns3::Time longest;
    };

    /// A level that is sampled.
    struct Level {
        std::uint64_t samples = 0;
        std::uint64_t sum = 0;
        std::uint64_t most = 0;

        void Take(std::uint64_t value);
    };

    void OnRtt(std::size_t station, std::uint16_t sequence, ns3::Time rtt);
    void OnTransmit(bool byAp, std::size_t station, ns3::WifiConstPsduMap psdus, ns3::WifiTxVector vector, double power);
    void Sample(ns3::Time stop);
    void PrintStation(std::ostream& out, std::size_t station, double seconds) const;
    void PrintQueues(std::ostream& out) const;

    const Scenario& m_scenario;
    const Network& m_network;
    const std::vector<StationTraffic>& m_traffic;
    bool m_looking = false;
    std::map<ns3::Mac48Address, std::size_t> m_stationOf;
    std::vector<std::vector<double>> m_rttMs;
    std::vector<Ppdus> m_down;
    std::vector<Ppdus> m_up;
    ns3::Ptr<ns3::QueueDisc> m_disc;        ///< The access point's root queue discipline.
    ns3::Ptr<ns3::WifiMacQueue> m_queue;    ///< Its MAC queue for best effort.
    Level m_inDisc;
    Level m_inQueue;
    std::uint64_t m_expired = 0;
};

} // namespace bench
