// Runs one of the compared scenarios in ns-3 and prints what came of it as one JSON object.

#include "network.h"
#include "observer.h"
#include "scenario.h"
#include "traffic.h"

#include "ns3/command-line.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"

#include <iostream>
#include <stdexcept>

int main(int argc, char* argv[]) {
    using namespace ns3;

    std::string name = "anomaly-udp";
    std::uint64_t run = 0;
    double seconds = 30;
    bool look = false;
    CommandLine command;
    command.AddValue("scenario", "which scenario", name);
    command.AddValue("run", "number of the repetition", run);
    command.AddValue("seconds", "how long traffic runs", seconds);
    command.AddValue("look", "count aggregates, airtime and queues too, which costs CPU time", look);
    command.Parse(argc, argv);

    bench::Scenario scenario;
    try {
        scenario = bench::FindScenario(name);
    } catch (const std::invalid_argument& e) {
        std::cerr << e.what() << '\n';
        return 2;
    }
    RngSeedManager::SetRun(run + 1);
    bench::ConfigureTcp();
    const bench::Network network = bench::Build(scenario);

    // A second for the stations to associate.
    const Time start = Seconds(1);
    const Time measured = Seconds(seconds);
    const Time stop = start + measured;
    const auto traffic = bench::InstallTraffic(scenario, network, start, stop);
    bench::Observer observer(scenario, network, traffic);
    if (look) {
        observer.LookIntoMac(start, stop);
    }
    Simulator::Stop(stop);
    Simulator::Run();
    observer.Print(std::cout, measured);
    Simulator::Destroy();
    return 0;
}
