#include "observer.h"

#include "ns3/qos-txop.h"
#include "ns3/simulator.h"
#include "ns3/traffic-control-layer.h"
#include "ns3/wifi-mac.h"
#include "ns3/wifi-mpdu.h"
#include "ns3/wifi-phy.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <ostream>

namespace bench {

using namespace ns3;

namespace {

const Time kSampleEvery = MilliSeconds(10);

/// The p-quantile, interpolated between neighbours.
double Quantile(std::vector<double> values, double p) {
    std::sort(values.begin(), values.end());
    const double at = p * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    return values[below] + (values[above] - values[below]) * (at - static_cast<double>(below));
}

/// Most memory this process ever had resident, in KiB.
std::uint64_t PeakKib() {
    std::ifstream status("/proc/self/status");
    std::string word;
    while (status >> word && word != "VmHWM:") {
        status.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    }
    std::uint64_t kib = 0;
    status >> kib;
    return kib;
}

} // namespace

void Observer::Level::Take(std::uint64_t value) {
    ++samples;
    sum += value;
    most = std::max(most, value);
}

Observer::Observer(const Scenario& scenario, const Network& network, const std::vector<StationTraffic>& traffic)
    : m_scenario(scenario), m_network(network), m_traffic(traffic), m_rttMs(traffic.size()), m_down(traffic.size()),
      m_up(traffic.size()) {
    for (std::size_t i = 0; i < traffic.size(); ++i) {
        m_stationOf[network.stations[i]->GetMac()->GetAddress()] = i;
        if (traffic[i].ping) {
            traffic[i].ping->TraceConnectWithoutContext("Rtt", MakeCallback(&Observer::OnRtt, this).Bind(i));
        }
    }
}

void Observer::LookIntoMac(Time start, Time stop) {
    m_looking = true;
    const Ptr<WifiNetDevice> ap = m_network.ap;
    m_disc = ap->GetNode()->GetObject<TrafficControlLayer>()->GetRootQueueDiscOnDevice(ap);
    m_queue = ap->GetMac()->GetTxopQueue(AC_BE);
    m_queue->TraceConnectWithoutContext(
        "Expired", Callback<void, Ptr<const WifiMpdu>>([this](Ptr<const WifiMpdu>) { ++m_expired; }));
    ap->GetPhy()->TraceConnectWithoutContext("PhyTxPsduBegin",
                                             MakeCallback(&Observer::OnTransmit, this).Bind(true, std::size_t{0}));
    for (std::size_t i = 0; i < m_network.stations.size(); ++i) {
        m_network.stations[i]->GetPhy()->TraceConnectWithoutContext(
            "PhyTxPsduBegin", MakeCallback(&Observer::OnTransmit, this).Bind(false, i));
    }
    Simulator::Schedule(start, &Observer::Sample, this, stop);
}

void Observer::OnRtt(std::size_t station, std::uint16_t, Time rtt) {
    m_rttMs[station].push_back(rtt.GetSeconds() * 1e3);
}

void Observer::OnTransmit(bool byAp, std::size_t station, WifiConstPsduMap psdus, WifiTxVector vector, double) {
    for (const auto& [id, psdu] : psdus) {
        if (!psdu->GetHeader(0).IsQosData() || psdu->GetAddr1().IsGroup()) {
            continue;
        }
        Ppdus& of = byAp ? m_down[m_stationOf.at(psdu->GetAddr1())] : m_up[station];
        const Time air = WifiPhy::CalculateTxDuration(psdu, vector, WIFI_PHY_BAND_5GHZ);
        const std::uint64_t frames = psdu->GetNMpdus();
        ++of.ppdus;
        of.frames += frames;
        of.mostFrames = std::max(of.mostFrames, frames);
        of.air += air;
        of.longest = std::max(of.longest, air);
    }
}

void Observer::Sample(Time stop) {
    m_inDisc.Take(m_disc->GetNPackets());
    m_inQueue.Take(m_queue->GetNPackets());
    if (Simulator::Now() + kSampleEvery <= stop) {
        Simulator::Schedule(kSampleEvery, &Observer::Sample, this, stop);
    }
}

void Observer::PrintStation(std::ostream& out, std::size_t station, double seconds) const {
    std::uint64_t bytes = 0;
    for (const auto& sink : m_traffic[station].sinks) {
        bytes += sink->GetTotalRx();
    }
    out << '"' << m_scenario.stations[station].name << "\": {\"goodput_mbps\": " << 8.0 * bytes / 1e6 / seconds;
    const std::vector<double>& rtts = m_rttMs[station];
    if (!rtts.empty()) {
        out << ", \"pings\": " << rtts.size() << ", \"ping_median_ms\": " << Quantile(rtts, 0.5)
            << ", \"ping_p95_ms\": " << Quantile(rtts, 0.95);
    }
    if (m_looking) {
        Time all;
        for (std::size_t i = 0; i < m_down.size(); ++i) {
            all += m_down[i].air + m_up[i].air;
        }
        const Ppdus& down = m_down[station];
        const Ppdus& up = m_up[station];
        out << ", \"airtime_share\": " << ((down.air + up.air) / all).GetDouble();
        const auto direction = [&out](const char* name, const Ppdus& of) {
            if (of.ppdus > 0) {
                out << ", \"mean_aggregate_" << name << "\": " << double(of.frames) / double(of.ppdus)
                    << ", \"most_frames_" << name << "\": " << of.mostFrames << ", \"longest_ppdu_" << name
                    << "_ms\": " << of.longest.GetSeconds() * 1e3;
            }
        };
        direction("down", down);
        direction("up", up);
    }
    out << '}';
}

void Observer::PrintQueues(std::ostream& out) const {
    const auto level = [&out](const char* name, const Level& of) {
        out << '"' << name << "_mean\": " << double(of.sum) / double(of.samples) << ", \"" << name
            << "_most\": " << of.most;
    };
    out << "\"ap\": {\"qdisc\": \"" << m_disc->GetInstanceTypeId().GetName() << "\", ";
    level("qdisc_packets", m_inDisc);
    out << ", ";
    level("mac_packets", m_inQueue);
    out << ", \"mac_limit\": " << m_queue->GetMaxSize().GetValue() << ", \"mac_expired\": " << m_expired
        << ", \"qdisc_drops\": {";
    bool first = true;
    for (std::size_t i = 0; i < m_disc->GetNQueueDiscClasses(); ++i) {
        const Ptr<QueueDisc> child = m_disc->GetQueueDiscClass(i)->GetQueueDisc();
        const QueueDisc::Stats stats = child->GetStats();
        for (const auto* drops : {&stats.nDroppedPacketsBeforeEnqueue, &stats.nDroppedPacketsAfterDequeue}) {
            for (const auto& [reason, packets] : *drops) {
                out << (first ? "" : ", ") << '"' << i << ' ' << child->GetInstanceTypeId().GetName() << ": " << reason
                    << "\": " << packets;
                first = false;
            }
        }
    }
    out << "}}";
}

void Observer::Print(std::ostream& out, Time measured) const {
    std::uint64_t sent = 0;
    for (const auto& traffic : m_traffic) {
        sent += traffic.udp ? traffic.udp->Sent() : 0;
    }
    out << "{\"seconds\": " << measured.GetSeconds() << ", \"events\": " << Simulator::GetEventCount()
        << ", \"peak_kib\": " << PeakKib() << ", \"udp_sent\": " << sent << ", \"stations\": {";
    for (std::size_t i = 0; i < m_traffic.size(); ++i) {
        out << (i > 0 ? ", " : "");
        PrintStation(out, i, measured.GetSeconds());
    }
    out << '}';
    if (m_looking) {
        out << ", ";
        PrintQueues(out);
    }
    out << "}\n";
}

} // namespace bench
