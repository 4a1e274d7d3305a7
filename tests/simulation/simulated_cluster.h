// A simulated cluster in which one seed determines everything: clock, network, machines, workers,
// controller, users and faults. Every checker runs after every step of 100 ms.
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

  // Runs for `ms` or until a checker reports a violation.
  void RunFor(int64_t ms);
  // Ends fault injection and uncordons all nodes. Current partitions, freezes and worker outages
  // end within 30 s, when they are due. Destroyed machines and damaged checkpoints remain. Users
  // still stop jobs.
  void StopFaults();
  // Runs until every job has ended, and a minute longer. Fails if the jobs take longer than
  // `ms_max`, or if after that minute a rank is still running or a slot is still held.
  void RunUntilAllEnded(int64_t ms_max);

  // TakeCopy copies the controller's data directory. PutCopyBack restores the copied event log or,
  // with `all`, everything.
  void TakeCopy() { controller_.TakeCopy(); }
  void PutCopyBack(bool all);

  // The first failure: seed, time, message, the last 200 events and all processes. Empty if there
  // is none.
  const std::string& failure() const { return failure_; }
  // Number of injected faults, not counting broken streams and cordons.
  int64_t faults_injected() const { return faults_injected_; }
  const std::vector<v1::Event>& log() const { return controller_.log(); }
  const controller::ClusterState& state() const { return controller_.state(); }
  // Jobs with a rank that exceeded a limit.
  std::set<int64_t> FloodedJobs() const;
  // All submitted jobs, from the state or the archive.
  std::vector<v1::Job> Jobs() const;

 private:
  void StepOnce();
  void InjectFaults();
  void InjectNodeFault(SimulatedWorker& worker);
  void InjectLoss(SimulatedWorker& worker);
  void InjectStartFault(SimulatedWorker& worker);
  void InjectSlowDevice(const std::string& node_id);
  void InjectFreeze(const std::string& node_id);
  void InjectDiskFault(SimulatedWorker& worker);
  void InjectDeviceErrors(SimulatedWorker& worker);
  // Ends the faults whose end is due.
  void Mend();
  void DeliverMessages();
  void RunCheckers();
  // Fails if a rank of an ended job is still running or holds a slot, or if data on a node's disk
  // has not reached the controller.
  void CheckRest();
  std::string RestOf(const SimulatedWorker& worker) const;
  // Sets failure().
  void Complain(const std::string& words);
  CrashPoint NextCrash();
  // True in this step with the probability that makes `chance` a second; counts the fault.
  bool Strikes(double chance);

  const SimulationOptions options_;
  Random random_;
  Faults faults_;
  Timestamp now_ = 1'000'000'000'000;  // Unix ms. Any start far from 0, which means "never".
  Network network_;
  TrainingWorld world_;
  SimulatedController controller_;
  SimulatedUsers users_;
  std::vector<std::unique_ptr<SimulatedWorker>> workers_;
  std::vector<std::unique_ptr<Checker>> checkers_;

  // Times at which a partition ends and a crashed worker restarts, by node.
  std::map<std::string, Timestamp> heals_at_ms_;
  std::map<std::string, Timestamp> starts_at_ms_;
  // End of the freeze of the controller, and of each frozen worker.
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
