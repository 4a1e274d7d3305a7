// No rank is placed on a cordoned or drained node.
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

class CordonKeepsRanksOffChecker : public Checker {
 public:
  const char* Name() const override { return "cordon keeps ranks off"; }

  std::string Check(const Step& step) override {
    for (std::size_t i = step.first_new; i < step.log.size(); ++i) {
      const v1::Event& event = step.log[i];
      if (event.has_node_cordoned()) cordoned_.insert(event.node_cordoned().node_id());
      if (event.has_node_draining()) cordoned_.insert(event.node_draining().node_id());
      if (event.has_node_uncordoned()) cordoned_.erase(event.node_uncordoned().node_id());
      for (const v1::RankPlacement& rank : event.job_placed().ranks()) {
        if (!cordoned_.contains(rank.node_id())) continue;
        return absl::StrCat("job ", event.job_placed().job_id(), " was placed on ", rank.node_id());
      }
    }
    return "";
  }

 private:
  std::set<std::string> cordoned_;
};

}  // namespace

std::unique_ptr<Checker> CordonKeepsRanksOff() {
  return std::make_unique<CordonKeepsRanksOffChecker>();
}

}  // namespace trainyard::simulation
