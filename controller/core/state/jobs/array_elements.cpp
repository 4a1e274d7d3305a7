#include "controller/core/state/jobs/array_elements.h"

#include "absl/strings/numbers.h"
#include "proto/jobspec/matrix/matrix.h"
#include "proto/support/job_state.h"

namespace trainyard::controller {

void IndexElement(const v1::Job& job, ClusterState& state) {
  if (job.array_id() == 0) return;
  if (!HasEnded(job.state())) {
    state.live_elements[job.array_id()].insert(job.id());
    return;
  }
  const auto found = state.live_elements.find(job.array_id());
  if (found == state.live_elements.end()) return;
  found->second.erase(job.id());
  if (found->second.empty()) state.live_elements.erase(found);
}

const std::set<int64_t>& LiveElements(const ClusterState& state, int64_t array_id) {
  static const std::set<int64_t> kNone;
  const auto found = state.live_elements.find(array_id);
  return found == state.live_elements.end() ? kNone : found->second;
}

bool IsWholeCreated(const v1::Job& array) {
  return array.array().created() >= array.array().elements();
}

const v1::Job* ArrayOfName(const ClusterState& state, const std::string& name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos) return nullptr;
  int64_t index = 0;
  const JobEntry* entry = NewestOfName(state, name.substr(0, dot));
  if (entry == nullptr || !absl::SimpleAtoi(name.substr(dot + 1), &index)) return nullptr;
  const v1::Job& job = entry->job;
  const bool has_element =
      IsArray(job.spec()) && !HasEnded(job.state()) && index >= 0 && index < job.array().elements();
  return has_element ? &job : nullptr;
}

}  // namespace trainyard::controller
