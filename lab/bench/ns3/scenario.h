// The five scenarios that are compared, as data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

/// A station and its traffic. All flows are between it and the server.
struct Station {
    std::string name;
    std::uint8_t mcs;             ///< HT modulation and coding scheme, 0 to 31, in both directions.
    double udpMbps = 0;           ///< UDP payload offered to it, in Mbit/s.
    std::uint32_t tcpDown = 0;    ///< TCP downloads.
    std::uint32_t tcpUp = 0;      ///< TCP uploads.
    bool ping = true;             ///< The server pings it.
};

struct Scenario {
    std::uint16_t widthMhz;       ///< Channel width: 20 or 40.
    std::vector<Station> stations;
};

/// The scenario of that name; throws std::invalid_argument, which lists the names, if there is none.
Scenario FindScenario(const std::string& name);

} // namespace bench
