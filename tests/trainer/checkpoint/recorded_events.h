// Records events of a checkpoint writer, and the codes of its errors.
#ifndef TRAINYARD_TESTS_TRAINER_CHECKPOINT_RECORDED_EVENTS_H_
#define TRAINYARD_TESTS_TRAINER_CHECKPOINT_RECORDED_EVENTS_H_

#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "trainer/checkpoint/checkpoint_writer.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {

// The events that a writer sent from its background thread.
class RecordedEvents {
 public:
  auto Recorder() {
    return [this](const CheckpointEvent& event) {
      const std::lock_guard<std::mutex> lock(mutex_);
      events_.push_back(event);
    };
  }
  CheckpointWriterOptions RecordedBy(CheckpointWriterOptions options) {
    options.on_event = Recorder();
    return options;
  }
  std::vector<CheckpointEvent> Taken() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(events_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<CheckpointEvent> events_;
};

inline ExitCode CodeOf(const std::function<void()>& call, std::string* message = nullptr) {
  try {
    call();
    return ExitCode::kOk;
  } catch (const TrainerError& error) {
    if (message != nullptr) *message = error.what();
    return error.code();
  }
}

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TESTS_TRAINER_CHECKPOINT_RECORDED_EVENTS_H_
