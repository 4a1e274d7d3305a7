// Gangs in every state of gang_limit.h, for testing the limits.
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

// A gang with rank 0 on node "a" and rank 1 on node "b". Node "c" is free or a spare. A rank keeps
// its state until the scene changes it.
class GangScene {
 public:
  GangScene();

  // Submits the job, and places its gang.
  void Place(const v1::JobSpec& spec);
  // Places the job and starts all of its ranks.
  void Run(const v1::JobSpec& spec);
  // Returns the rank's part of its worker's next reports. The caller may change it.
  v1::RankReport& Rank(int rank);
  void Say(int rank, const std::string& phase, int64_t step);
  void SayAll(const std::string& phase, int64_t step);
  // Makes rank 0 wait in an operation that rank 1 has not joined.
  void WaitForRank1();
  // Makes the rank exit with 0.
  void Leave(int rank);
  // The first function makes every rank write output; the second makes every rank complete a step.
  void WriteOutput();
  void MakeStep();
  // Restarts the controller, which then knows only reports sent after this call.
  void RestartController();

  GangLimit Limit() const;
  const v1::Attempt& Attempt() const { return cluster.Attempt(job); }
  std::string Why() const;
  // Advances the time in short steps. A longer step would be mistaken for a pause of a worker.
  void Pass(int64_t ms);

  TestCluster cluster;
  int64_t job = 0;
};

// Specs of a job that runs its own program and of a job that runs trainyard-trainer. Both have the
// watchdog's defaults.
v1::JobSpec OwnProgram();
v1::JobSpec OurTrainer(int spares = 0);
// A data job, with the watchdog's defaults.
v1::JobSpec DataJob();

// A way to bring a gang into a state, and the limit that applies in that state.
struct SceneCase {
  const char* name;
  GangState state;
  LimitSource source;
  std::optional<int64_t> ms;
  void (*enter)(GangScene& scene);
};
std::ostream& operator<<(std::ostream& out, const SceneCase& scene);

// Contains at least one scene for every state and for every source of a limit.
std::vector<SceneCase> AllScenes();

}  // namespace trainyard::controller

#endif  // TRAINYARD_TESTS_CONTROLLER_CORE_GANG_SCENES_H_
