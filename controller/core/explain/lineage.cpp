#include "controller/core/explain/lineage.h"

#include <deque>
#include <set>
#include <utility>

namespace trainyard::controller {
namespace {

constexpr int kMostAncestors = 20;
constexpr int kMostDescendants = 100;
// Deleted children are not listed, but each deleted child costs a search.
constexpr int kMostSearched = 300;

int64_t ParentOf(const LineageNode& node) {
  const int64_t resumed = node.resumed_from.job_id();
  return resumed != 0 ? resumed : node.cloned_from;
}

v1::LineageJob JobBelow(int64_t parent, const LineageNode& node) {
  v1::LineageJob job;
  job.set_job_id(node.job_id);
  job.set_name(node.name);
  job.set_state(node.state);
  job.set_parent_id(parent);
  job.set_resumed(parent != 0 && node.resumed_from.job_id() == parent);
  if (job.resumed()) job.set_step(node.resumed_from.step());
  return job;
}

class Lineage {
 public:
  Lineage(const RelatedJobs& related, const FindArchivedNode& archived)
      : related_(related), archived_(archived) {}

  void AddAncestors(const LineageNode& job, v1::GetLineageResponse& response) const {
    int64_t below = job.job_id;
    for (int64_t id = ParentOf(job); id != 0;) {
      // A parent is always older than its children.
      if (id >= below) return;
      if (response.ancestors_size() == kMostAncestors) return response.set_more(true);
      LineageNode deleted;
      deleted.job_id = id;
      const LineageNode node = Find(id).value_or(deleted);
      *response.add_ancestors() = JobBelow(ParentOf(node), node);
      below = std::exchange(id, ParentOf(node));
    }
  }

  // Visits the descendants generation by generation.
  void AddDescendants(const LineageNode& job, v1::GetLineageResponse& response) const {
    std::set<int64_t> seen = {job.job_id};
    std::deque<LineageNode> open = {job};
    while (!open.empty()) {
      const LineageNode parent = std::move(open.front());
      open.pop_front();
      for (const int64_t id : ChildrenOf(parent)) {
        if (!seen.insert(id).second) continue;
        const bool is_full = response.descendants_size() == kMostDescendants ||
                             seen.size() > static_cast<std::size_t>(kMostSearched);
        if (is_full) return response.set_more(true);
        auto child = Find(id);
        if (!child.has_value()) continue;
        *response.add_descendants() = JobBelow(parent.job_id, *child);
        open.push_back(*std::move(child));
      }
    }
  }

 private:
  std::optional<LineageNode> Find(int64_t id) const {
    const auto found = related_.nodes.find(id);
    return found == related_.nodes.end() ? archived_(id) : found->second;
  }

  std::set<int64_t> ChildrenOf(const LineageNode& parent) const {
    std::set<int64_t> children(parent.children.begin(), parent.children.end());
    const auto later = related_.children_of_archived.find(parent.job_id);
    if (later != related_.children_of_archived.end()) {
      children.insert(later->second.begin(), later->second.end());
    }
    return children;
  }

  const RelatedJobs& related_;
  const FindArchivedNode& archived_;
};

}  // namespace

LineageNode NodeOf(const v1::Job& job) {
  return {.job_id = job.id(),
          .name = job.name(),
          .state = job.state(),
          .resumed_from = job.resumed_from(),
          .cloned_from = job.cloned_from(),
          .children = {job.children().begin(), job.children().end()}};
}

RelatedJobs RelatedJobsOf(const ClusterState& state) {
  RelatedJobs related;
  for (const auto& [id, entry] : state.jobs) {
    const v1::Job& job = entry.job;
    for (const int64_t parent : {job.resumed_from().job_id(), job.cloned_from()}) {
      if (parent != 0 && !state.jobs.contains(parent)) {
        related.children_of_archived[parent].push_back(id);
      }
    }
    const bool is_related =
        job.has_resumed_from() || job.cloned_from() != 0 || !job.children().empty();
    if (is_related) related.nodes[id] = NodeOf(job);
  }
  return related;
}

v1::GetLineageResponse LineageOf(const LineageNode& job, const RelatedJobs& related,
                                 const FindArchivedNode& archived) {
  v1::GetLineageResponse response;
  *response.mutable_job() = JobBelow(ParentOf(job), job);
  const Lineage lineage(related, archived);
  lineage.AddAncestors(job, response);
  lineage.AddDescendants(job, response);
  return response;
}

}  // namespace trainyard::controller
