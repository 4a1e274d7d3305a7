#include "trainer/parallel/rank_groups.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace trainyard::trainer {
namespace {

using Ranks = std::vector<int64_t>;

class Connector {
 public:
  Connector(const Mesh& mesh, int64_t rank, const ConnectGroupFunction& connect)
      : mesh_(mesh), rank_(rank), connect_(connect) {}

  std::unique_ptr<Communicator> Group(const std::string& axis, Ranks ranks,
                                      bool has_transfers = false, int64_t copied_bytes = 0) const {
    std::string name = axis + std::to_string(ranks.front());
    return connect_({.name = std::move(name),
                     .ranks = std::move(ranks),
                     .my_rank = rank_,
                     .has_transfers = has_transfers,
                     .copied_bytes = copied_bytes});
  }

  std::unique_ptr<Communicator> Along(const std::string& axis, const std::vector<Axis>& axes,
                                      bool has_transfers = false) const {
    return Group(axis, mesh_.RanksAlong(rank_, axes), has_transfers);
  }

  // The name includes the direction, because there may be a link in each direction between two
  // stages.
  std::unique_ptr<Communicator> Link(const std::string& kind, int64_t from, int64_t to) const {
    std::string name = kind + std::to_string(from) + "to" + std::to_string(to);
    std::unique_ptr<Communicator> link =
        connect_({.name = std::move(name),
                  .ranks = {std::min(from, to), std::max(from, to)},
                  .my_rank = rank_,
                  .has_transfers = true});
    link->Open();
    return link;
  }

 private:
  const Mesh& mesh_;
  const int64_t rank_;
  const ConnectGroupFunction& connect_;
};

// Connects a stage to its neighbors. Stages with an even index connect first to the next stage,
// the others first to the previous stage, so that both ends of a link connect at the same time.
StageLinks ConnectLinks(const Connector& connector, const Ranks& stages, int64_t stage,
                        bool is_ring) {
  StageLinks links;
  const auto count = static_cast<int64_t>(stages.size());
  if (count == 1) return links;
  const int64_t here = stages[stage];
  const int64_t before = stages[(stage + count - 1) % count], after = stages[(stage + 1) % count];
  const bool has_before = stage > 0 || is_ring, has_after = stage + 1 < count || is_ring;
  for (const bool looks_after : {stage % 2 == 0, stage % 2 != 0}) {
    if (looks_after && has_after) {
      links.activations_to = connector.Link("act", here, after);
      links.gradients_from = connector.Link("grad", after, here);
    } else if (!looks_after && has_before) {
      links.activations_from = connector.Link("act", before, here);
      links.gradients_to = connector.Link("grad", here, before);
    }
  }
  return links;
}

// Returns all groups, including groups of one rank and null links.
std::vector<std::pair<Communicator*, StepPart>> AllGroups(const RankGroups& groups) {
  const StageLinks& links = groups.links;
  return {{groups.world.get(), StepPart::kWorldWait},
          {groups.tensor.get(), StepPart::kTensorWait},
          {groups.context.get(), StepPart::kContextWait},
          {groups.shard.get(), StepPart::kDataWait},
          {groups.replica.get(), StepPart::kDataWait},
          {groups.expert.get(), StepPart::kExpertWait},
          {groups.expert_shard.get(), StepPart::kDataWait},
          {groups.expert_replica.get(), StepPart::kDataWait},
          {groups.tied_embedding.get(), StepPart::kDataWait},
          {links.activations_from.get(), StepPart::kPipelineWait},
          {links.activations_to.get(), StepPart::kPipelineWait},
          {links.gradients_from.get(), StepPart::kPipelineWait},
          {links.gradients_to.get(), StepPart::kPipelineWait}};
}

// The two groups of a grid. The ranks of `shard` are neighbors in `alike`.
struct Grid {
  Ranks shard;
  Ranks replica;

