// State that a rank keeps while its gang reconnects. Everything else is rebuilt.
#ifndef TRAINYARD_TRAINER_HEALING_HEALING_H_
#define TRAINYARD_TRAINER_HEALING_HEALING_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "trainer/config/runtime_environment.h"
#include "trainer/healing/order_watch.h"
#include "trainer/healing/snapshot_memory.h"

namespace trainyard::trainer {

// Not thread-safe.
class Healing {
 public:
  // `env` must have heal_path.
  explicit Healing(const RuntimeEnvironment& env);

  // Interruption of the current generation.
  Interruption& interruption() { return watch_.interruption(); }
  SnapshotMemory& memory() { return memory_; }

  // From now on the loss of a peer ends this rank.
  void Refuse() { is_refused_ = true; }
  bool is_refused() const { return is_refused_; }

  // Records the time of a loss, unless an earlier loss has not healed yet.
  void NoteLoss();

  // Waits until this spare gets its rank. Returns nullopt if it is no longer needed or on
  // gives_up().
  std::optional<RuntimeEnvironment> AwaitRank(const std::function<bool()>& gives_up);
  // Waits for an order after the loss of a peer. Returns nullopt on timeout or gives_up().
  std::optional<RuntimeEnvironment> AwaitOrder(const std::function<bool()>& gives_up);

  // This rank's environment in the current generation.
  const RuntimeEnvironment& env() const { return env_; }
  // True for a process that joined with this generation.
  bool IsReplacement() const;
  // True on exactly one rank: the lowest one whose process survived the loss.
  bool IsFirstSurvivor() const;
  // Text for the first step completed after a loss, `next`, such as "healed in 1.8 s: rank 3 is a
  // new process, step 120 again". Returned once per loss, else "".
  std::string TakeHealedText(int64_t next);

 private:
  using Clock = std::chrono::steady_clock;

  std::optional<RuntimeEnvironment> Follow(const std::optional<HealOrder>& order);

  RuntimeEnvironment env_;
  OrderWatch watch_;
  SnapshotMemory memory_;
  HealOrder order_;  // Order of the current generation.
  bool is_refused_ = false;
  std::optional<Clock::time_point> lost_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_HEALING_HEALING_H_
