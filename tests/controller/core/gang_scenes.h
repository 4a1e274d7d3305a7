// Gangs in every state of gang_limit.h, for tests of its limits.
#ifndef TRAINYARD_TESTS_CONTROLLER_CORE_GANG_SCENES_H_
#define TRAINYARD_TESTS_CONTROLLER_CORE_GANG_SCENES_H_

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "controller/core/health/gang_limit.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {

// A gang of two ranks on nodes "a" and "b"; "c" is free or a spare. The ranks keep their state
// until the scene changes it.
class GangScene {
 public:
  GangScene();

  // Submits the job and places its gang.
  void Place(const v1::JobSpec& spec);
  // Places the job and starts all of its ranks.
  void Run(const v1::JobSpec& spec);
  // The report that the rank's worker sends from now on.
  v1::RankReport& Rank(int rank);
  void Say(int rank, const std::string& phase, int64_t step);
  void SayAll(const std::string& phase, int64_t step);
  // Rank 0 waits in an operation that rank 1 has not joined.
  void WaitForRank1();
  // The rank exits with 0.
  void Leave(int rank);
  // Every rank writes output or completes a step.
  void WriteOutput();
  void MakeStep();
  // The controller has restarted. It knows only reports sent from now on.
  void RestartController();

  GangLimit Limit() const;
  const v1::Attempt& Attempt() const { return cluster.Attempt(job); }
  std::string Why() const;
  // Lets time pass in steps too short to be mistaken for a pause of a worker.
  void Pass(int64_t ms);

  TestCluster cluster;
  int64_t job = 0;
};

// A user's own program, and a run of trainyard-trainer; both with the watchdog's defaults.
v1::JobSpec OwnProgram();
v1::JobSpec OurTrainer(int spares = 0);

// A way to bring a gang into a state, and its limit there.
struct SceneCase {
  const char* name;
  GangState state;
  LimitSource source;
  std::optional<int64_t> ms;
  void (*enter)(GangScene& scene);
};
std::ostream& operator<<(std::ostream& out, const SceneCase& scene);

// At least one scene for every state and every source of a limit.
std::vector<SceneCase> AllScenes();

}  // namespace trainyard::controller

#endif  // TRAINYARD_TESTS_CONTROLLER_CORE_GANG_SCENES_H_
