// A heal assigns each place to a different standby. The standby was placed with the attempt, and no
// earlier heal has used it. Generations are consecutive.
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

class SparesUsedOnceChecker : public Checker {
 public:
  const char* Name() const override { return "spares used once"; }

  std::string Check(const Step& step) override {
    for (std::size_t i = step.first_new; i < step.log.size(); ++i) {
      const v1::Event& event = step.log[i];
      if (event.has_job_placed()) Learn(event.job_placed());
      if (!event.has_attempt_healing()) continue;
      if (std::string wrong = CheckHeal(event.attempt_healing()); !wrong.empty()) return wrong;
    }
    return "";
  }

 private:
  struct Spares {
    std::set<int> standbys;
    int64_t generation = 1;
  };

  void Learn(const v1::JobPlaced& placed) {
    Spares& spares = spares_[{placed.job_id(), placed.attempt()}];
    for (const v1::RankPlacement& member : placed.ranks()) {
      if (member.standby()) spares.standbys.insert(member.rank());
    }
  }

  std::string CheckHeal(const v1::AttemptHealing& healing) {
    Spares& spares = spares_[{healing.job_id(), healing.attempt()}];
    if (healing.generation() != ++spares.generation) return "a generation was left out";
    if (healing.seats().empty()) return "a heal without seats";
    std::set<int> places;
    for (const v1::Seat& seat : healing.seats()) {
      if (!places.insert(seat.place()).second) return "a place was given twice";
      if (spares.standbys.erase(seat.member()) == 0) {
        return absl::StrCat("member ", seat.member(), " of job ", healing.job_id(),
                            " is no unused standby");
      }
    }
    return "";
  }

  std::map<AttemptKey, Spares> spares_;
};

}  // namespace

std::unique_ptr<Checker> SparesUsedOnce() { return std::make_unique<SparesUsedOnceChecker>(); }

}  // namespace trainyard::simulation
