// The order of waiting jobs is a strict weak order, and it is the documented one: jobs for which
// slots are kept, tier, priority, queues within their nominal slots, usage per share of the queue,
// usage of the user, number. Elements of an array have its number. The order is computed here a
// second time.
#include <compare>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/core/schedule/queue_order.h"
#include "controller/core/state/slots/class_of_job.h"
#include "controller/core/state/slots/queues.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

// Usage is compared as a fraction, because the quotient of integers would be rounded.
struct Place {
  int64_t job_id = 0;
  int64_t number = 0;
  bool keeps_slots = false;
  int tier = 0;
  int priority = 0;
  bool borrows = false;
  int64_t usage_of_queue = 0;
  int shares = 1;
  int64_t usage_of_user = 0;
};

bool Precedes(const Place& a, const Place& b) {
  if (a.keeps_slots != b.keeps_slots) return a.keeps_slots;
  const auto by_number = std::tie(a.number, a.job_id) <=> std::tie(b.number, b.job_id);
  if (a.keeps_slots) return by_number < 0;
  if (a.tier != b.tier) return a.tier > b.tier;
  if (a.priority != b.priority) return a.priority > b.priority;
  if (a.borrows != b.borrows) return b.borrows;
  const auto of_a = static_cast<long double>(a.usage_of_queue) * b.shares;
  const auto of_b = static_cast<long double>(b.usage_of_queue) * a.shares;
  if (of_a != of_b) return of_a < of_b;
  if (a.usage_of_user != b.usage_of_user) return a.usage_of_user < b.usage_of_user;
  return by_number < 0;
}

class QueueIsInOrderChecker : public Checker {
 public:
  const char* Name() const override { return "queue is in order"; }

  std::string Check(const Step& step) override {
    if (step.first_new == step.log.size()) return "";
    std::vector<Place> places;
    const Timestamp now = step.controller_now;
    for (const int64_t id : JobsInOrder(step.state, v1::DEVICE_KIND_CPU, now)) {
      const v1::Job& job = step.state.jobs.at(id).job;
      if (CountBefore(step.state, job, now) != static_cast<int64_t>(places.size())) {
        return absl::StrCat("job ", id, " is number ", places.size() + 1, " in line, but ",
                            CountBefore(step.state, job, now), " jobs precede it");
      }
      places.push_back(PlaceOf(step.state, job, now));
    }
    // Every pair is compared, which also finds orders that are not transitive or not asymmetric.
    for (std::size_t i = 0; i < places.size(); ++i) {
      for (std::size_t j = i + 1; j < places.size(); ++j) {
        if (Precedes(places[i], places[j]) && !Precedes(places[j], places[i])) continue;
        return absl::StrCat("job ", places[i].job_id, " is placed before job ", places[j].job_id);
      }
    }
    return "";
  }

 private:
  static Place PlaceOf(const controller::ClusterState& state, const v1::Job& job, Timestamp now) {
    const std::string queue = controller::QueueOf(job);
    const v1::Queue settings = controller::QueueNamed(state, queue);
    const v1::DeviceKind kind = job.spec().resources().device();
    const int nominal = controller::QuotaOf(settings, kind).nominal();
    const auto usage = [&](const std::string& user) {
      const auto found = state.usages.find({kind, queue, user});
      return found == state.usages.end() ? 0 : UsageAt(found->second, now);
    };
    return {.job_id = job.id(),
            .number = job.array_id() != 0 ? job.array_id() : job.id(),
            .keeps_slots = state.reservations.contains(job.id()) || job.preempts(),
            .tier = settings.tier(),
            .priority = job.priority(),
            .borrows = nominal > 0 && HeldSlotsOf(state, {kind, queue, ""}) >= nominal,
            .usage_of_queue = usage(""),
            .shares = settings.shares() == 0 ? 1 : settings.shares(),
            .usage_of_user = usage(job.user())};
  }
};

}  // namespace

std::unique_ptr<Checker> QueueIsInOrder() { return std::make_unique<QueueIsInOrderChecker>(); }

}  // namespace trainyard::simulation
