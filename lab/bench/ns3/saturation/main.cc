// Stations beside an access point that are flooded with UDP, or flood it, in ns-3: the set-ups of bench/examples.
// Prints one JSON object: the goodput, and what aggregates held.

#include "ns3/boolean.h"
#include "ns3/command-line.h"
#include "ns3/config.h"
#include "ns3/double.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/mobility-helper.h"
#include "ns3/pointer.h"
#include "ns3/qos-txop.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/ssid.h"
#include "ns3/string.h"
#include "ns3/udp-client-server-helper.h"
#include "ns3/udp-server.h"
#include "ns3/uinteger.h"
#include "ns3/wifi-mac.h"
#include "ns3/wifi-net-device.h"
#include "ns3/wifi-psdu.h"
#include "ns3/yans-wifi-channel.h"
#include "ns3/yans-wifi-helper.h"

#include <cstdint>
#include <iostream>
#include <map>
#include <string>

namespace {

using namespace ns3;

constexpr std::uint16_t PORT = 9;

struct Options {
    std::string standard = "11n";
    std::string data = "HtMcs7";
    std::string control = "OfdmRate24Mbps"; // of RTS and management; answers follow the basic rates
    std::uint32_t width = 20;               // MHz
    std::uint32_t guard = 800;              // ns
    std::string band = "5";                 // GHz
    std::uint32_t stations = 1;
    bool up = false;
    bool qos = true;             // of 802.11a; later standards have it
    std::uint32_t ampdu = 65535; // bytes; 0 for none
    std::uint32_t amsdu = 0;
    std::uint32_t window = 0; // frames in a Block Ack agreement at most; 0: the standard's
    std::int32_t txop = -1;   // us; below 0: the standard's
    bool video = false;       // packets of AC_VI
    bool rts = false;
    bool hidden = false; // two stations that do not hear each other
    std::uint32_t payload = 1472;
    double mbps = 100; // to or from each station
    double settle = 0.5;
    double seconds = 2;
    std::uint32_t run = 1;
};

Options Read(int argc, char** argv) {
    Options o;
    CommandLine line;
    line.AddValue("standard", "11a, 11n, 11ac or 11ax", o.standard);
    line.AddValue("data", "rate of data", o.data);
    line.AddValue("control", "rate of RTS", o.control);
    line.AddValue("width", "of the channel in MHz", o.width);
    line.AddValue("guard", "interval in ns", o.guard);
    line.AddValue("band", "5 or 2_4", o.band);
    line.AddValue("stations", "how many", o.stations);
    line.AddValue("up", "they send, otherwise the access point", o.up);
    line.AddValue("qos", "QoS in 802.11a", o.qos);
    line.AddValue("ampdu", "bytes of an A-MPDU, 0 for none", o.ampdu);
    line.AddValue("amsdu", "bytes of an A-MSDU, 0 for none", o.amsdu);
    line.AddValue("window", "frames of a Block Ack agreement, 0 for the standard's", o.window);
    line.AddValue("txop", "TXOP limit in us", o.txop);
    line.AddValue("video", "packets of AC_VI", o.video);
    line.AddValue("rts", "RTS before each PPDU", o.rts);
    line.AddValue("hidden", "stations at both ends of the access point's range", o.hidden);
    line.AddValue("payload", "of a datagram", o.payload);
    line.AddValue("mbps", "of payload for each station", o.mbps);
    line.AddValue("settle", "seconds of traffic before what is measured", o.settle);
    line.AddValue("seconds", "that are measured", o.seconds);
    line.AddValue("run", "number of the run", o.run);
    line.Parse(argc, argv);
    return o;
}

WifiStandard Standard(const std::string& name) {
    static const std::map<std::string, WifiStandard> all = {{"11a", WIFI_STANDARD_80211a},
                                                            {"11n", WIFI_STANDARD_80211n},
                                                            {"11ac", WIFI_STANDARD_80211ac},
                                                            {"11ax", WIFI_STANDARD_80211ax}};
    return all.at(name);
}

// What was sent and what arrived while it was measured.
struct Seen {
    Time from;
    std::uint64_t bytes = 0;
    std::uint64_t ppdus = 0;
    std::uint64_t mpdus = 0;
    std::uint64_t longest = 0;
};

void OnReceive(Seen* seen, Ptr<const Packet> packet) {
    if (Simulator::Now() >= seen->from) {
        seen->bytes += packet->GetSize();
    }
}

void OnTransmit(Seen* seen, WifiConstPsduMap psdus, WifiTxVector, double) {
    for (const auto& [id, psdu] : psdus) {
        if (Simulator::Now() < seen->from || !psdu->GetHeader(0).IsData() || psdu->GetAddr1().IsGroup()) {
            continue;
        }
        ++seen->ppdus;
        seen->mpdus += psdu->GetNMpdus();
        seen->longest = std::max<std::uint64_t>(seen->longest, psdu->GetSize());
    }
}

void SetDefaults(const Options& o) {
    RngSeedManager::SetRun(o.run);
    Config::SetDefault("ns3::WifiRemoteStationManager::RtsCtsThreshold", UintegerValue(o.rts ? 0 : 4692480));
    Config::SetDefault("ns3::WifiMac::BE_MaxAmpduSize", UintegerValue(o.ampdu));
    Config::SetDefault("ns3::WifiMac::BE_MaxAmsduSize", UintegerValue(o.amsdu));
    if (o.window > 0) {
        Config::SetDefault("ns3::WifiMac::MpduBufferSize", UintegerValue(o.window));
    }
}

// The access point between its stations: all within a metre of it, or two at both ends of its range of 5 m.
void Place(const Options& o, const NodeContainer& ap, const NodeContainer& stations) {
    MobilityHelper mobility;
    const auto places = CreateObject<ListPositionAllocator>();
    places->Add(Vector(0, 0, 0));
    for (std::uint32_t i = 0; i < o.stations; ++i) {
        places->Add(Vector((o.hidden ? 5.0 : 0.5) * (i % 2 ? 1 : -1), 0, 0));
    }
    mobility.SetPositionAllocator(places);
    mobility.Install(ap);
    mobility.Install(stations);
}

void SetTxop(const Options& o, const NetDeviceContainer& devices) {
    for (std::uint32_t i = 0; o.txop >= 0 && i < devices.GetN(); ++i) {
        PointerValue pointer;
        DynamicCast<WifiNetDevice>(devices.Get(i))->GetMac()->GetAttribute(o.video ? "VI_Txop" : "BE_Txop", pointer);
        pointer.Get<QosTxop>()->SetTxopLimit(MicroSeconds(o.txop));
    }
}

} // namespace

