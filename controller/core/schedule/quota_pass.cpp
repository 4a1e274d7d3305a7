#include "controller/core/schedule/quota_pass.h"

#include <algorithm>
#include <iterator>

#include "controller/core/state/slots/queues.h"

namespace trainyard::controller {
namespace {

// Returns true if jobs of the class count towards the limit of this queue or user.
bool CountsTowards(const JobClass& job_class, const UsageKey& key) {
  return job_class.kind == key.kind && job_class.queue == key.queue &&
         (key.user.empty() || job_class.user == key.user);
}

// Returns the slots that a recovering job keeps; 0 for other jobs.
int64_t HeldByClass(const ClusterState& state, const JobClass& job_class) {
  const auto found = state.reservations.find(job_class.only_job);
  if (found == state.reservations.end()) return 0;
  int64_t slots = 0;
  for (const auto& [id, of_node] : found->second.slots) slots += std::ssize(of_node);
  return slots;
}

// Returns the slots that a recovering job lacks and claims (MissingSlots); 0 for other jobs.
int64_t OwnClaimOf(const ClusterState& state, const JobClass& job_class) {
  if (!state.reservations.contains(job_class.only_job)) return 0;
  const int64_t least = int64_t{job_class.nodes} * job_class.slots_per_node;
  return std::max<int64_t>(0, least - HeldByClass(state, job_class));
}

}  // namespace

QuotaPass::QuotaPass(const ClusterState& state) : state_(state), claimed_(MissingSlots(state)) {
  for (const auto& [name, queue] : state.queues) {
    for (const v1::DeviceKind kind : kDeviceKinds) {
      const v1::SlotQuota quota = QuotaOf(queue, kind);
      limits_[kind][name] = {quota.max_slots(), quota.max_slots_per_user()};
    }
  }
}

const QuotaPass::SlotLimits& QuotaPass::LimitsOf(const JobClass& job_class) const {
  static const SlotLimits kNone;
  const auto of_kind = limits_.find(job_class.kind);
  if (of_kind == limits_.end()) return kNone;
  const auto found = of_kind->second.find(job_class.queue);
  return found == of_kind->second.end() ? kNone : found->second;
}

template <typename Accepts>
bool QuotaPass::Check(const JobClass& job_class, const Accepts& accepts) const {
  const SlotLimits& limits = LimitsOf(job_class);
  const auto is_fine = [&](const UsageKey& key, int64_t limit) {
    return limit == 0 || accepts(key, limit);
  };
  if (limits.of_queue == 0 && limits.of_user == 0) return true;
  return is_fine({job_class.kind, job_class.queue, ""}, limits.of_queue) &&
         (job_class.user.empty() ||
          is_fine({job_class.kind, job_class.queue, job_class.user}, limits.of_user));
}

int64_t QuotaPass::Claimed(const UsageKey& key) const {
  const auto claimed = claimed_.find(key);
  return HeldSlotsOf(state_, key) + (claimed == claimed_.end() ? 0 : claimed->second);
}

bool QuotaPass::Fits(const JobClass& job_class, const UsageKey& key, int64_t limit) const {
  return Claimed(key) + FurtherSlotsOf(state_, job_class) <= limit;
}

std::optional<int64_t> QuotaPass::RestFor(const JobClass& job_class) const {
  std::optional<int64_t> rest;
  const int64_t own = OwnClaimOf(state_, job_class);
  Check(job_class, [&](const UsageKey& key, int64_t limit) {
    int64_t left = limit - Claimed(key);
    for (const JobClass& head : heads_) {
      if (!CountsTowards(head, key)) continue;
      left = std::max(std::min<int64_t>(left, 0), left - FurtherSlotsOf(state_, head));
    }
    const int64_t here = std::max<int64_t>(0, left + own);
    rest = std::min(here, rest.value_or(here));
    return true;
  });
  return rest;
}

bool QuotaPass::Allows(const JobClass& job_class) const {
  const bool recovers = FurtherSlotsOf(state_, job_class) == 0;
  return Check(job_class, [&](const UsageKey& key, int64_t limit) {
    return Fits(job_class, key, limit) && (recovers || !closed_.contains(key));
  });
}

bool QuotaPass::AllowsBeside(const JobClass& job_class, const std::vector<JobClass>& others) const {
  return Check(job_class, [&](const UsageKey& key, int64_t limit) {
    for (const JobClass& other : others) {
      if (CountsTowards(other, key)) limit -= FurtherSlotsOf(state_, other);
    }
    return Fits(job_class, key, limit);
  });
}

void QuotaPass::Take(const JobClass& job_class, int64_t slots) {
  const int64_t further = slots - HeldByClass(state_, job_class) - OwnClaimOf(state_, job_class);
  if (further <= 0) return;
  claimed_[{job_class.kind, job_class.queue, ""}] += further;
  if (job_class.user.empty()) return;
  claimed_[{job_class.kind, job_class.queue, job_class.user}] += further;
}

void QuotaPass::CloseFor(const JobClass& job_class) {
  std::set<UsageKey> closed;
  Check(job_class, [&](const UsageKey& key, int64_t limit) {
    if (!Fits(job_class, key, limit)) closed.insert(key);
    return true;
  });
  closed_.merge(closed);
}

bool QuotaPass::IsClosedFor(const JobClass& job_class) const {
  return !Allows(job_class) && Check(job_class, [&](const UsageKey& key, int64_t limit) {
    return Fits(job_class, key, limit);
  });
}

}  // namespace trainyard::controller
