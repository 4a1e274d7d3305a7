#include "proto/layout/pipeline_place.h"

#include <algorithm>

#include "proto/model/model_size.h"

namespace trainyard {
namespace {

// Returns the layers of part `part`. The last of the `parts` parts has `last` layers; the other
// parts divide the remaining layers.
IndexRange LayersOfPart(int64_t num_layers, int64_t last, int64_t parts, int64_t part) {
  if (part == parts - 1) return {num_layers - last, last};
  return PartOf(num_layers - last, parts - 1, part);
}

// Returns the work of the most loaded stage, measured in layers, if the last part has `last`
// layers. Each other part has `small` layers; the first `larger` parts have one more (see PartOf).
// Therefore only the first and the last stage can have the most work.
double LargestStage(const PipelinePlace& place, int64_t num_layers, int64_t last) {
  const int64_t others = place.parts() - 1;
  const int64_t small = (num_layers - last) / others, larger = (num_layers - last) % others;
  const int64_t of_last = (place.chunks - 1) * small + larger / place.stages + last;
  const double last_work = static_cast<double>(of_last) + place.head_layers;
  if (place.stages == 1) return last_work;
  const int64_t of_first = place.chunks * small + (larger + place.stages - 1) / place.stages;
  return std::max(static_cast<double>(of_first), last_work);
}

// Returns the number of layers of the last part that minimizes LargestStage. In a tie, returns the
// number nearest to an even split.
int64_t LayersOfLastPart(const PipelinePlace& place, int64_t num_layers) {
  if (place.parts() == 1) return num_layers;
  int64_t best = PartOf(num_layers, place.parts(), place.parts() - 1).length;
  double least = LargestStage(place, num_layers, best);
  for (int64_t last = best - 1; last >= 1; --last) {
    const double work = LargestStage(place, num_layers, last);
    if (work >= least) continue;
    least = work;
    best = last;
  }
  return best;
}

}  // namespace

IndexRange PipelinePlace::Layers(int64_t num_layers, int64_t chunk) const {
  return LayersOfPart(num_layers, LayersOfLastPart(*this, num_layers), parts(), PartOfChunk(chunk));
}

PipelinePlace PlaceOfStage(const RunConfig& config, int64_t stage) {
  return {.stage = stage,
          .stages = config.layout.pp,
          .chunks = config.layout.vpp,
          .head_layers = HeadInLayers(config.model, config.train.seq_length)};
}

// Compare with the last layer, because the first layers of a mixture of experts may be dense.
double HeadInLayers(const ModelConfig& model, int64_t seq_length) {
  const bool has_experts = HasExpertsIn(model.num_layers - 1, model);
  const BlockMatrices block =
      BlockMatricesOf(model, has_experts ? BlockKind::kExpert : BlockKind::kDense);
  const int64_t routed = has_experts ? model.moe_router_topk * ExpertParameterCount(model) : 0;
  const auto weights =
      static_cast<double>(block.cut + model.num_query_groups * block.keys + block.whole + routed);
  const double attention =
      static_cast<double>(model.num_attention_heads * seq_length) * MeanHeadSize(model);
  const auto head = static_cast<double>(model.vocab_size * model.hidden_size);
  const auto modules = static_cast<double>(model.mtp_num_layers);
  const auto projection = static_cast<double>(MtpProjectionCount(model));
  return (head + modules * (head + projection)) / (weights + attention) + modules;
}

}  // namespace trainyard
