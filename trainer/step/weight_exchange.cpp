#include "trainer/step/weight_exchange.h"

#include <string>

namespace trainyard::trainer {

WeightExchange::WeightExchange(const Decoder& model, ParameterStore& store, const RankGroups& ranks)
    : store_(store),
      ranks_(ranks),
      keeps_parts_(store.parts().zero >= 3),
      groups_(store.groups().size()) {
  for (int64_t chunk = 0; chunk < model.place().chunks; ++chunk) {
    LearnOrder(model.GroupsOf(chunk));
  }
  for (const ParameterGroup& group : store.groups()) {
    if (group.kind == ParameterKind::kExpert) ahead_ = 2;
  }
}

// The backward pass needs only the weights of blocks: it begins after the head, and the backward
// passes of the embedding and the positions use no weights.
void WeightExchange::LearnOrder(const std::vector<int64_t>& forward) {
  for (size_t i = 0; i + 1 < forward.size(); ++i) {
    groups_[forward[i]].next_forward = forward[i + 1];
    const std::string& name = store_.groups()[forward[i]].name;
    const bool is_block = name != Decoder::kEmbeddingGroup && name != Decoder::kPositionGroup;
    if (is_block) groups_[forward[i + 1]].next_backward = forward[i];
  }
}

void WeightExchange::Acquire(int64_t group, Pass pass) {
  State& state = groups_[group];
  if (!keeps_parts_) return Await(group);
  if (state.users++ > 0) return;
  if (!state.is_arriving) BeginGather(group);
  Await(group);
  BeginNext(group, pass);
}

void WeightExchange::BeginNext(int64_t group, Pass pass) {
  int64_t next = group;
  for (int64_t i = 0; i < ahead_; ++i) {
    next = pass == Pass::kForward ? groups_[next].next_forward : groups_[next].next_backward;
    if (next < 0) return;
    if (!groups_[next].is_arriving && groups_[next].users == 0) BeginGather(next);
  }
}

void WeightExchange::Release(int64_t group) {
  if (keeps_parts_ && --groups_[group].users == 0) store_.DropValues(group);
}

void WeightExchange::BeginGather(int64_t group) {
  if (keeps_parts_) store_.HoldValues(group);
  Communicator& shard = ranks_.ShardOf(store_.groups()[group].kind);
  groups_[group].arriving =
      shard.AllGather(store_.WholeValues(group), store_.Values(group, store_.OwnedOf(group)));
  groups_[group].is_arriving = true;
}

void WeightExchange::Await(int64_t group) {
  if (!groups_[group].is_arriving) return;
  groups_[group].arriving.Wait();
  groups_[group].is_arriving = false;
}

void WeightExchange::OnUpdated(int64_t group) {
  TORCH_CHECK(
      !groups_[group].is_arriving,
      "weights were updated while the weights of the previous step were still being gathered");
  if (store_.parts().zero > 0 && !keeps_parts_) BeginGather(group);
}

void WeightExchange::Join() {
  for (int64_t group = 0; group < static_cast<int64_t>(groups_.size()); ++group) Await(group);
}

}  // namespace trainyard::trainer
