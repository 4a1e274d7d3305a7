#include "worker/code_trees.h"

#include <utility>

#include "proto/support/status_text.h"
#include "spdlog/spdlog.h"

namespace trainyard::worker {

std::string CodeTrees::DirectoryOf(const v1::JobSpec& spec) const {
  if (!spec.code().snapshot().empty()) return cache_.PathOf(spec.code().snapshot());
  return spec.code().in_place() ? spec.code().path() : "";
}

void CodeTrees::SetInUse(std::set<std::string> snapshots) {
  const std::lock_guard lock(mutex_);
  in_use_ = std::move(snapshots);
}

absl::Status CodeTrees::Prepare(const std::string& snapshot) {
  const absl::Status prepared = cache_.Prepare(snapshot, fetch_).status();
  if (!prepared.ok()) return prepared;
  std::set<std::string> in_use;
  {
    const std::lock_guard lock(mutex_);
    in_use = in_use_;
  }
  in_use.insert(snapshot);
  // Trees that are too many do not keep a rank from starting.
  const absl::Status trimmed = cache_.Trim(in_use);
  if (!trimmed.ok()) spdlog::warn("cannot remove unused code: {}", Text(trimmed));
  return absl::OkStatus();
}

}  // namespace trainyard::worker
