#include "controller/planner/collective_seconds.h"

#include <algorithm>
#include <cmath>

namespace trainyard::planner {
namespace {

LinkLimit Lower(const LinkLimit& left, const LinkLimit& right) {
  return right.bandwidth < left.bandwidth ? right : left;
}

// Without a tree, all nodes communicate through the network cards only.
AxisRoute RouteOf(const GroupPlace& place, const Cluster& cluster) {
  const bool is_known = place.route.has_value() && place.route->crossed >= 0;
  if (is_known) return *place.route;
  return {.card_bandwidth = cluster.network.bandwidth, .latency = cluster.network.latency};
}

}  // namespace

GroupPlace PlaceOfGroup(int64_t size, int64_t stride, const Cluster& cluster) {
  const int64_t fit = cluster.per_node / stride;
  const bool is_even = fit >= 1 && cluster.per_node % stride == 0;
  int64_t in_node = is_even ? std::min(fit, size) : 1;
  while (size % in_node != 0) --in_node;
  GroupPlace place = {static_cast<double>(in_node), static_cast<double>(size / in_node)};
  if (cluster.tree != nullptr && size > 1) place.route = cluster.tree->RouteOf(size, stride);
  return place;
}

// A ring passes through each node once. In each node, the ring uses one network card per member of
// the group.
GroupLinks::GroupLinks(const GroupPlace& place, const Cluster& cluster,
                       const TrainerProfile& profile)
    : size_(place.size()), nodes_(place.nodes) {
  const Link& inside = cluster.device->node_link;
  const AxisRoute route = RouteOf(place, cluster);
  const double in_node = profile.node_link * inside.bandwidth;
  exchange_bandwidth_ =
      (profile.exchange_link > 0 ? profile.exchange_link : profile.node_link) * inside.bandwidth;
  exchange_latency_ = profile.exchange_latency;
  const double between = profile.network * route.card_bandwidth;
  const bool leaves_node = place.nodes > 1;
  const LinkLimit near = {in_node, LinkLimit::kInNode}, card = {between, route.card_level};
  const LinkLimit group = {profile.network * route.ring_bandwidth, route.ring_level};
  ring_ = !leaves_node ? near
          : place.in_node <= 1
              ? Lower(card, group)
              : Lower(Lower(near, {place.in_node * between, route.card_level}), group);
  send_ = leaves_node ? Lower(card, group) : near;
  SetExchange(leaves_node ? card : near, route, profile);
  hop_latency_ = leaves_node ? route.latency : inside.latency;
  // NCCL uses trees between nodes, so the number of hops grows with the logarithm of the number of
  // nodes.
  latency_ = (place.in_node - 1) * inside.latency +
             (leaves_node ? std::ceil(std::log2(place.nodes)) * route.latency : 0);
}

// The bandwidth of an exchange relates to the bytes for other nodes. Only a part of these bytes
// leaves a group of nodes.
void GroupLinks::SetExchange(const LinkLimit& near, const AxisRoute& route,
                             const TrainerProfile& profile) {
  exchange_ = near;
  if (nodes_ <= 1 || route.exchange_seconds <= 0) return;
  const double bandwidth = profile.network * (nodes_ - 1) / nodes_ / route.exchange_seconds;
  exchange_ = Lower(near, {bandwidth, route.exchange_level});
}

double GroupLinks::GatherSeconds(double bytes) const {
  if (size_ <= 1) return 0;
  return (size_ - 1) / size_ * bytes / ring_.bandwidth + latency_;
}

double GroupLinks::RingSeconds(double part_bytes) const {
  return (size_ - 1) * SendSeconds(part_bytes);
}

// Transfers to other nodes and transfers within the node run at the same time.
double GroupLinks::ExchangeSeconds(double bytes) const {
  if (size_ <= 1) return 0;
  const double others = nodes_ > 1 ? (nodes_ - 1) / nodes_ * bytes / exchange_.bandwidth : 0;
  const double own = (1 / nodes_ - 1 / size_) * bytes / exchange_bandwidth_;
  return std::max(others, own) + latency_ + exchange_latency_;
}

double GroupLinks::SendSeconds(double bytes) const {
  if (size_ <= 1) return 0;
  return bytes / send_.bandwidth + hop_latency_;
}

}  // namespace trainyard::planner
