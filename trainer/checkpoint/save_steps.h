// Keeps the options of saves, reports their events and repeats their steps, on the writer's
// background thread.
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

// Data of one save in progress.
struct SaveJob {
  int64_t step = 0;
  SaveKind kind = SaveKind::kPeriodic;
  nlohmann::json trainer_state;
  std::string temporary;  // Directory in which the checkpoint is built.
  bool is_first = false;
  std::chrono::steady_clock::time_point start;
  double waited_seconds = 0;  // Time for which the caller waited before it called Save.
  double blocking_seconds = 0;
};

// Reports the progress of saves, and repeats or ends their steps. Use it only from the background
// thread, except End and Drop.
class SaveSteps {
 public:
  explicit SaveSteps(CheckpointWriterOptions options);
  SaveSteps(const SaveSteps&) = delete;
  SaveSteps& operator=(const SaveSteps&) = delete;

  const CheckpointWriterOptions& options() const { return options_; }

  // Call when the trainer begins to exit: from then on, a save does not wait for disconnected
  // ranks. Thread-safe.
  void End() { is_ending_ = true; }
  bool is_ending() const { return is_ending_; }
  // Call when the gang continues without some rank: the save in flight is then dropped.
  // Thread-safe.
  void Drop() { is_dropped_ = true; }
  bool is_dropped() const { return is_dropped_; }
  // Throws TrainerError(kCannotWrite) if Drop was called.
  void CheckNotDropped() const;

  // Runs one step of a save. If a step of the final save cannot write, repeats the step until it
  // succeeds or final_wait_seconds have passed, because the user may free disk space in that time.
  // Without the retries, the work since the last checkpoint would be lost. Each rank repeats its
  // own steps, while the other ranks wait for it.
  void Retry(const SaveJob& job, const std::function<void()>& step);

  void Reach(SavePhase phase) const;
  void Notify(const CheckpointEvent& event) const;
  // Returns an event with the names and times of the save. The caller sets `bytes` and `message`.
  CheckpointEvent EventOf(const SaveJob& job, CheckpointEvent::Kind kind) const;
  void ReportFailure(const SaveJob& job, const std::exception& why) const;
  // Reports a blocked save, once per save. Later tries of that save are not reported, even if they
  // fail for another reason.
  void ReportBlocked(const SaveJob& job, const std::exception& why);

 private:
  const CheckpointWriterOptions options_;
  std::atomic<bool> is_ending_ = false;
  std::atomic<bool> is_dropped_ = false;
  int64_t blocked_step_ = -1;  // Step of the final save for which kBlocked was reported.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_SAVE_STEPS_H_
