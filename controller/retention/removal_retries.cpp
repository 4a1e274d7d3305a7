#include "controller/retention/removal_retries.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace trainyard::controller {
namespace {

constexpr std::size_t kMaxWarnings = 10;
constexpr int kWaitFactor = 3;

std::chrono::seconds WaitAfter(int tries) {
  std::chrono::seconds wait = kFirstRemovalWait;
  for (int i = 1; i < tries && wait < kMaxRemovalWait; ++i) wait *= kWaitFactor;
  return std::min(wait, kMaxRemovalWait);
}

}  // namespace

bool RemovalRetries::IsDue(const std::string& path, Time now) const {
  const auto found = failures_.find(path);
  if (found == failures_.end()) return true;
  return !found->second.is_abandoned() && now >= found->second.next_try;
}

std::string RemovalRetries::Failed(int64_t job_id, const std::string& path,
                                   const std::string& cause, Time now) {
  Failure& failure = failures_[path];
  failure.job_id = job_id;
  failure.cause = cause;
  ++failure.tries;
  if (failure.is_abandoned()) return Abandoned(path, failure);
  const std::chrono::seconds wait = WaitAfter(failure.tries);
  failure.next_try = now + wait;
  return absl::StrCat("cannot remove checkpoint ", path, " of deleted job ", job_id, ": ", cause,
                      "; this was try ", failure.tries, " of ", kMaxRemovalTries,
                      ", and the next one is in ", wait.count(), " s");
}

std::optional<RemovalRetries::Time> RemovalRetries::NextTry() const {
  std::optional<Time> next;
  for (const auto& [path, failure] : failures_) {
    if (failure.is_abandoned()) continue;
    next = next.has_value() ? std::min(*next, failure.next_try) : failure.next_try;
  }
  return next;
}

std::vector<std::string> RemovalRetries::Warnings() const {
  std::vector<std::string> warnings;
  std::size_t more = 0;
  for (const auto& [path, failure] : failures_) {
    if (!failure.is_abandoned()) continue;
    if (warnings.size() < kMaxWarnings) {
      warnings.push_back(Abandoned(path, failure));
    } else {
      ++more;
    }
  }
  if (more > 0) warnings.push_back(absl::StrCat(more, " more checkpoints could not be removed"));
  return warnings;
}

std::string RemovalRetries::Abandoned(const std::string& path, const Failure& failure) {
  return absl::StrCat(
      "checkpoint ", path, " of deleted job ", failure.job_id,
      " could not be removed: ", failure.cause, "; the controller stopped trying after ",
      failure.tries,
      " tries. Remove the checkpoint by hand, or fix the cause and restart the controller");
}

}  // namespace trainyard::controller
