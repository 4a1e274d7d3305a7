#include "controller/core/schedule/refusals.h"

#include <algorithm>

namespace trainyard::controller {

std::optional<Refusal> Refusals::Find(const JobClass& job_class) const {
  const auto found =
      std::ranges::lower_bound(items_, job_class, {}, &std::pair<JobClass, Refusal>::first);
  if (found == items_.end() || found->first != job_class) return std::nullopt;
  return found->second;
}

}  // namespace trainyard::controller
