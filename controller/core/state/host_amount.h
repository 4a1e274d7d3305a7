// CPU cores and memory of a node.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_HOST_AMOUNT_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_HOST_AMOUNT_H_

#include <compare>
#include <cstdint>

namespace trainyard::controller {

// An amount of CPU cores and memory of a node. It belongs to the node, not to its GPUs.
struct HostAmount {
  int64_t cpus = 0;
  int64_t memory_bytes = 0;

  bool IsZero() const { return cpus == 0 && memory_bytes == 0; }
  // Returns true if this amount is enough for `needed`. A resource of which nothing is needed may
  // be exhausted.
  bool Covers(const HostAmount& needed) const {
    return (needed.cpus == 0 || needed.cpus <= cpus) &&
           (needed.memory_bytes == 0 || needed.memory_bytes <= memory_bytes);
  }
  HostAmount operator+(const HostAmount& other) const {
    return {cpus + other.cpus, memory_bytes + other.memory_bytes};
  }
  HostAmount operator-(const HostAmount& other) const {
    return {cpus - other.cpus, memory_bytes - other.memory_bytes};
  }
  HostAmount operator*(int64_t count) const { return {cpus * count, memory_bytes * count}; }
  friend auto operator<=>(const HostAmount&, const HostAmount&) = default;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_HOST_AMOUNT_H_
