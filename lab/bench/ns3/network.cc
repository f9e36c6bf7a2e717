#include "network.h"

#include "fixed-rates.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-global-routing-helper.h"
#include "ns3/mobility-helper.h"
#include "ns3/node-container.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/ssid.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"
#include "ns3/wifi-helper.h"
#include "ns3/wifi-mac-helper.h"
#include "ns3/wifi-mac.h"
#include "ns3/yans-wifi-channel.h"
#include "ns3/yans-wifi-helper.h"

namespace bench {

using namespace ns3;

namespace {

// Everybody within one metre: no frame is lost but by a collision.
void PlaceTogether(const NodeContainer& nodes) {
    MobilityHelper mobility;
    mobility.SetPositionAllocator("ns3::GridPositionAllocator", "DeltaX", DoubleValue(0.1), "DeltaY", DoubleValue(0.1),
                                  "GridWidth", UintegerValue(8));
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(nodes);
}

YansWifiPhyHelper Radio(std::uint16_t widthMhz) {
    // HT at 5 GHz: channel 36 alone, or 36 with 40 (which is called 38).
    const std::string channel = widthMhz == 40 ? "{38, 40, BAND_5GHZ, 0}" : "{36, 20, BAND_5GHZ, 0}";
    YansWifiPhyHelper radio;
    radio.SetChannel(YansWifiChannelHelper::Default().Create());
    radio.Set("ChannelSettings", StringValue(channel));
    radio.Set("Antennas", UintegerValue(2));
    radio.Set("MaxSupportedTxSpatialStreams", UintegerValue(2));
    radio.Set("MaxSupportedRxSpatialStreams", UintegerValue(2));
    return radio;
}

Ptr<WifiNetDevice> WifiAt(const NetDeviceContainer& devices, std::uint32_t i) {
    return DynamicCast<WifiNetDevice>(devices.Get(i));
}

void SetRate(const Ptr<WifiNetDevice>& from, const Ptr<WifiNetDevice>& to, std::uint8_t mcs) {
    DynamicCast<FixedRates>(from->GetRemoteStationManager())->SetRate(to->GetMac()->GetAddress(), mcs);
}

} // namespace

Network Build(const Scenario& scenario) {
    const auto count = static_cast<std::uint32_t>(scenario.stations.size());
    NodeContainer wired(2);
    NodeContainer stations(count);
    NodeContainer wireless(wired.Get(1), stations);
    PlaceTogether(wireless);

    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211n);
    wifi.ConfigHtOptions("ShortGuardIntervalSupported", BooleanValue(true));
    wifi.SetRemoteStationManager("bench::FixedRates");
    const YansWifiPhyHelper radio = Radio(scenario.widthMhz);
    WifiMacHelper mac;
    mac.SetType("ns3::ApWifiMac", "Ssid", SsidValue(Ssid("bench")));
    const NetDeviceContainer apDevice = wifi.Install(radio, mac, wired.Get(1));
    mac.SetType("ns3::StaWifiMac", "Ssid", SsidValue(Ssid("bench")));
    const NetDeviceContainer stationDevices = wifi.Install(radio, mac, stations);

    PointToPointHelper wire;
    wire.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
    wire.SetChannelAttribute("Delay", StringValue("1ms"));
    const NetDeviceContainer wireDevices = wire.Install(wired);

    // Addresses bring ns-3's default queue discipline with them: fq_codel, under mq where there are several queues.
    InternetStackHelper().Install(NodeContainer(wired, stations));
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    const Ipv4InterfaceContainer wireAddresses = addresses.Assign(wireDevices);
    addresses.SetBase("10.0.1.0", "255.255.255.0");
    addresses.Assign(apDevice);
    const Ipv4InterfaceContainer stationAddresses = addresses.Assign(stationDevices);
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    Network network{wired.Get(0), wireAddresses.GetAddress(0), WifiAt(apDevice, 0), {}, {}};
    for (std::uint32_t i = 0; i < count; ++i) {
        const Ptr<WifiNetDevice> station = WifiAt(stationDevices, i);
        SetRate(network.ap, station, scenario.stations[i].mcs);
        SetRate(station, network.ap, scenario.stations[i].mcs);
        network.stations.push_back(station);
        network.stationAddresses.push_back(stationAddresses.GetAddress(i));
    }
    return network;
}

} // namespace bench
