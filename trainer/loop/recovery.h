// Recovery in place: lets the trainer continue after the loss of a rank, without a restart.
#ifndef TRAINYARD_TRAINER_LOOP_RECOVERY_H_
#define TRAINYARD_TRAINER_LOOP_RECOVERY_H_

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
#include "trainer/report/run_report.h"
#include "trainer/report/training_report.h"
#include "trainer/start/attempt_start.h"
#include "trainer/state/training_state.h"
#include "trainer/step/step_runner.h"
#include "trainer/telemetry/telemetry_writer.h"

namespace trainyard::trainer {

// The restored state, from which the gang continues.
struct RestoredRun {
  StartedAttempt attempt;
  // The latest steps up to the restored state. Set only on a replacement of rank 0, because the
  // previous process of rank 0 may have died before reporting these steps.
  std::vector<ReportedStep> unreported;
};

// Recovers the gang, within one generation. Not thread-safe. Everything that Parts refers to must
// outlive this object.
class Recovery {
 public:
  struct Parts {
    const RunConfig& config;
    const Mesh& mesh;
    Healing& healing;
    LoadTarget target;  // Must include an optimizer, and a group for snapshots.
    torch::Device device;
    TelemetryWriter& telemetry;
    RunReport& report;
  };

  // Collective: all ranks must construct a Recovery at the same time. Throws
  // TrainerError(kPeerLost).
  explicit Recovery(const Parts& parts);

  // Restores, on every rank, the latest state that the ranks have in host memory. Returns nullopt
  // if no rank has a state, because no rank has trained yet. If the state of some rank is lost,
  // turns healing off and throws TrainerError(kPeerLost).
  std::optional<RestoredRun> Restore();

  // True if a periodic save was due before `state` but was not made, because a rank was lost. The
  // result is equal on all ranks.
  bool HasMissedSave(const TrainingState& state) const;

  // Takes the first snapshot of this generation. If some node has too little memory, turns
  // snapshots off and reports this to the user.
  void Begin(const TrainingState& state, const AttemptStart& start);

  // BeforeLaunch must be called before the launch of a step, AfterLaunch after it, and BlockChanges
  // before work that changes the state.
  void BeforeLaunch(int64_t step);
  void AfterLaunch(int64_t step);
  void BlockChanges();
  bool CanBlockChanges() const;
  // Confirms the finished step that led to `state`. The step had finite values or was skipped.
  // After a loss, the first confirmed step is reported as the end of the heal. For `samples`, see
  // ReportedStep.
  void Confirm(const TrainingState& state, const StepResult& result, std::string samples);
  // See StepRequest.
  double TakeCost();
  // Returns the interval between snapshots and their cost, for a `metrics` record. Empty if healing
  // is off.
  MetricValues SnapshotValues() const;

  // Throws TrainerError(kPeerLost) if the gang has begun to reconnect.
  void Check() const { interruption_.Check(); }
  // See Interruption::CheckAfterWait.
  void CheckAfterWait() const { interruption_.CheckAfterWait(); }

 private:
  bool is_on() const { return !parts_.healing.is_refused(); }
  nlohmann::json ToJson(const TrainingState& state) const;
  std::string MemoryShortage() const;
  bool IsTrueOnAnyRank(bool what) const;
  void ReportHealingOff(int64_t step, const std::string& why);
  void ReportHealed(int64_t step);

  const Parts parts_;
  Interruption& interruption_;
  Communicator& ranks_;
  std::unique_ptr<SnapshotKeeper> keeper_;
  AttemptStart start_;
  std::deque<ReportedStep> newest_steps_;
  double step_seconds_ = 0;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_LOOP_RECOVERY_H_
