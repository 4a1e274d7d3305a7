#include "trainer/healing/healing.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {

Healing::Healing(const RuntimeEnvironment& env) : env_(env), watch_(env.heal_path) {}

void Healing::NoteLoss() { healing_ = true; }

std::optional<RuntimeEnvironment> Healing::AwaitRank(const std::function<bool()>& gives_up) {
  return Follow(watch_.Await(std::nullopt, gives_up));
}

std::optional<RuntimeEnvironment> Healing::AwaitOrder(const std::function<bool()>& gives_up) {
  return Follow(watch_.Await(std::chrono::seconds(env_.heal_wait_seconds), gives_up));
}

std::optional<RuntimeEnvironment> Healing::Follow(const std::optional<HealOrder>& order) {
  if (!order.has_value() || order->done) return std::nullopt;
  if (order->rank >= env_.world_size) {
    throw TrainerError(ExitCode::kBadConfig, "The heal order in " + env_.heal_path +
                                                 " names rank " + std::to_string(order->rank) +
                                                 ", but the gang has only " +
                                                 std::to_string(env_.world_size) + " ranks.");
  }
  order_ = *order;
  env_.rank = order_.rank;
  env_.master_addr = order_.master_addr;
  env_.master_port = order_.master_port;
  env_.generation = order_.generation;
  env_.is_standby = false;
  return env_;
}

bool Healing::IsReplacement() const {
  const std::vector<int64_t>& replaced = order_.replaced;
  return std::find(replaced.begin(), replaced.end(), env_.rank) != replaced.end();
}

bool Healing::IsFirstSurvivor() const {
  int64_t rank = 0;
  const std::vector<int64_t>& replaced = order_.replaced;
  while (std::find(replaced.begin(), replaced.end(), rank) != replaced.end()) ++rank;
  return rank == env_.rank;
}

std::string Healing::TakeHealedText(int64_t next) {
  if (!std::exchange(healing_, false)) return "";
  return "healed in place: " + ReplacedText(order_.replaced) + ", training continues at step " +
         std::to_string(next);
}

}  // namespace trainyard::trainer
