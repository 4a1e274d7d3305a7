#include "controller/planner/axis_distance.h"

#include <algorithm>

#include "controller/planner/collective_seconds.h"
#include "controller/planner/trainer_profile.h"
#include "proto/layout/rank_order.h"

namespace trainyard::planner {
namespace {

enum class Transfer { kRing, kSend, kExchange };

LinkLimit LimitOf(Transfer transfer, const GroupLinks& links) {
  switch (transfer) {
    case Transfer::kRing:
      return links.ring();
    case Transfer::kSend:
      return links.send();
    case Transfer::kExchange:
      return links.exchange();
  }
  return links.ring();
}

AxisDistance DistanceOf(std::string_view axis, const GroupPlace& place, Transfer transfer,
                        const Cluster& cluster) {
  const TrainerProfile no_losses = {.node_link = 1, .network = 1};
  const LinkLimit limit = LimitOf(transfer, GroupLinks(place, cluster, no_losses));
  AxisDistance distance = {.axis = axis, .ranks = static_cast<int64_t>(place.size())};
  distance.bandwidth = limit.bandwidth;
  if (place.route.has_value() && place.route->crossed >= 0) {
    distance.crossed = cluster.tree->levels()[static_cast<size_t>(place.route->crossed)].name;
  }
  if (limit.level == LinkLimit::kInNode) {
    distance.limit = cluster.device->node_link.name;
    return distance;
  }
  const NetworkLevel& level = cluster.tree->levels()[static_cast<size_t>(limit.level)];
  distance.limit = level.name;
  distance.is_assumed = !level.is_specified;
  return distance;
}

}  // namespace

std::vector<AxisDistance> DistancesOf(const LayoutConfig& layout, const Cluster& cluster) {
  std::vector<AxisDistance> distances;
  const auto add = [&](std::string_view axis, int64_t size, int64_t stride, Transfer transfer) {
    if (size <= 1) return;
    distances.push_back(DistanceOf(axis, PlaceOfGroup(size, stride, cluster), transfer, cluster));
  };
  const int64_t data = std::max<int64_t>(layout.dp, 1), sample = layout.tp * layout.cp;
  add("tp", layout.tp, 1, Transfer::kRing);
  add("cp", layout.cp, layout.tp, Transfer::kSend);
  add("dp", data * layout.cp, layout.tp, Transfer::kRing);
  add("pp", layout.pp, sample * data, Transfer::kSend);
  if (layout.ep > 1) add("ep", ExpertSizesOf(layout).ranks(), 1, Transfer::kExchange);
  return distances;
}

}  // namespace trainyard::planner
