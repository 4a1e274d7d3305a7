// The trainer's part in continuing in place after the loss of a rank.
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
#include "trainer/parallel/rendezvous.h"
#include "trainer/report/run_report.h"
#include "trainer/report/training_report.h"
#include "trainer/start/attempt_start.h"
#include "trainer/state/training_state.h"
#include "trainer/step/step_runner.h"
#include "trainer/telemetry/telemetry_writer.h"

namespace trainyard::trainer {

// The state from which the gang continues.
struct RestoredRun {
  StartedAttempt attempt;
  // The latest steps up to its state. Set only on a replacement of rank 0, whose predecessor may
  // have died before reporting them.
  std::vector<ReportedStep> unreported;
};

// Recovery within one generation. Not thread-safe. All constructor arguments must outlive it.
class Recovery {
 public:
  struct Parts {
    const RunConfig& config;
    const Mesh& mesh;
    Healing& healing;
    LoadTarget target;  // Must have an optimizer.
    Rendezvous& rendezvous;
    torch::Device device;
    TelemetryWriter& telemetry;
    RunReport& report;
  };

  // Collective: all ranks construct it at the same time, after their groups. Throws
  // TrainerError(kPeerLost).
  explicit Recovery(const Parts& parts);

  // Restores the latest state in the gang's memory on every rank. nullopt: no rank has a state,
  // because none has trained yet. Throws TrainerError(kPeerLost) and turns healing off if the state
  // of some rank is lost.
  std::optional<RestoredRun> Restore();

  // True if a periodic save before `state` was lost with a rank. Equal on every rank.
  bool HasMissedSave(const TrainingState& state) const;

  // Takes the generation's first snapshot, of the ranks' current state. If some node has too little
  // memory, turns snapshots off and reports that to the user.
  void Begin(const TrainingState& state, const AttemptStart& start);

  // Call before and after the launch of a step, and before work that changes the state.
  void BeforeLaunch(int64_t step);
  void AfterLaunch(int64_t step);
  void BlockChanges();
  // Confirms a finished, finite step that led to `state`. Reports the first one after a loss.
  // samples: see ReportedStep.
  void Confirm(const TrainingState& state, const StepResult& result, std::string samples);
  // See StepRequest.
  double TakeCost();
  // Values for a `metrics` record: the interval between snapshots and their cost. Empty if healing
  // is off.
  MetricValues SnapshotValues() const;

  // Throws TrainerError(kPeerLost) once the gang reconnects.
  void Check() const { interruption_.Check(); }
  // See Interruption::CheckAfterWait.
  void CheckAfterWait() const { interruption_.CheckAfterWait(); }
  // Call when the gang has lost a rank.
  void Abort();

 private:
  bool is_on() const { return !parts_.healing.is_refused(); }
  nlohmann::json ToJson(const TrainingState& state) const;
  std::string MemoryShortage() const;
  bool IsTrueOnAnyRank(bool what) const;
  void ReportHealingOff(int64_t step, const std::string& why);
  void ReportHealed(int64_t step);

  const Parts parts_;
  Interruption& interruption_;
  const std::unique_ptr<Communicator> ranks_;
  std::unique_ptr<SnapshotKeeper> keeper_;
  AttemptStart start_;
  std::deque<ReportedStep> newest_steps_;
  double step_seconds_ = 0;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_LOOP_RECOVERY_H_
