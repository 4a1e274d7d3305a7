// The jobs of a queue never hold more slots than its limit, and those of a user never more than the
// limit of the queue for each user. The counts of held slots in the state equal those of the nodes.
#include "absl/strings/str_cat.h"
#include "controller/core/state/slots/queues.h"
#include "tests/simulation/checkers/checker.h"
#include "tests/simulation/checkers/held_slots.h"

namespace trainyard::simulation {
namespace {

class QuotasKeptChecker : public Checker {
 public:
  const char* Name() const override { return "quotas kept"; }

  std::string Check(const Step& step) override {
    if (step.first_new == step.log.size()) return "";
    for (const v1::DeviceKind kind : controller::kDeviceKinds) {
      const HeldSlots held = CountHeldSlots(step.state, kind);
      for (const auto& [key, slots] : held) {
        std::string wrong = CheckLimit(step.state, kind, key.first, key.second, slots);
        if (!wrong.empty()) return wrong;
      }
      for (const auto& [key, usage] : step.state.usages) {
        const auto found = held.find({key.queue, key.user});
        const int64_t slots = found == held.end() ? 0 : found->second;
        if (key.kind != kind || usage.held == slots) continue;
        return absl::StrCat("the state counts ", usage.held, " slots of ", key.queue, " ", key.user,
                            ", the nodes ", slots);
      }
    }
    return "";
  }

 private:
  static std::string CheckLimit(const controller::ClusterState& state, v1::DeviceKind kind,
                                const std::string& queue, const std::string& user, int64_t slots) {
    const v1::SlotQuota quota = controller::QuotaOf(controller::QueueNamed(state, queue), kind);
    const int limit = user.empty() ? quota.max_slots() : quota.max_slots_per_user();
    if (limit == 0 || slots <= limit) return "";
    return absl::StrCat(user.empty() ? "the queue " : user + " in the queue ", queue, " holds ",
                        slots, " slots, more than ", limit);
  }
};

}  // namespace

std::unique_ptr<Checker> QuotasKept() { return std::make_unique<QuotasKeptChecker>(); }

}  // namespace trainyard::simulation
