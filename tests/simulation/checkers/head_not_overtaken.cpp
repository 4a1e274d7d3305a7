// Jobs get their first slots in the order in which they came.
#include <set>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

class HeadNotOvertakenChecker : public Checker {
 public:
  const char* Name() const override { return "head not overtaken"; }

  std::string Check(const Step& step) override {
    for (std::size_t i = step.first_new; i < step.log.size(); ++i) {
      const v1::Event& event = step.log[i];
      if (event.has_job_submitted()) queued_.insert(event.job_submitted().job_id());
      if (event.has_job_ended()) queued_.erase(event.job_ended().job_id());
      if (!event.has_job_placed()) continue;
      const v1::JobPlaced& placed = event.job_placed();
      if (placed.attempt() == 1 && *queued_.begin() != placed.job_id()) {
        return absl::StrCat("job ", placed.job_id(), " overtook job ", *queued_.begin());
      }
      queued_.erase(placed.job_id());
    }
    return "";
  }

 private:
  std::set<int64_t> queued_;
};

}  // namespace

std::unique_ptr<Checker> HeadNotOvertaken() { return std::make_unique<HeadNotOvertakenChecker>(); }

}  // namespace trainyard::simulation
