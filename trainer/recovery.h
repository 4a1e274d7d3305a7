// The trainer's side of going on in place after the loss of a rank.
#ifndef TRAINYARD_TRAINER_RECOVERY_H_
#define TRAINYARD_TRAINER_RECOVERY_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proto/contract/run_config.h"
#include "trainer/healing/healing.h"
#include "trainer/healing/snapshot_keeper.h"
#include "trainer/parallel/mesh.h"
#include "trainer/parallel/rendezvous.h"
#include "trainer/run_report.h"
#include "trainer/step/step_runner.h"
#include "trainer/telemetry/telemetry_writer.h"
#include "trainer/training_state.h"

namespace trainyard::trainer {

// The beginning of the attempt.
struct AttemptStart {
  int64_t step = 0;
  std::string resumed_from;  // Checkpoint; empty for a fresh start.
};

// Values of a step that rank 0 tells, as every rank knows them.
struct ToldStep {
  int64_t step = 0;
  double loss = 0;
  double grad_norm = 0;
  double learning_rate = 0;
  std::string samples;  // Positions "a:b".
};

// The state from which the gang goes on.
struct RestoredRun {
  TrainingState state;
  AttemptStart start;
  // The newest steps up to it, where the rank that tells of steps is a new process: the one before
  // may have died before it had told of them.
  std::vector<ToldStep> untold;
};

// Of one generation. One thread at a time; everything given must outlive this.
class Recovery {
 public:
  struct Parts {
    const RunConfig& config;
    const Mesh& mesh;
    Healing& healing;
    LoadTarget target;  // With an optimizer.
    Rendezvous& rendezvous;
    torch::Device device;
    TelemetryWriter& telemetry;
    RunReport& report;
  };

  // All ranks make one at the same time, after their groups. Throws TrainerError(kPeerLost).
  explicit Recovery(const Parts& parts);

  // Brings the newest state that the gang has in memory to every rank. nullopt: nobody has any,
  // because no rank has trained yet. Throws TrainerError(kPeerLost), for good, when some rank's
  // state is lost.
  std::optional<RestoredRun> Restore();

  // True when a periodic save of the run that goes on from `state` was lost with a rank. The same
  // on every rank.
  bool HasMissedSave(const TrainingState& state) const;

  // Takes the first snapshot of the generation, of the state that all ranks have now. Where the
  // node's memory is too small for them, snapshots are off from now on, and people are told.
  void Begin(const TrainingState& state, const AttemptStart& start);

  bool is_on() const { return !parts_.healing.is_refused(); }
  // Around the launch of a step, and before what changes the state.
  void BeforeLaunch(int64_t step);
  void AfterLaunch(int64_t step);
  void HoldBackChanges();
  // A finished step was good, and has led to this state. The first one after a loss is told.
  // samples: as in ToldStep.
  void Confirm(const TrainingState& state, const StepResult& result, std::string samples);
  // Of StepRequest.
  double TakeCost();
  const SnapshotInterval& interval() const { return keeper_->interval(); }

  // Throws TrainerError(kPeerLost) once the gang connects anew.
  void Check() const { interruption_.Check(); }
  // As Interruption::CheckAfterWait.
  void CheckAfterWait() const { interruption_.CheckAfterWait(); }
  // The gang has lost a rank.
  void Abort();

 private:
  nlohmann::json ToJson(const TrainingState& state) const;
  std::string MemoryShortage() const;
  bool SomeRankSays(bool what) const;
  void TellOff(int64_t step, const std::string& why);
  void TellHealed(int64_t step);

  const Parts parts_;
  Interruption& interruption_;
  const std::unique_ptr<Communicator> ranks_;
  std::unique_ptr<SnapshotKeeper> keeper_;
  AttemptStart start_;
  std::deque<ToldStep> newest_steps_;
  double step_seconds_ = 0;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_RECOVERY_H_
