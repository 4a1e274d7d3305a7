#include "controller/planner/collective_seconds.h"

#include <algorithm>
#include <cmath>

namespace trainyard::planner {

GroupPlace PlaceOfGroup(int64_t size, int64_t stride, const Cluster& cluster) {
  const int64_t fit = cluster.per_node / stride;
  const bool is_even = fit >= 1 && cluster.per_node % stride == 0;
  int64_t in_node = is_even ? std::min(fit, size) : 1;
  while (size % in_node != 0) --in_node;
  return {static_cast<double>(in_node), static_cast<double>(size / in_node)};
}

// A ring passes through each node once. In each node, the ring uses one network card per member of
// the group.
GroupLinks::GroupLinks(const GroupPlace& place, const Cluster& cluster,
                       const TrainerProfile& profile)
    : size_(place.size()), nodes_(place.nodes) {
  const Link& inside = cluster.device->node_link;
  const double in_node = profile.node_link * inside.bandwidth;
  exchange_bandwidth_ =
      (profile.exchange_link > 0 ? profile.exchange_link : profile.node_link) * inside.bandwidth;
  exchange_latency_ = profile.exchange_latency;
  const double between = profile.network * cluster.network.bandwidth;
  const bool leaves_node = place.nodes > 1;
  bandwidth_ = !leaves_node         ? in_node
               : place.in_node <= 1 ? between
                                    : std::min(in_node, place.in_node * between);
  send_bandwidth_ = leaves_node ? between : in_node;
  hop_latency_ = leaves_node ? cluster.network.latency : inside.latency;
  // NCCL uses trees between nodes, so the number of hops grows with the logarithm of the number of
  // nodes.
  latency_ = (place.in_node - 1) * inside.latency +
             (leaves_node ? std::ceil(std::log2(place.nodes)) * cluster.network.latency : 0);
}

double GroupLinks::GatherSeconds(double bytes) const {
  if (size_ <= 1) return 0;
  return (size_ - 1) / size_ * bytes / bandwidth_ + latency_;
}

double GroupLinks::RingSeconds(double part_bytes) const {
  return (size_ - 1) * SendSeconds(part_bytes);
}

// Transfers to other nodes and transfers within the node run at the same time.
double GroupLinks::ExchangeSeconds(double bytes) const {
  if (size_ <= 1) return 0;
  const double others = nodes_ > 1 ? (nodes_ - 1) / nodes_ * bytes / send_bandwidth_ : 0;
  const double own = (1 / nodes_ - 1 / size_) * bytes / exchange_bandwidth_;
  return std::max(others, own) + latency_ + exchange_latency_;
}

double GroupLinks::SendSeconds(double bytes) const {
  if (size_ <= 1) return 0;
  return bytes / send_bandwidth_ + hop_latency_;
}

}  // namespace trainyard::planner
