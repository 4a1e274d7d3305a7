#include "controller/core/schedule/rendezvous_ports.h"

namespace trainyard::controller {

std::optional<int> RendezvousPorts::Find(const AttemptKey& attempt, int64_t generation,
                                         int just_used, const std::string& address) {
  constexpr int64_t kJobStride = 131, kAttemptStride = 17, kGenerationStride = 5;
  const int64_t count = options_.last_rendezvous_port - options_.first_rendezvous_port + 1;
  const int64_t start = options_.rendezvous_offset % count + attempt.job_id * kJobStride +
                        attempt.number * kAttemptStride + (generation - 1) * kGenerationStride;
  for (int64_t i = 0; i < count; ++i) {
    const int port = options_.first_rendezvous_port + static_cast<int>((start + i) % count);
    const bool was_just_used = just_used == port && count > 1;
    if (was_just_used || state_.rendezvous_in_use.contains({address, port})) continue;
    if (given_.insert({address, port}).second) return port;
  }
  return std::nullopt;
}

}  // namespace trainyard::controller
