// Each place of a live attempt has exactly one member. No two processes train at the same place in
// the same generation.
#include <map>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/core/state/attempts/gang.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

class OneMemberAPlaceChecker : public Checker {
 public:
  const char* Name() const override { return "one member a place"; }

  std::string Check(const Step& step) override {
    if (std::string wrong = CheckProcesses(step.world); !wrong.empty()) return wrong;
    return step.first_new < step.log.size() ? CheckState(step.state) : "";
  }

 private:
  static std::string CheckProcesses(const TrainingWorld& world) {
    std::map<std::tuple<AttemptKey, int64_t, int>, int> holders;
    for (const auto& [key, process] : world.processes()) {
      if (process.exited.has_value() || process.place < 0) continue;
      const auto [holder, is_free] = holders.emplace(
          std::make_tuple(process.attempt, process.generation, process.place), process.rank);
      if (is_free) continue;
      return absl::StrCat("members ", holder->second, " and ", process.rank, " of job ",
                          process.attempt.job_id, " both train at place ", process.place,
                          " of generation ", process.generation);
    }
    return "";
  }

  static std::string CheckState(const controller::ClusterState& state) {
    for (const auto& [id, entry] : state.jobs) {
      const v1::Attempt* live = LiveAttempt(entry);
      if (live == nullptr) continue;
      std::vector<int> holders(GangSize(*live), 0);
      for (const v1::RankPlacement& member : live->ranks()) {
        const int place = controller::PlaceOf(member);
        if (place != controller::kNoPlace) ++holders.at(place);
      }
      for (const int count : holders) {
        if (count != 1) return absl::StrCat("a place of job ", id, " has ", count, " members");
      }
    }
    return "";
  }
};

}  // namespace

std::unique_ptr<Checker> OneMemberAPlace() { return std::make_unique<OneMemberAPlaceChecker>(); }

}  // namespace trainyard::simulation
