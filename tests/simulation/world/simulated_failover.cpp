// A controller that no longer leads, beside the one that does.
#include <utility>
#include <variant>
#include <vector>

#include "tests/simulation/world/simulated_controller.h"

namespace trainyard::simulation {
namespace {

// One of this many new streams reaches the controller that no longer leads.
constexpr int64_t kStreamsPerDeposed = 3;

}  // namespace

void SimulatedController::Receive(Arrival arrival) {
  const bool is_known = process_->node_of_stream.contains(arrival.stream);
  const bool is_deposed =
      deposed_ != nullptr && (deposed_->node_of_stream.contains(arrival.stream) ||
                              (!is_known && arrival.stream % kStreamsPerDeposed == 0));
  (is_deposed ? deposed_inbox_ : inbox_).push_back(std::move(arrival));
}

void SimulatedController::FailOver(Timestamp notices, Timestamp now) {
  if (deposed_ != nullptr) EndDeposed(now);
  deposed_ = std::move(process_);
  deposed_inbox_ = std::exchange(inbox_, {});
  deposed_notices_ms_ = notices;
  StartProcess();
}

void SimulatedController::TickDeposed(Timestamp now) {
  if (now >= deposed_notices_ms_) return EndDeposed(now);
  acting_ = deposed_.get();
  controller::TickKernel& tick = deposed_->tick;
  const auto time = [&] { return tick.TimeAt(Clocks()); };
  for (Arrival& arrival : std::exchange(deposed_inbox_, {})) Handle(std::move(arrival), time());
  DeliverStoreResults();
  tick.ExcuseOwnStall(tick.BeginTick(Clocks()));
  CarryOut(deposed_->workers.BeforeTick(time()));
  // The store refuses the commit, because the term is not the present one.
  if (!tick.Decide(time()).empty()) return EndDeposed(now);
  tick.Committed(time());
  // The store refuses writes of telemetry and output. Reads succeed.
  for (Process::StoreItem& item : std::exchange(deposed_->store_queue, {})) {
    if (const auto* read = std::get_if<controller::ReadOffsets>(&item)) AnswerOffsets(*read);
  }
  acting_ = process_.get();
}

void SimulatedController::EndDeposed(Timestamp now) {
  acting_ = process_.get();
  for (const auto& [stream, node_id] : deposed_->node_of_stream) {
    network_.Close(stream, End::kController, now);
  }
  deposed_inbox_.clear();
  deposed_ = nullptr;
}

}  // namespace trainyard::simulation
