#include "tests/simulation/simulated_queues.h"

#include <iterator>

#include "absl/strings/str_cat.h"
#include "controller/core/state/slots/class_of_job.h"
#include "tests/simulation/simulation_options.h"

namespace trainyard::simulation {
namespace {

constexpr const char* kQueues[] = {controller::kDefaultQueue, "research", "batch"};
constexpr const char* kUsers[] = {"ada", "grace", "edsger"};

}  // namespace

std::string SimulatedQueues::AnyQueue() { return kQueues[random_.Between(0, 2)]; }

std::string SimulatedQueues::ChooseFor(v1::JobSpec& spec) {
  const std::string queue = AnyQueue();
  // The controller refuses a queue without settings, unless it is the default queue.
  if (controller_.state().queues.contains(queue)) spec.set_queue(queue);
  if (random_.Chance(0.5)) spec.set_priority(static_cast<int>(random_.Between(-1, 2)));
  return kUsers[random_.Between(0, std::ssize(kUsers) - 1)];
}

void SimulatedQueues::Act(int submitted) {
  const bool is_first = controller_.state().queues.empty();
  if (random_.EachSecond(is_first ? 1 : 0.05, kStepMs)) SetQueue();
  if (random_.EachSecond(0.01, kStepMs)) DeleteQueue();
  if (submitted > 0 && random_.EachSecond(0.1, kStepMs)) MoveJob(submitted);
}

void SimulatedQueues::ReserveNodes() {
  if (random_.EachSecond(0.05, kStepMs)) Reserve();
  if (random_.EachSecond(0.01, kStepMs)) DeleteReservation();
}

void SimulatedQueues::DeleteAllReservations() {
  for (const auto& [name, _] : controller_.state().node_reservations) {
    controller::DeleteReservation deletion;
    deletion.request.set_name(name);
    controller_.Submit(deletion);
  }
}

// Some requests name a node that has not joined, or overlap; the controller refuses them.
void SimulatedQueues::Reserve() {
  controller::CreateReservation creation;
  v1::NodeReservation& reservation = *creation.request.mutable_reservation();
  reservation.set_name(absl::StrCat("r", reservations_++));
  reservation.add_nodes(absl::StrCat("n", random_.Between(0, 3)));
  reservation.set_start_ms(controller_.Time() + random_.Between(0, 30'000));
  reservation.set_end_ms(reservation.start_ms() + random_.Between(5000, 30'000));
  reservation.set_drain(random_.Chance(0.5));
  if (random_.Chance(0.4)) {
    reservation.set_queue(AnyQueue());
  } else if (random_.Chance(0.5)) {
    reservation.set_user(kUsers[random_.Between(0, std::ssize(kUsers) - 1)]);
  }
  controller_.Submit(creation);
}

void SimulatedQueues::DeleteReservation() {
  controller::DeleteReservation deletion;
  deletion.request.set_name(absl::StrCat("r", random_.Between(0, reservations_)));
  controller_.Submit(deletion);
}

// The controller refuses limits below the slots that jobs hold, and the settings then stay.
void SimulatedQueues::SetQueue() {
  controller::SetQueue set;
  v1::Queue& queue = *set.request.mutable_queue();
  queue.set_name(AnyQueue());
  queue.set_shares(static_cast<int>(random_.Between(0, 4)));
  queue.set_tier(random_.Chance(0.3) ? static_cast<int>(random_.Between(-1, 1)) : 0);
  if (random_.Chance(0.7)) {
    v1::SlotQuota& quota = *queue.add_quotas();
    quota.set_device(v1::DEVICE_KIND_CPU);
    quota.set_nominal(static_cast<int>(random_.Between(0, 8)));
    // A queued job that is larger than a later limit would never start.
    if (random_.Chance(0.6)) {
      quota.set_max_slots(static_cast<int>(random_.Between(kLargestContestedJob, 14)));
    }
    if (random_.Chance(0.4)) quota.set_max_slots_per_user(kLargestContestedJob);
  }
  controller_.Submit(set);
}

void SimulatedQueues::DeleteQueue() {
  controller::DeleteQueue deletion;
  deletion.request.set_name(AnyQueue());
  controller_.Submit(deletion);
}

void SimulatedQueues::MoveJob(int submitted) {
  controller::MoveInQueue move;
  move.request.set_job(absl::StrCat(random_.Between(1, submitted)));
  if (random_.Chance(0.5)) move.request.set_queue(AnyQueue());
  if (random_.Chance(0.5)) move.request.set_priority(static_cast<int>(random_.Between(-1, 2)));
  controller_.Submit(move);
}

}  // namespace trainyard::simulation
