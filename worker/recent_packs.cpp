#include "worker/recent_packs.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/code/blob_pack.h"

namespace trainyard::worker {

void RecentPacks::Keep(const std::string& snapshot, std::string pack) {
  const absl::StatusOr<std::vector<code::PackEntry>> entries = code::ReadPackIndex(pack);
  if (!entries.ok() || pack.size() > kMaxBytes) return;
  const std::string& first = entries->front().digest;
  const std::lock_guard lock(mutex_);
  const bool is_kept = std::ranges::any_of(
      packs_, [&](const Kept& kept) { return kept.snapshot == snapshot && kept.first == first; });
  if (is_kept) return;
  bytes_ += pack.size();
  packs_.push_back({snapshot, first, std::make_shared<const std::string>(std::move(pack))});
  for (; bytes_ > kMaxBytes; packs_.pop_front()) bytes_ -= packs_.front().pack->size();
}

std::shared_ptr<const std::string> RecentPacks::Find(
    const std::string& snapshot, const std::vector<std::string>& digests) const {
  if (digests.empty()) return nullptr;
  std::shared_ptr<const std::string> pack;
  {
    const std::lock_guard lock(mutex_);
    const auto kept = std::ranges::find_if(packs_, [&](const Kept& one) {
      return one.snapshot == snapshot && one.first == digests.front();
    });
    if (kept == packs_.end()) return nullptr;
    pack = kept->pack;
  }
  const absl::StatusOr<std::vector<code::PackEntry>> entries = code::ReadPackIndex(*pack);
  const std::set<absl::string_view> requested(digests.begin(), digests.end());
  const bool is_requested =
      entries.ok() && std::ranges::all_of(*entries, [&](const code::PackEntry& entry) {
        return requested.contains(entry.digest);
      });
  return is_requested ? pack : nullptr;
}

}  // namespace trainyard::worker
