#include "fixed-rates.h"

#include "ns3/ht-phy.h"
#include "ns3/nstime.h"
#include "ns3/wifi-phy.h"

#include <algorithm>

namespace bench {

using namespace ns3;

NS_OBJECT_ENSURE_REGISTERED(FixedRates);

TypeId FixedRates::GetTypeId() {
    static const TypeId id =
        TypeId("bench::FixedRates").SetParent<WifiRemoteStationManager>().AddConstructor<FixedRates>();
    return id;
}

void FixedRates::SetRate(Mac48Address peer, std::uint8_t mcs) {
    m_mcs[peer] = mcs;
}

WifiRemoteStation* FixedRates::DoCreateStation() const {
    return new WifiRemoteStation();
}

WifiTxVector FixedRates::DoGetDataTxVector(WifiRemoteStation* peer, MHz_u allowedWidth) {
    const std::uint8_t mcs = m_mcs.at(GetAddress(peer));
    const auto streams = static_cast<std::uint8_t>(1 + mcs / 8);
    const Time guard = NanoSeconds(GetShortGuardIntervalSupported(peer) ? 400 : 800);
    return WifiTxVector(HtPhy::GetHtMcs(mcs), GetDefaultTxPowerLevel(), WIFI_PREAMBLE_HT_MF, guard,
                        GetPhy()->GetNumberOfAntennas(), streams, 0, std::min(allowedWidth, GetChannelWidth(peer)),
                        GetAggregation(peer));
}

WifiTxVector FixedRates::DoGetRtsTxVector(WifiRemoteStation*) {
    return WifiTxVector(GetDefaultMode(), GetDefaultTxPowerLevel(), WIFI_PREAMBLE_LONG, NanoSeconds(800), 1, 1, 0, 20,
                        false);
}

} // namespace bench
