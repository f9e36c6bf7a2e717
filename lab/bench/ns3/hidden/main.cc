// Two stations that hear their access point and not each other upload without end, in ns-3: docs/cells.md.
// Prints the goodput of each in Mbit/s.

#include "ns3/boolean.h"
#include "ns3/command-line.h"
#include "ns3/config.h"
#include "ns3/double.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/mobility-helper.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/ssid.h"
#include "ns3/string.h"
#include "ns3/udp-client-server-helper.h"
#include "ns3/uinteger.h"
#include "ns3/wifi-mac.h"
#include "ns3/yans-wifi-channel.h"
#include "ns3/yans-wifi-helper.h"

#include <array>
#include <cstdint>
#include <iostream>
#include <string>

namespace {

using namespace ns3;

constexpr std::uint16_t PORT = 9;
constexpr std::uint32_t PAYLOAD = 1472;

struct Options {
    std::string rate = "OfdmRate54Mbps"; // HtMcs7 and the like: 802.11n
    std::uint32_t frames = 0;            // in an aggregate, where there are aggregates
    bool rts = false;
    bool bar = true; // a Block Ack Request after a Block Ack that did not come
    std::uint32_t retries = 7;
    std::uint32_t run = 1;
    double seconds = 10;
};

Options Read(int argc, char** argv) {
    Options o;
    CommandLine line;
    line.AddValue("rate", "data rate", o.rate);
    line.AddValue("frames", "frames in an aggregate, 0 for none", o.frames);
    line.AddValue("rts", "RTS before each PPDU", o.rts);
    line.AddValue("bar", "request after a missed Block Ack", o.bar);
    line.AddValue("retries", "tries of a frame after the first", o.retries);
    line.AddValue("run", "number of the run", o.run);
    line.AddValue("seconds", "time of traffic", o.seconds);
    line.Parse(argc, argv);
    return o;
}

void Count(std::uint64_t* bytes, Ptr<const Packet> packet, const Address&) { *bytes += packet->GetSize(); }

} // namespace

int main(int argc, char** argv) {
    const Options o = Read(argc, argv);
    RngSeedManager::SetRun(o.run);
    Config::SetDefault("ns3::WifiRemoteStationManager::RtsCtsThreshold", UintegerValue(o.rts ? 0 : 4692480));
    Config::SetDefault("ns3::QosTxop::UseExplicitBarAfterMissedBlockAck", BooleanValue(o.bar));
    Config::SetDefault("ns3::WifiMac::FrameRetryLimit", UintegerValue(o.retries));

    const NodeContainer ap(1);
    const NodeContainer stations(2);
    YansWifiChannelHelper channel = YansWifiChannelHelper::Default();
    channel.AddPropagationLoss("ns3::RangePropagationLossModel", "MaxRange", DoubleValue(5));
    YansWifiPhyHelper radio;
    radio.SetChannel(channel.Create());
    radio.Set("ChannelSettings", StringValue("{36, 20, BAND_5GHZ, 0}"));

    const bool ht = o.rate.rfind("Ht", 0) == 0;
    WifiHelper wifi;
    wifi.SetStandard(ht ? WIFI_STANDARD_80211n : WIFI_STANDARD_80211a);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", StringValue(o.rate), "ControlMode",
                                 StringValue("OfdmRate6Mbps"));
    WifiMacHelper mac;
    mac.SetType("ns3::StaWifiMac", "BE_MaxAmpduSize", UintegerValue(o.frames * (PAYLOAD + 200)));
    const NetDeviceContainer stationDevices = wifi.Install(radio, mac, stations);
    mac.SetType("ns3::ApWifiMac");
    const NetDeviceContainer apDevice = wifi.Install(radio, mac, ap);

    // At both ends of the range of the one between them.
    MobilityHelper mobility;
    const Ptr<ListPositionAllocator> places = CreateObject<ListPositionAllocator>();
    for (const double x : {5.0, 0.0, 10.0}) {
        places->Add(Vector(x, 0, 0));
    }
    mobility.SetPositionAllocator(places);
    mobility.Install(NodeContainer(ap, stations));

    InternetStackHelper().Install(NodeContainer(ap, stations));
    Ipv4AddressHelper addresses("10.0.1.0", "255.255.255.0");
    const Ipv4Address server = addresses.Assign(apDevice).GetAddress(0);
    addresses.Assign(stationDevices);

    std::array<std::uint64_t, 2> bytes{};
    for (std::uint32_t i = 0; i < stations.GetN(); ++i) {
        const std::uint16_t port = PORT + i;
        PacketSinkHelper sink("ns3::UdpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
        const ApplicationContainer sinks = sink.Install(ap);
        sinks.Get(0)->TraceConnectWithoutContext("Rx", MakeBoundCallback(&Count, &bytes[i]));
        UdpClientHelper client(server, port);
        client.SetAttribute("MaxPackets", UintegerValue(0));
        client.SetAttribute("Interval", TimeValue(MicroSeconds(100)));
        client.SetAttribute("PacketSize", UintegerValue(PAYLOAD));
        client.Install(stations.Get(i)).Start(Seconds(1));
    }
    Simulator::Stop(Seconds(1 + o.seconds));
    Simulator::Run();
    Simulator::Destroy();
    std::cout << bytes[0] * 8e-6 / o.seconds << " " << bytes[1] * 8e-6 / o.seconds << "\n";
}
