#include "controller/core/schedule/elastic_gang.h"

#include <algorithm>
#include <utility>

#include "controller/core/schedule/layout_choice.h"
#include "controller/core/state/attempts/elastic_yield.h"
#include "controller/core/state/attempts/gang.h"
#include "controller/core/state/slots/class_of_job.h"

namespace trainyard::controller {

std::optional<FoundGang> ElasticSearch::FindAgain(const JobEntry& entry, const GangRequest& request,
                                                  const LayoutOn& layout_on) {
  const v1::Attempt& newest = *NewestAttempt(entry);
  const int kept = newest.yield().kept_nodes_size();
  const bool shrinks = ShrinksForOther(entry);
  // A job that yielded for another reason needs free nodes.
  if (kept > 0 && !shrinks) return std::nullopt;
  const int nodes = shrinks ? kept : TrainingNodes(newest);
  auto layout = layout_on(nodes);
  if (!layout.has_value() || (layout->nodes() != nodes && !shrinks)) return std::nullopt;
  auto gang = pass_.PlaceAgain(entry, request.ShapeOn(layout->nodes()));
  if (!gang.has_value()) return std::nullopt;
  return FoundGang{*std::move(gang), std::move(layout)};
}

std::optional<FoundGang> ElasticSearch::Find(const JobEntry& entry, const GangRequest& request,
                                             ElasticNodes which, const LayoutOn& layout_on) {
  if (which == ElasticNodes::kAllOfNewest) return FindAgain(entry, request, layout_on);
  const int most = MostNodes(entry);
  const bool recovers = state_.reservations.contains(entry.job.id());
  const bool stays = recovers && ShrinksForOther(entry) &&
                     pass_.CountUsable(entry, request.ShapeOn(most), false) >= request.min_nodes;
  const bool with_free = which == ElasticNodes::kKeptAndFree && !stays;
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
  if (!with_free || !recovers) return std::nullopt;
  auto layout = layout_on(LeastShape(entry).nodes);
  if (!layout.has_value()) return std::nullopt;
  auto gang = pass_.PlaceOverReservations(entry, request.ShapeOn(layout->nodes()));
  if (!gang.has_value()) return std::nullopt;
  return FoundGang{*std::move(gang), std::move(layout)};
}

int ElasticSearch::MostNodes(const JobEntry& entry) const {
  const GangRequest request = GangRequestOf(entry.job.spec());
  const auto kept = state_.reservations.find(entry.job.id());
  const bool recovers = kept != state_.reservations.end();
  const int own = recovers ? static_cast<int>(kept->second.slots.size()) : 0;
  const int most = NodesInQuota(quotas_, entry, own);
  const bool may_grow = !recovers || !AnyOtherWaits(entry, request.kind);
  return may_grow ? most : std::min(most, TrainingNodes(*NewestAttempt(entry)));
}

int NodesInQuota(const QuotaPass& quotas, const JobEntry& entry, int own) {
  const GangRequest request = GangRequestOf(entry.job.spec());
  const std::optional<int64_t> rest = quotas.RestFor(ClassOf(entry.job));
  if (!rest.has_value()) return request.nodes;
  return static_cast<int>(std::min<int64_t>(request.nodes, own + *rest / request.slots_per_node));
}

bool ElasticSearch::AnyOtherWaits(const JobEntry& entry, v1::DeviceKind kind) const {
  auto next = state_.pending_classes.lower_bound({.kind = kind});
  for (; next != state_.pending_classes.end() && next->first.kind == kind; ++next) {
    if (next->first.only_job != entry.job.id()) return true;
  }
  return false;
}

}  // namespace trainyard::controller
