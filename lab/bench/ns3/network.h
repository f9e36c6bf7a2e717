// Server, access point and stations, with the wire and the air between them.
#pragma once

#include "scenario.h"

#include "ns3/ipv4-address.h"
#include "ns3/node.h"
#include "ns3/wifi-net-device.h"

#include <vector>

namespace bench {

struct Network {
    ns3::Ptr<ns3::Node> server;
    ns3::Ipv4Address serverAddress;
    ns3::Ptr<ns3::WifiNetDevice> ap;
    std::vector<ns3::Ptr<ns3::WifiNetDevice>> stations;   ///< In the order of the scenario.
    std::vector<ns3::Ipv4Address> stationAddresses;
};

/// Builds the network; stations associate by the first beacons.
Network Build(const Scenario& scenario);

} // namespace bench
