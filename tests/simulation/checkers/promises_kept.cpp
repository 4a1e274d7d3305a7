// A job that was promised a time gets slots by then, unless a later change of the promise has a
// recorded cause. Recorded causes have happened.
#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "controller/core/event_log/event_node.h"
#include "controller/core/schedule/promise_history.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

// A promise may move by the tolerance without a record. Some seconds pass between an end and the
// next placement.
constexpr int64_t kLatenessMs = controller::kPromiseToleranceMs + 10'000;
constexpr int64_t kCommitMs = 2000;

class PromisesKeptChecker : public Checker {
 public:
  const char* Name() const override { return "promises are kept"; }

  std::string Check(const Step& step) override {
    std::string wrong;
    bool is_clock_set = false;
    for (std::size_t i = step.first_new; i < step.log.size(); ++i) {
      is_clock_set = is_clock_set || step.log[i].has_clock_set();
      if (step.log[i].has_job_placed() && !is_clock_set) wrong += LateStart(step.log[i]);
    }
    for (const auto& [job_id, history] : step.promises) {
      if (history.empty() || history.size() > controller::kPromiseChangesKept) {
        return absl::StrCat("job ", job_id, " has ", history.size(), " promises");
      }
      if (IsNew(job_id, history.back())) wrong += Unfounded(step, history.back());
    }
    before_ = step.promises;
    return wrong;
  }

 private:
  bool IsNew(int64_t job_id, const v1::PromiseChange& change) const {
    const auto before = before_.find(job_id);
    if (before == before_.end()) return false;
    return before->second.back().cause() != change.cause() ||
           before->second.back().promised_ms() != change.promised_ms();
  }

  // Returns a complaint if the job is placed later than first promised, without a recorded cause.
  std::string LateStart(const v1::Event& placed) const {
    const auto found = before_.find(placed.job_placed().job_id());
    if (found == before_.end()) return "";
    const int64_t first = found->second.front().promised_ms();
    if (first == 0 || placed.time_ms() <= first + kLatenessMs) return "";
    const bool has_cause = std::ranges::any_of(found->second, [&](const auto& change) {
      return change.cause() != v1::PROMISE_CAUSE_FIRST &&
             change.cause() != v1::PROMISE_CAUSE_ENDS_SOONER &&
             (change.promised_ms() == 0 || change.promised_ms() > first);
    });
    if (has_cause) return "";
    return absl::StrCat("job ", found->first, " starts ", placed.time_ms() - first,
                        " ms later than promised, without a cause");
  }

  // The events of a change are in the log before the change is known. A slow commit takes a while.
  static std::string Unfounded(const Step& step, const v1::PromiseChange& change) {
    const auto any_new = [&](const auto& matches) {
      for (auto event = step.log.rbegin(); event != step.log.rend(); ++event) {
        // Times before a change of the clock cannot be compared.
        if (event->has_clock_set()) return true;
        if (event->time_ms() < change.time_ms() - kCommitMs) return false;
        if (matches(*event)) return true;
      }
      return false;
    };
    const auto is_node = [](const v1::Event& e) { return !controller::ChangedNode(e).empty(); };
    if (change.cause() == v1::PROMISE_CAUSE_NODE && !any_new(is_node)) {
      return "a node is the cause of a promise, but no node has changed";
    }
    const auto is_extension = [](const v1::Event& e) { return e.has_job_extended(); };
    if (change.cause() == v1::PROMISE_CAUSE_LIMIT_EXTENDED && !any_new(is_extension)) {
      return "an extension is the cause of a promise, but no limit was extended";
    }
    return "";
  }

  controller::Promises before_;
};

}  // namespace

std::unique_ptr<Checker> PromisesKept() { return std::make_unique<PromisesKeptChecker>(); }

}  // namespace trainyard::simulation
