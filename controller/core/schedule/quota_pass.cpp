#include "controller/core/schedule/quota_pass.h"

#include "controller/core/state/queues.h"

namespace trainyard::controller {
namespace {

// Returns true if jobs of the class count towards the limit of this queue or user.
bool CountsTowards(const JobClass& job_class, const UsageKey& key) {
  return job_class.kind == key.kind && job_class.queue == key.queue &&
         (key.user.empty() || job_class.user == key.user);
}

}  // namespace

QuotaPass::QuotaPass(const ClusterState& state) : state_(state), claimed_(MissingSlots(state)) {}

bool QuotaPass::Check(const JobClass& job_class, const Accepts& accepts) const {
  const v1::SlotQuota quota = QuotaOf(QueueNamed(state_, job_class.queue), job_class.kind);
  const auto is_fine = [&](const UsageKey& key, int64_t limit) {
    return limit == 0 || accepts(key, limit);
  };
  return is_fine({job_class.kind, job_class.queue, ""}, quota.max_slots()) &&
         (job_class.user.empty() ||
          is_fine({job_class.kind, job_class.queue, job_class.user}, quota.max_slots_per_user()));
}

bool QuotaPass::Fits(const JobClass& job_class, const UsageKey& key, int64_t limit) const {
  const auto claimed = claimed_.find(key);
  return HeldSlotsOf(state_, key) + (claimed == claimed_.end() ? 0 : claimed->second) +
             FurtherSlotsOf(state_, job_class) <=
         limit;
}

bool QuotaPass::Allows(const JobClass& job_class) const {
  const bool recovers = FurtherSlotsOf(state_, job_class) == 0;
  return Check(job_class, [&](const UsageKey& key, int64_t limit) {
    return Fits(job_class, key, limit) && (recovers || !closed_.contains(key));
  });
}

bool QuotaPass::AllowsBeside(const JobClass& job_class, const JobClass& other) const {
  const int64_t further = FurtherSlotsOf(state_, other);
  return Check(job_class, [&](const UsageKey& key, int64_t limit) {
    return Fits(job_class, key, CountsTowards(other, key) ? limit - further : limit);
  });
}

void QuotaPass::Take(const JobClass& job_class, int64_t slots) {
  if (FurtherSlotsOf(state_, job_class) == 0) return;
  claimed_[{job_class.kind, job_class.queue, ""}] += slots;
  if (job_class.user.empty()) return;
  claimed_[{job_class.kind, job_class.queue, job_class.user}] += slots;
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
