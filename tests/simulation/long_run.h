// Simulates months of one large job on the controller's real core. The clock jumps to the next due
// event, because heartbeats that change nothing need not be simulated. Around each failure, time
// advances in steps of half a second, or of one or two seconds if nothing is expected to happen.
#ifndef TRAINYARD_TESTS_SIMULATION_LONG_RUN_H_
#define TRAINYARD_TESTS_SIMULATION_LONG_RUN_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "controller/core/state/attempts/gang.h"
#include "controller/core/verdict/heal_policy.h"
#include "proto/support/clock.h"
#include "tests/controller/core/test_cluster.h"
#include "tests/simulation/world/random.h"

namespace trainyard::simulation {

inline constexpr int kSlotsPerNode = 8;

struct LongRun {
  double days = 3;
  int nodes = 42;
  int job_nodes = 40;  // The remaining nodes are spares.
  double failure_factor = 25;
  // The fractions of failures by kind: a broken device (59 % in table 5 of the Llama 3 report: GPU
  // and HBM), a lost node (24 %: host, network, power), and a software bug (no repair needed).
  double device_part = 0.59;
  double lost_part = 0.24;
  // The mean repair time. Repair times are exponentially distributed.
  double repair_hours = 6;
  int64_t step_ms = 4'000;
  int64_t checkpoint_steps = 150;
  int64_t spawn_ms = 5'000;
  int64_t init_ms = 60'000;
  int64_t load_ms = 30'000;
  // Time from the heal commands to the gang's next step.
  int64_t heal_ms = 20'000;
};

enum class Failure { kDevice, kLost, kSoftware };

struct FailureAt {
  int64_t after_ms = 0;  // Time since the job was submitted.
  Failure kind = Failure::kDevice;
  int place = 0;  // Index into the nodes with members of the job: training nodes, then spares.
};

// Returns the failures of a run. The failures depend only on the run and the seed, so all policies
// are compared on identical failures. Spare nodes fail as often as other nodes.
std::vector<FailureAt> DrawFailures(const LongRun& run, uint64_t seed);

class LongRunSimulation {
 public:
  // If `in_place` is true, the spare nodes belong to the job, and the job recovers in place.
  // Otherwise the job restarts on the spare nodes from its newest checkpoint.
  LongRunSimulation(const LongRun& run, bool in_place);

  void Play(const std::vector<FailureAt>& failures);

  const v1::Job& Job() const { return cluster_.Job(job_); }
  Timestamp begin() const { return begin_; }
  Timestamp now() const { return cluster_.now; }
  const controller::ClusterState& state() const { return cluster_.state; }
  // Number of failures that affected the gang, by kind.
  const std::map<Failure, int>& failures() const { return failures_; }
  const std::set<std::string>& failed_nodes() const { return failed_nodes_; }
  int spare_failures() const { return spare_failures_; }
  int heals() const { return heals_; }
  int quarantines() const { return quarantines_; }
  int waits_for_repair() const { return waits_for_repair_; }

 private:
  bool IsTraining() const;
  bool IsHealing() const { return controller::IsHealing(Attempt()); }
  const v1::Attempt& Attempt() const { return cluster_.Attempt(job_); }
  // Returns the nodes of the gang in the order of their places, followed by the nodes of its unused
  // spares.
  std::vector<std::string> Members() const;
  int64_t StepNow() const;
  void ReportNode(const std::string& node, const std::vector<const v1::RankPlacement*>& members,
                  int64_t step);
  void ReportSteps();
  void JumpTo(Timestamp time);
  void WaitUntil(Timestamp time);
  void Pass(int64_t ms, int64_t step_ms = 500);
  void Count(const std::vector<v1::Event>& events);

  void StartAttempt();
  void Resume();
  void PublishNewest();

  void Strike(const FailureAt& failure);
  void StrikeSpare(const std::string& node, Failure kind);
  void LoseNode(const std::string& node);
  void FailRank(int member, const std::string& broken_node);
  void FinishHeal(const std::string& node, Failure kind);
  void Restart(const std::string& node, Failure kind);
  void EndMembersOn(const std::string& node);
  void TakeAway(const std::string& node);
  void Repair(const std::string& node);

  const LongRun run_;
  Random random_{20'261'124};
  controller::TestCluster cluster_;
  int64_t job_ = 0;
  Timestamp begin_ = 0;
  // The time at which the current uninterrupted training began; 0 while the gang does not train.
  // The training continues after step `first_step_`.
  Timestamp train_begin_ = 0;
  int64_t first_step_ = 0;
  // The generation in which the newest steps were completed.
  int64_t generation_ = 1;
  std::multimap<Timestamp, std::string> repairs_;
  std::map<std::string, int64_t> left_with_;
  std::map<Failure, int> failures_;
  std::set<std::string> failed_nodes_;
  int spare_failures_ = 0;
  int heals_ = 0;
  int quarantines_ = 0;
  int waits_for_repair_ = 0;
};

}  // namespace trainyard::simulation

#endif  // TRAINYARD_TESTS_SIMULATION_LONG_RUN_H_
