#include "controller/core/schedule/elastic_gang.h"

#include <algorithm>
#include <utility>

#include "controller/core/schedule/layout_choice.h"
#include "controller/core/state/class_of_job.h"
#include "controller/core/state/gang.h"
#include "controller/core/state/queues.h"

namespace trainyard::controller {

std::optional<FoundGang> ElasticSearch::FindAgain(const JobEntry& entry, const GangRequest& request,
                                                  const LayoutOn& layout_on) {
  const int nodes = TrainingNodes(*NewestAttempt(entry));
  auto layout = layout_on(nodes);
  if (!layout.has_value() || layout->nodes() != nodes) return std::nullopt;
  auto gang = pass_.PlaceAgain(entry, request.ShapeOn(nodes));
  if (!gang.has_value()) return std::nullopt;
  return FoundGang{*std::move(gang), std::move(layout)};
}

std::optional<FoundGang> ElasticSearch::Find(const JobEntry& entry, const GangRequest& request,
                                             ElasticNodes which, const LayoutOn& layout_on) {
  if (which == ElasticNodes::kAllOfNewest) return FindAgain(entry, request, layout_on);
  const bool with_free = which == ElasticNodes::kKeptAndFree;
  const int most = MostNodes(entry);
  int nodes = std::min(most, pass_.CountUsable(entry, request.ShapeOn(most), with_free));
  while (nodes >= request.min_nodes) {
    auto layout = layout_on(nodes);
    if (!layout.has_value()) return std::nullopt;
    const GangShape shape = request.ShapeOn(layout->nodes());
    auto gang = with_free ? pass_.Place(entry, shape) : pass_.PlaceAgain(entry, shape);
    if (gang.has_value()) return FoundGang{*std::move(gang), std::move(layout)};
    // A smaller gang may leave the head its slots.
    nodes = shape.nodes - 1;
  }
  if (!with_free || !state_.reservations.contains(entry.job.id())) return std::nullopt;
  auto layout = layout_on(LeastShape(entry).nodes);
  if (!layout.has_value()) return std::nullopt;
  auto gang = pass_.PlaceOverReservations(entry, request.ShapeOn(layout->nodes()));
  if (!gang.has_value()) return std::nullopt;
  return FoundGang{*std::move(gang), std::move(layout)};
}

int ElasticSearch::MostNodes(const JobEntry& entry) const {
  const GangRequest request = GangRequestOf(entry.job.spec());
  const JobClass job_class = ClassOf(entry.job);
  const auto kept = state_.reservations.find(entry.job.id());
  const bool recovers = kept != state_.reservations.end();
  int most = request.nodes;
  if (recovers && AnyOtherWaits(entry, request.kind)) most = TrainingNodes(*NewestAttempt(entry));
  const v1::SlotQuota quota = QuotaOf(QueueNamed(state_, job_class.queue), request.kind);
  const int own = recovers ? static_cast<int>(kept->second.slots.size()) : 0;
  const auto limit = [&](const UsageKey& key, int max_slots) {
    if (max_slots == 0) return;
    const auto placed = placed_slots_.find(key);
    const int64_t rest =
        max_slots - HeldSlotsOf(state_, key) - (placed == placed_slots_.end() ? 0 : placed->second);
    const int64_t more = std::max<int64_t>(0, rest) / request.slots_per_node;
    most = static_cast<int>(std::min<int64_t>(most, own + more));
  };
  limit({request.kind, job_class.queue, ""}, quota.max_slots());
  if (!job_class.user.empty()) {
    limit({request.kind, job_class.queue, job_class.user}, quota.max_slots_per_user());
  }
  return most;
}

bool ElasticSearch::AnyOtherWaits(const JobEntry& entry, v1::DeviceKind kind) const {
  auto next = state_.pending_classes.lower_bound({.kind = kind});
  for (; next != state_.pending_classes.end() && next->first.kind == kind; ++next) {
    if (next->first.only_job != entry.job.id()) return true;
  }
  return false;
}

}  // namespace trainyard::controller
