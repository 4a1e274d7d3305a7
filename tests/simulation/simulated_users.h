// The users of a simulated cluster: they submit, stop, pause, resume and delete jobs, and cordon
// and drain nodes.
#ifndef TRAINYARD_TESTS_SIMULATION_SIMULATED_USERS_H_
#define TRAINYARD_TESTS_SIMULATION_SIMULATED_USERS_H_

#include <cstdint>
#include <string>

#include "tests/simulation/simulated_queues.h"
#include "tests/simulation/simulation_options.h"
#include "tests/simulation/world/random.h"
#include "tests/simulation/world/simulated_controller.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard::simulation {

class SimulatedUsers {
 public:
  SimulatedUsers(const SimulationOptions& options, Random& random, SimulatedController& controller)
      : options_(options), random_(random), controller_(controller), queues_(random, controller) {}

  // Sends the requests of one step.
  void Act();
  // From now on, users pause no job, and cordon or drain no node. All nodes are uncordoned.
  void FaultsHaveStopped() { faults_stopped_ = true; }
  bool HaveSubmittedAll() const { return submitted_ == options_.jobs; }

 private:
  void AddDependency(v1::JobSpec& spec);
  void AddTimeLimit(v1::JobSpec& spec);
  void AddMatrix(v1::JobSpec& spec);
  void AddRange(v1::JobSpec& spec);
  void AddLaunchers(v1::JobSpec& spec);
  // Adds requests of CPU cores and memory.
  void AddHostRequests(v1::JobSpec& spec);
  v1::JobSpec NextSpec();
  void AddConditions(v1::JobSpec& spec);
  void RestrictNodes(v1::JobSpec& spec);
  void SetLeaves();
  void PauseAndResume();
  void ExtendLimits();
  void UncordonAll();
  void Cordon(bool cordoned, const std::string& node_id);
  void CordonAndDrain();

  const SimulationOptions& options_;
  Random& random_;
  SimulatedController& controller_;
  SimulatedQueues queues_;
  int submitted_ = 0;
  bool faults_stopped_ = false;
};

}  // namespace trainyard::simulation

#endif  // TRAINYARD_TESTS_SIMULATION_SIMULATED_USERS_H_