  bool operator==(const Grid&) const = default;
};

// Divides `alike`, the ranks that have the same parameters as `rank`, into a grid.
Grid GridOf(const Ranks& alike, int64_t rank, const LayoutConfig& layout) {
  const auto count = static_cast<int64_t>(alike.size());
  const bool is_hybrid = layout.zero > 0 && layout.zero_size > 0;
  const int64_t size = is_hybrid ? std::gcd(layout.zero_size, count) : count;
  const int64_t place = std::find(alike.begin(), alike.end(), rank) - alike.begin();
  const auto first = alike.begin() + place / size * size;
  Grid grid{Ranks(first, first + size), {}};
  for (int64_t i = place % size; i < count; i += size) grid.replica.push_back(alike[i]);
  return grid;
}

void ConnectData(const Connector& connector, const Mesh& mesh, int64_t rank,
                 const LayoutConfig& layout, bool has_experts, RankGroups& groups) {
  const Grid grid = GridOf(mesh.RanksAlong(rank, {Axis::kContext, Axis::kData}), rank, layout);
  groups.shard = connector.Group("shard", grid.shard);
  groups.replica = connector.Group("replica", grid.replica);
  if (!has_experts) return;
  groups.expert = connector.Group("expert", mesh.RanksSharingExperts(rank), /*has_transfers=*/true);
  const Grid of_experts = GridOf(mesh.RanksWithSameExperts(rank), rank, layout);
  if (of_experts == grid) return;
  groups.expert_shard = connector.Group("expert_shard", of_experts.shard);
  groups.expert_replica = connector.Group("expert_replica", of_experts.replica);
}

}  // namespace

Communicator& RankGroups::ShardOf(ParameterKind kind) const {
  return kind == ParameterKind::kExpert && expert_shard != nullptr ? *expert_shard : *shard;
}

Communicator& RankGroups::ReplicaOf(ParameterKind kind) const {
  return kind == ParameterKind::kExpert && expert_replica != nullptr ? *expert_replica : *replica;
}

void ForEachGroup(const RankGroups& groups, const std::function<void(Communicator&)>& each) {
  for (const auto& [group, _] : AllGroups(groups)) {
    if (group != nullptr && group->size() > 1) each(*group);
  }
}

void CountWaits(const RankGroups& groups, StepClock& clock) {
  for (const auto& [group, part] : AllGroups(groups)) {
    if (group != nullptr) group->CountWaits(clock, part);
  }
}

RankGroups ConnectRankGroups(const Mesh& mesh, int64_t rank, const LayoutConfig& layout,
                             const GroupedParts& parts, const ConnectGroupFunction& connect) {
  const Connector connector(mesh, rank, connect);
  RankGroups groups;
  const std::vector<Axis> all = {Axis::kTensor, Axis::kContext, Axis::kData, Axis::kPipeline};
  groups.world = connector.Along("world", all);
  if (parts.keeps_snapshots)
    groups.snapshots = connector.Along("snapshots", all, /*has_transfers=*/true);
  groups.tensor = connector.Group("tp", mesh.RanksAlong(rank, {Axis::kTensor}),
                                  /*has_transfers=*/false, parts.tensor_bytes);
  groups.context = connector.Group("cp", mesh.RanksAlong(rank, {Axis::kContext}),
                                   /*has_transfers=*/true, parts.context_bytes);
  ConnectData(connector, mesh, rank, layout, parts.has_experts, groups);

  const Ranks stages = mesh.RanksAlong(rank, {Axis::kPipeline});
  const int64_t stage = std::find(stages.begin(), stages.end(), rank) - stages.begin();
  const bool is_end = rank == stages.front() || rank == stages.back();
  const bool shares = parts.has_tied_embedding && is_end && stages.size() > 1;
  groups.tied_embedding =
      connector.Group("tied", shares ? Ranks{stages.front(), stages.back()} : Ranks{rank});
  ForEachGroup(groups, [](Communicator& group) { group.Open(); });
  groups.links = ConnectLinks(connector, stages, stage, /*is_ring=*/layout.vpp > 1);
  return groups;
}

}  // namespace trainyard::trainer
