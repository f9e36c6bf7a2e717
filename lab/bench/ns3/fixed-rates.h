// Rate control that has nothing to control: one HT rate for each peer.
#pragma once

#include "ns3/wifi-remote-station-manager.h"

#include <map>

namespace bench {

/// Sends data to each peer at the rate given for it. (ns-3's own constant rate is one for all peers.)
class FixedRates : public ns3::WifiRemoteStationManager {
  public:
    static ns3::TypeId GetTypeId();

    /// Sends to `peer` with HT modulation and coding scheme `mcs`.
    void SetRate(ns3::Mac48Address peer, std::uint8_t mcs);

  private:
    ns3::WifiRemoteStation* DoCreateStation() const override;
    ns3::WifiTxVector DoGetDataTxVector(ns3::WifiRemoteStation* peer, ns3::MHz_u allowedWidth) override;
    ns3::WifiTxVector DoGetRtsTxVector(ns3::WifiRemoteStation* peer) override;

    // What became of a frame changes nothing here.
    void DoReportRtsFailed(ns3::WifiRemoteStation*) override {}
    void DoReportDataFailed(ns3::WifiRemoteStation*) override {}
    void DoReportRtsOk(ns3::WifiRemoteStation*, double, ns3::WifiMode, double) override {}
    void DoReportDataOk(ns3::WifiRemoteStation*, double, ns3::WifiMode, double, ns3::MHz_u, std::uint8_t) override {}
    void DoReportFinalRtsFailed(ns3::WifiRemoteStation*) override {}
    void DoReportFinalDataFailed(ns3::WifiRemoteStation*) override {}
    void DoReportRxOk(ns3::WifiRemoteStation*, double, ns3::WifiMode) override {}

    std::map<ns3::Mac48Address, std::uint8_t> m_mcs;
};

} // namespace bench
