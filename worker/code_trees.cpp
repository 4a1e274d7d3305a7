#include "worker/code_trees.h"

#include <utility>

#include "proto/support/status_macros.h"
#include "proto/support/status_text.h"
#include "spdlog/spdlog.h"
#include "worker/code_download.h"

namespace trainyard::worker {

std::string CodeTrees::DirectoryOf(const v1::JobSpec& spec) const {
  if (!spec.code().snapshot().empty()) return cache_.PathOf(spec.code().snapshot());
  return spec.code().in_place() ? spec.code().path() : "";
}

void CodeTrees::SetInUse(std::set<std::string> snapshots) {
  const std::lock_guard lock(mutex_);
  in_use_ = std::move(snapshots);
}

void CodeTrees::ShareAt(std::string address) {
  const std::lock_guard lock(mutex_);
  address_ = std::move(address);
}

absl::Status CodeTrees::Fetch(const std::string& snapshot) {
  CodeDownload::Node node{.id = node_};
  {
    const std::lock_guard lock(mutex_);
    node.address = address_;
  }
  CodeDownload download(*network_, packs_, snapshot, std::move(node));
  bool was_fetched = false;
  const absl::Status prepared = cache_
                                    .Prepare(snapshot,
                                             [&](const std::vector<std::string>& digests) {
                                               was_fetched = true;
                                               return download.Fetch(digests);
                                             })
                                    .status();
  if (prepared.ok() && was_fetched) {
    download.Complete();
    spdlog::info("fetched the code snapshot {} from {}", snapshot.substr(0, 12), download.source());
  }
  return prepared;
}

absl::Status CodeTrees::Prepare(const std::string& snapshot) {
  TRAINYARD_RETURN_IF_ERROR(Fetch(snapshot));
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

absl::StatusOr<std::string> CodeTrees::Pack(const std::string& snapshot,
                                            const std::vector<std::string>& digests) {
  if (const auto pack = packs_.Find(snapshot, digests)) return *pack;
  return cache_.Fetch(snapshot, digests);
}

}  // namespace trainyard::worker
