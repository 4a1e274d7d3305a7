// No job starts on a node that is reserved for others, neither in the time of the reservation nor
// before it if the job's time limit ends later. The controller deletes no reservation too early.
#include "absl/strings/str_cat.h"
#include "controller/core/apply/apply.h"
#include "tests/simulation/checkers/checker.h"
#include "tests/simulation/checkers/reservation_model.h"

namespace trainyard::simulation {
namespace {

class ReservationsKeptChecker : public Checker {
 public:
  const char* Name() const override { return "reservations are kept"; }

  std::string Check(const Step& step) override {
    std::string wrong;
    for (std::size_t i = step.first_new; i < step.log.size(); ++i) {
      const v1::Event& event = step.log[i];
      if (event.has_job_placed() && wrong.empty()) wrong = CheckPlaced(event);
      if (event.has_reservation_ended() && wrong.empty()) wrong = CheckEnd(event);
      Apply(event, before_);
    }
    return wrong;
  }

 private:
  std::string CheckPlaced(const v1::Event& event) const {
    const v1::JobPlaced& placed = event.job_placed();
    for (const v1::RankPlacement& rank : placed.ranks()) {
      const std::string reservation =
          ReservationAgainst(before_, before_.jobs.at(placed.job_id()),
                             before_.nodes.at(rank.node_id()).node.name(), event.time_ms());
      if (reservation.empty()) continue;
      return absl::StrCat("job ", placed.job_id(), " starts on ", rank.node_id(),
                          " against the reservation ", reservation);
    }
    return "";
  }

  std::string CheckEnd(const v1::Event& event) const {
    const std::string& name = event.reservation_ended().name();
    const auto found = before_.node_reservations.find(name);
    if (found == before_.node_reservations.end()) return absl::StrCat(name, " ends twice");
    if (event.actor() != "controller" || event.time_ms() >= found->second.end_ms()) return "";
    return absl::StrCat(name, " ends too early");
  }

  // The state before the next event of the log.
  controller::ClusterState before_;
};

}  // namespace

std::unique_ptr<Checker> ReservationsKept() { return std::make_unique<ReservationsKeptChecker>(); }

}  // namespace trainyard::simulation
