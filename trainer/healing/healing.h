// Parts that a rank keeps while its gang connects anew: everything else is made again.
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

// One thread at a time.
class Healing {
 public:
  // env: with heal_path.
  explicit Healing(const RuntimeEnvironment& env);

  // Of the present generation.
  Interruption& interruption() { return watch_.interruption(); }
  SnapshotMemory& memory() { return memory_; }

  // From now on the loss of a peer ends this rank.
  void Refuse() { is_refused_ = true; }
  bool is_refused() const { return is_refused_; }

  // Notes the time of a loss, unless the one before is not healed yet.
  void NoteLoss();

  // A spare waits for its rank; nullopt: it is not needed any more, or gives_up().
  std::optional<RuntimeEnvironment> AwaitRank(const std::function<bool()>& gives_up);
  // A rank that has lost a peer waits for an order; nullopt: none came in time, or gives_up().
  std::optional<RuntimeEnvironment> AwaitOrder(const std::function<bool()>& gives_up);

  // This rank's place in the present generation.
  const RuntimeEnvironment& env() const { return env_; }
  // True for a process that took its place with this generation.
  bool IsReplacement() const;
  // True on one rank: the first one that has been there before the loss.
  bool IsFirstSurvivor() const;
  // With `next` completed first after a loss: "healed in 1.8 s: rank 3 is a new process, step 120
  // again", once.
  std::string TakeHealedText(int64_t next);

 private:
  using Clock = std::chrono::steady_clock;

  std::optional<RuntimeEnvironment> Follow(const std::optional<HealOrder>& order);

  RuntimeEnvironment env_;
  OrderWatch watch_;
  SnapshotMemory memory_;
  HealOrder order_;  // Of the present generation.
  bool is_refused_ = false;
  std::optional<Clock::time_point> lost_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_HEALING_HEALING_H_
