// Options, events and repetition of the steps of a save, on the writer's background thread.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_SAVE_STEPS_H_
#define TRAINYARD_TRAINER_CHECKPOINT_SAVE_STEPS_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "trainer/checkpoint/save_options.h"

namespace trainyard::trainer {

// One save in progress.
struct SaveJob {
  int64_t step = 0;
  SaveKind kind = SaveKind::kPeriodic;
  nlohmann::json trainer_state;
  std::string temporary;  // Directory in which the checkpoint is built.
  bool is_first = false;
  std::chrono::steady_clock::time_point start;
  double waited_seconds = 0;  // Waiting time of the caller before Save.
  double blocking_seconds = 0;
};

// Reports the progress of saves, and repeats or ends their steps. For the background thread, except
// End and Drop.
class SaveSteps {
 public:
  explicit SaveSteps(CheckpointWriterOptions options);
  SaveSteps(const SaveSteps&) = delete;
  SaveSteps& operator=(const SaveSteps&) = delete;

  const CheckpointWriterOptions& options() const { return options_; }

  // The trainer is ending: the save need not wait for ranks that have disconnected. Thread-safe.
  void End() { is_ending_ = true; }
  bool is_ending() const { return is_ending_; }
  // The gang continues without some rank. Thread-safe.
  void Drop() { is_dropped_ = true; }
  bool is_dropped() const { return is_dropped_; }
  // Throws TrainerError(kCannotWrite) after Drop.
  void CheckNotDropped() const;

  // Runs one step of a save. If a step of the final save cannot write, repeats it until it succeeds
  // or final_wait_seconds have passed: otherwise the work since the last checkpoint would be lost,
  // and the user may free disk space meanwhile. Each rank repeats its own steps, and the other
  // ranks wait for it.
  void Retry(const SaveJob& job, const std::function<void()>& step);

  void Reach(SavePhase phase) const;
  void Notify(const CheckpointEvent& event) const;
  // An event with the save's names and times. The caller sets `bytes` and `message`.
  CheckpointEvent EventOf(const SaveJob& job, CheckpointEvent::Kind kind) const;
  void ReportFailure(const SaveJob& job, const std::exception& why) const;
  // Once per save: the cause may differ between tries.
  void ReportBlocked(const SaveJob& job, const std::exception& why);

 private:
  const CheckpointWriterOptions options_;
  std::atomic<bool> is_ending_ = false;
  std::atomic<bool> is_dropped_ = false;
  int64_t blocked_step_ = -1;  // Step of the final save whose kBlocked was reported.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_SAVE_STEPS_H_
