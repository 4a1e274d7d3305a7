// The state that a rank keeps while its gang reconnects. All other state is rebuilt.
#ifndef TRAINYARD_TRAINER_HEALING_HEALING_H_
#define TRAINYARD_TRAINER_HEALING_HEALING_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "trainer/config/runtime_environment.h"
#include "trainer/healing/order_watch.h"
#include "trainer/healing/snapshot_memory.h"

namespace trainyard::trainer {

// Not thread-safe.
class Healing {
 public:
  using Clock = std::chrono::steady_clock;

  // `env` must contain heal_path.
  explicit Healing(const RuntimeEnvironment& env);

  // Returns the interruption of the current generation.
  Interruption& interruption() { return watch_.interruption(); }
  SnapshotMemory& memory() { return memory_; }

  // Turns healing off: from now on, the loss of a peer ends this rank.
  void Refuse() { is_refused_ = true; }
  bool is_refused() const { return is_refused_; }

  // Notes that a rank was lost. Parts of the recovery are timed from here on.
  void NoteLoss();
  // Notes that a part of the recovery has ended at `end`. Parts end one after another.
  void NoteEnd(const std::string& part, Clock::time_point end = Clock::now());

  // Waits until this spare is assigned a rank. Returns nullopt if the spare is no longer needed or
  // gives_up() returns true.
  std::optional<RuntimeEnvironment> AwaitRank(const std::function<bool()>& gives_up);
  // Waits, after the loss of a peer, for a heal order. Returns nullopt after heal_wait_seconds, if
  // the gang has ended, or if gives_up() returns true.
  std::optional<RuntimeEnvironment> AwaitOrder(const std::function<bool()>& gives_up);

  // Returns this rank's environment in the current generation.
  const RuntimeEnvironment& env() const { return env_; }
  // True if this process joined the gang with the current generation.
  bool IsReplacement() const;
  // True only on the lowest rank whose process survived the loss.
  bool IsFirstSurvivor() const;
  // For `next`, the first step completed after a loss, returns text such as "healed in place:
  // rank 3 is a new process, training continues at step 120 (leave 0.21 s, connect 0.65 s, step
  // 0.09 s)". Returns the text once per loss; otherwise returns "". The controller measures the
  // time of a heal.
  std::string TakeHealedText(int64_t next);

 private:
  std::optional<RuntimeEnvironment> Follow(const std::optional<HealOrder>& order);

  RuntimeEnvironment env_;
  OrderWatch watch_;
  SnapshotMemory memory_;
  HealOrder order_;  // Order that began the current generation.
  bool is_refused_ = false;
  bool healing_ = false;  // True from a loss until TakeHealedText.
  Clock::time_point part_start_;
  std::vector<std::pair<std::string, double>> part_seconds_;  // Ended parts of the recovery.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_HEALING_HEALING_H_