int main(int argc, char** argv) {
    const Options o = Read(argc, argv);
    SetDefaults(o);
    const NodeContainer ap(1);
    const NodeContainer stations(o.stations);
    Place(o, ap, stations);

    YansWifiChannelHelper channel = YansWifiChannelHelper::Default();
    if (o.hidden) {
        channel.AddPropagationLoss("ns3::RangePropagationLossModel", "MaxRange", DoubleValue(5));
    }
    YansWifiPhyHelper radio;
    radio.SetChannel(channel.Create());
    radio.Set("ChannelSettings", StringValue("{0, " + std::to_string(o.width) + ", BAND_" + o.band + "GHZ, 0}"));

    WifiHelper wifi;
    wifi.SetStandard(Standard(o.standard));
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", StringValue(o.data), "ControlMode",
                                 StringValue(o.control));
    if (o.standard == "11n" || o.standard == "11ac") {
        wifi.ConfigHtOptions("ShortGuardIntervalSupported", BooleanValue(o.guard == 400));
    } else if (o.standard == "11ax") {
        wifi.ConfigHeOptions("GuardInterval", TimeValue(NanoSeconds(o.guard)));
    }
    WifiMacHelper mac;
    const bool qos = o.qos || o.standard != "11a";
    mac.SetType("ns3::StaWifiMac", "QosSupported", BooleanValue(qos), "Ssid", SsidValue(Ssid("bench")));
    const NetDeviceContainer stationDevices = wifi.Install(radio, mac, stations);
    mac.SetType("ns3::ApWifiMac", "QosSupported", BooleanValue(qos), "Ssid", SsidValue(Ssid("bench")));
    const NetDeviceContainer apDevice = wifi.Install(radio, mac, ap);
    const NetDeviceContainer devices(apDevice, stationDevices);
    WifiHelper::AssignStreams(devices, 1000 * o.run);
    SetTxop(o, devices);

    InternetStackHelper().Install(NodeContainer(ap, stations));
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.0.0");
    const Ipv4Address server = addresses.Assign(apDevice).GetAddress(0);
    const Ipv4InterfaceContainer clients = addresses.Assign(stationDevices);

    // A second for the stations to associate. Then they start one by one.
    const Time start = Seconds(1);
    Seen seen;
    seen.from = start + Seconds(o.settle);
    const NodeContainer& sinks = o.up ? ap : stations;
    UdpServerHelper sink(PORT);
    const ApplicationContainer sinkApps = sink.Install(sinks);
    for (std::uint32_t i = 0; i < sinkApps.GetN(); ++i) {
        sinkApps.Get(i)->TraceConnectWithoutContext("Rx", MakeBoundCallback(&OnReceive, &seen));
    }
    for (std::uint32_t i = 0; i < o.stations; ++i) {
        UdpClientHelper client(o.up ? server : clients.GetAddress(i), PORT);
        client.SetAttribute("MaxPackets", UintegerValue(0));
        client.SetAttribute("Interval", TimeValue(Seconds(8e-6 * o.payload / o.mbps)));
        client.SetAttribute("PacketSize", UintegerValue(o.payload));
        client.SetAttribute("Tos", UintegerValue(o.video ? 0xb8 : 0));
        client.Install(o.up ? stations.Get(i) : ap.Get(0)).Start(start + MicroSeconds(1000 * i));
    }
    for (std::uint32_t i = 0; i < devices.GetN(); ++i) {
        DynamicCast<WifiNetDevice>(devices.Get(i))
            ->GetPhy()
            ->TraceConnectWithoutContext("PhyTxPsduBegin", MakeBoundCallback(&OnTransmit, &seen));
    }
    Simulator::Stop(seen.from + Seconds(o.seconds));
    Simulator::Run();
    Simulator::Destroy();
    std::cout << "{\"goodput_mbps\": " << seen.bytes * 8e-6 / o.seconds << ", \"mean_mpdus\": "
              << (seen.ppdus > 0 ? double(seen.mpdus) / double(seen.ppdus) : 0.0) << ", \"ppdus\": " << seen.ppdus
              << ", \"longest_psdu\": " << seen.longest << "}\n";
}
