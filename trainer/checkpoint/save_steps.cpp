#include "trainer/checkpoint/save_steps.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "trainer/checkpoint/manifest.h"
#include "trainer/checkpoint/stored_evaluation.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

bool IsUnshared(const std::exception& error) {
  return dynamic_cast<const UnsharedDirectory*>(&error) != nullptr;
}

double SecondsSinceStart(const SaveJob& job) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - job.start).count();
}

}  // namespace

SaveSteps::SaveSteps(CheckpointWriterOptions options) : options_(std::move(options)) {}

void SaveSteps::CheckNotDropped() const {
  if (!is_dropped_) return;
  throw TrainerError(ExitCode::kCannotWrite,
                     "the checkpoint was dropped, because the gang lost a rank");
}

void SaveSteps::Retry(const SaveJob& job, const std::function<void()>& step) {
  std::chrono::milliseconds pause(100);
  for (;;) {
    try {
      return step();
    } catch (const TrainerError& error) {
      const bool again = error.code() == ExitCode::kCannotWrite && job.kind == SaveKind::kFinal &&
                         !is_dropped_ && SecondsSinceStart(job) < options_.final_wait_seconds;
      if (!again) throw;
      ReportBlocked(job, error);
    }
    std::this_thread::sleep_for(pause);
    pause = std::min<std::chrono::milliseconds>(pause * 2, std::chrono::seconds(5));
  }
}

void SaveSteps::Reach(SavePhase phase) const {
  if (options_.on_phase) options_.on_phase(phase);
}

void SaveSteps::Notify(const CheckpointEvent& event) const {
  if (options_.on_event) options_.on_event(event);
}

CheckpointEvent SaveSteps::EventOf(const SaveJob& job, CheckpointEvent::Kind kind) const {
  CheckpointEvent event;
  event.kind = kind;
  event.step = job.step;
  event.attempt = options_.writer.attempt.number;
  event.path = options_.directory + "/" + StepDirectoryName(job.step);
  event.loss = EvaluationIn(job.trainer_state).LossOn(options_.retention.best_set);
  event.blocking_seconds = job.blocking_seconds;
  event.total_seconds = job.waited_seconds + SecondsSinceStart(job);
  return event;
}

void SaveSteps::ReportFailure(const SaveJob& job, const std::exception& why) const {
  CheckpointEvent event = EventOf(job, CheckpointEvent::Kind::kFailed);
  event.message = why.what();
  event.is_unshared = IsUnshared(why);
  Notify(event);
}

void SaveSteps::ReportBlocked(const SaveJob& job, const std::exception& why) {
  if (std::exchange(blocked_step_, job.step) == job.step) return;
  CheckpointEvent event = EventOf(job, CheckpointEvent::Kind::kBlocked);
  event.message = why.what();
  event.is_unshared = IsUnshared(why);
  Notify(event);
}

}  // namespace trainyard::trainer
