#include "scenario.h"

#include <functional>
#include <map>
#include <stdexcept>

namespace bench {
namespace {

Scenario AnomalyUdp() {
    return {20, {{.name = "fast1", .mcs = 15, .udpMbps = 60},
                 {.name = "fast2", .mcs = 15, .udpMbps = 60},
                 {.name = "slow", .mcs = 0, .udpMbps = 20}}};
}

Scenario AnomalyTcp() {
    return {20, {{.name = "fast1", .mcs = 15, .tcpDown = 1},
                 {.name = "fast2", .mcs = 15, .tcpDown = 1},
                 {.name = "slow", .mcs = 0, .tcpDown = 1}}};
}

Scenario Upload4() {
    return {40, {{.name = "laptop", .mcs = 7, .tcpUp = 4}}};
}

Scenario Rrul() {
    return {40, {{.name = "laptop", .mcs = 7, .tcpDown = 4, .tcpUp = 4}}};
}

// Only one fast station and the slow one are pinged, so that the load stays that of the downloads.
Scenario Thirty() {
    Scenario scenario{20, {}};
    for (int i = 1; i < 30; ++i) {
        scenario.stations.push_back({.name = "fast" + std::to_string(i), .mcs = 15, .tcpDown = 1, .ping = i == 1});
    }
    scenario.stations.push_back({.name = "slow", .mcs = 0, .tcpDown = 1});
    return scenario;
}

} // namespace

Scenario FindScenario(const std::string& name) {
    static const std::map<std::string, std::function<Scenario()>> all{
        {"anomaly-udp", AnomalyUdp}, {"anomaly-tcp", AnomalyTcp}, {"upload-4", Upload4}, {"rrul", Rrul}, {"thirty", Thirty}};
    const auto found = all.find(name);
    if (found == all.end()) {
        std::string names;
        for (const auto& [known, make] : all) {
            names += " " + known;
        }
        throw std::invalid_argument("no scenario \"" + name + "\"; there are:" + names);
    }
    return found->second();
}

} // namespace bench
