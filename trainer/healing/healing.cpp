#include "trainer/healing/healing.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <utility>

#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

// Returns text such as "leave 0.21 s, connect 0.65 s".
std::string PartsText(const std::vector<std::pair<std::string, double>>& seconds) {
  std::string text;
  for (const auto& [part, duration] : seconds) {
    std::array<char, 32> number{};
    std::snprintf(number.data(), number.size(), " %.2f s", duration);
    text += (text.empty() ? "" : ", ") + part + number.data();
  }
  return text;
}

}  // namespace

Healing::Healing(const RuntimeEnvironment& env) : env_(env), watch_(env.heal_path) {}

void Healing::NoteLoss() {
  healing_ = true;
  part_start_ = Clock::now();
  part_seconds_.clear();
}

void Healing::NoteEnd(const std::string& part, Clock::time_point end) {
  if (!healing_) return;
  const double seconds = std::chrono::duration<double>(end - part_start_).count();
  part_seconds_.emplace_back(part, seconds);
  part_start_ = end;
}

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
  NoteEnd("step");
  if (!std::exchange(healing_, false)) return "";
  return "healed in place: " + ReplacedText(order_.replaced) + ", training continues at step " +
         std::to_string(next) + " (" + PartsText(part_seconds_) + ")";
}

}  // namespace trainyard::trainer
