#include "controller/rpc/exec_table.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/contract/limits.h"

namespace trainyard::controller {

absl::Status ExecTable::Admit(Timestamp now) {
  const std::lock_guard lock(mutex_);
  if (rate_.Take(now)) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "more than ", kPerMinute,
      " exec sessions per minute were opened; wait a second, or run several commands in one "
      "session"));
}

absl::Status ExecTable::Add(const std::string& id, const std::string& node_id,
                            std::shared_ptr<ExecRelay> relay) {
  const std::lock_guard lock(mutex_);
  if (sessions_.size() >= kMost) {
    return absl::ResourceExhaustedError(
        absl::StrCat(kMost, " exec sessions are open, which is the maximum; end one of them"));
  }
  const auto of_node = std::ranges::count_if(
      sessions_, [&](const auto& session) { return session.second.node_id == node_id; });
  if (of_node >= kMaxExecSessionsOfNode) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the node of this rank has ", kMaxExecSessionsOfNode,
                     " open exec sessions, which is the maximum; end one of them"));
  }
  sessions_[id] = {node_id, std::move(relay)};
  return absl::OkStatus();
}

std::shared_ptr<ExecRelay> ExecTable::Claim(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? nullptr : std::move(found->second.relay);
}

void ExecTable::Remove(const std::string& id) {
  const std::lock_guard lock(mutex_);
  sessions_.erase(id);
}

}  // namespace trainyard::controller
