// Each rank of an attempt is started only once, even if its worker has lost data.
#include <string>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

class NoRankStartedTwiceChecker : public Checker {
 public:
  const char* Name() const override { return "no rank started twice"; }

  std::string Check(const Step& step) override {
    if (step.world.started_twice().empty()) return "";
    const auto& [node_id, attempt, rank] = step.world.started_twice().front();
    return absl::StrCat("rank ", rank, " of job ", attempt.job_id, " attempt ", attempt.number,
                        " was started again on ", node_id);
  }
};

}  // namespace

std::unique_ptr<Checker> NoRankStartedTwice() {
  return std::make_unique<NoRankStartedTwiceChecker>();
}

}  // namespace trainyard::simulation
