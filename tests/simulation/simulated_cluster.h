// A simulated cluster. One seed determines everything that happens: clock, network, machines,
// workers, controller, users and faults. Every checker runs after every step of 100 ms.
#ifndef TRAINYARD_TESTS_SIMULATION_SIMULATED_CLUSTER_H_
#define TRAINYARD_TESTS_SIMULATION_SIMULATED_CLUSTER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/simulation/checkers/checker.h"
#include "tests/simulation/simulated_users.h"
#include "tests/simulation/simulation_options.h"
#include "tests/simulation/world/network.h"
#include "tests/simulation/world/random.h"
#include "tests/simulation/world/simulated_controller.h"
#include "tests/simulation/world/simulated_worker.h"
#include "tests/simulation/world/training_world.h"

namespace trainyard::simulation {

class SimulatedCluster {
 public:
  explicit SimulatedCluster(const SimulationOptions& options);

  // Runs for `ms`, or until a checker reports a violation.
  void RunFor(int64_t ms);
  // Stops injecting faults and uncordons all nodes. Faults in progress (partitions, freezes and
  // worker outages) end when they are due, within 30 s. Destroyed machines and damaged checkpoints
  // remain. Users still stop jobs.
  void StopFaults();
  // Runs until every job has ended, and then for another minute. Fails if the jobs take longer than
  // `ms_max`, or if a rank is still running or a slot is still taken after that minute.
  void RunUntilAllEnded(int64_t ms_max);

  // TakeCopy copies the controller's data directory. PutCopyBack restores the event log from the
  // copy or, if `all` is true, the whole directory.
  void TakeCopy() { controller_.TakeCopy(); }
  void PutCopyBack(bool all);

  // The first failure, with its seed, time and message, the last 200 events and all processes; ""
  // if there is none.
  const std::string& failure() const { return failure_; }
  // Number of injected faults, not counting broken streams and cordons.
  int64_t faults_injected() const { return faults_injected_; }
  const std::vector<v1::Event>& log() const { return controller_.log(); }
  const controller::ClusterState& state() const { return controller_.state(); }
  // The jobs with a rank that exceeded a limit.
  std::set<int64_t> FloodedJobs() const;
  // All submitted jobs, from the state or the archive.
  std::vector<v1::Job> Jobs() const;
  // The term of the newest event.
  int64_t NewestTerm() const {
    return controller_.log().empty() ? 0 : controller_.log().back().leader_term();
  }

 private:
  // Starts a worker on a new node.
  void AddWorker(const std::string& node_id);
  void StepOnce();
  void InjectFaults();
  void InjectNodeFault(SimulatedWorker& worker);
  void InjectLoss(SimulatedWorker& worker);
  void InjectStartFault(SimulatedWorker& worker);
  void InjectSlowDevice(const std::string& node_id);
  void InjectFreeze(const std::string& node_id);
  void InjectDiskFault(SimulatedWorker& worker);
  void InjectDeviceErrors(SimulatedWorker& worker);
  // Ends the faults that are due to end.
  void Mend();
  void DeliverMessages();
  void RunCheckers();
  // Fails if a rank of an ended job is still running, if an ended job still has a slot, or if data
  // on a node's disk has not reached the controller.
  void CheckRest();
  std::string RestOf(const SimulatedWorker& worker) const;
  // Sets failure().
  void Complain(const std::string& words);
  CrashPoint NextCrash();
  // Returns true with the probability per step that corresponds to `chance` per second. If it
  // returns true, counts a fault.
  bool Strikes(double chance);

  const SimulationOptions options_;
  Random random_;
  Faults faults_;
  Timestamp now_ = 1'000'000'000'000;  // Unix ms. Must be far from 0, which means "never".
  Network network_;
  TrainingWorld world_;
  SimulatedController controller_;
  SimulatedUsers users_;
  std::vector<std::unique_ptr<SimulatedWorker>> workers_;
  std::vector<std::unique_ptr<Checker>> checkers_;

  // For each node, the end of its partition and
  // the restart time of its crashed worker.
  std::map<std::string, Timestamp> heals_at_ms_;
  std::map<std::string, Timestamp> starts_at_ms_;
  // The end of the controller's freeze, and
  // the end of each frozen worker's freeze.
  Timestamp controller_thaws_at_ms_ = 0;
  std::map<std::string, Timestamp> thaws_at_ms_;
  int nodes_lost_ = 0;
  int data_dirs_lost_ = 0;
  int64_t faults_injected_ = 0;
  bool restarts_controller_ = false;
  std::size_t checked_events_ = 0;  // Number of log events that the checkers have seen.
  std::string failure_;
};

}  // namespace trainyard::simulation

#endif  // TRAINYARD_TESTS_SIMULATION_SIMULATED_CLUSTER_H_
