#include "proto/contract/pipeline_place.h"

#include <algorithm>
#include <vector>

#include "proto/contract/model_size.h"
#include "proto/contract/run_rules.h"

namespace trainyard {
namespace {

// Part `part` of num_layers layers where the last part has `last` of them.
IndexRange LayersOfPart(int64_t num_layers, int64_t last, int64_t parts, int64_t part) {
  if (part == parts - 1) return {num_layers - last, last};
  return PartOf(num_layers - last, parts - 1, part);
}

// The work of the stage that has the most, in layers.
double LargestStage(const PipelinePlace& place, int64_t num_layers, int64_t last) {
  std::vector<double> work(place.stages, 0);
  for (int64_t part = 0; part < place.parts(); ++part) {
    work[part % place.stages] +=
        static_cast<double>(LayersOfPart(num_layers, last, place.parts(), part).length);
  }
  work.back() += place.head_layers;
  return *std::max_element(work.begin(), work.end());
}

// Of equally good numbers the one nearest to an even split.
int64_t LayersOfLastPart(const PipelinePlace& place, int64_t num_layers) {
  if (place.parts() == 1) return num_layers;
  const int64_t even = PartOf(num_layers, place.parts(), place.parts() - 1).length;
  int64_t best = even;
  for (int64_t last = even - 1; last >= 1; --last) {
    if (LargestStage(place, num_layers, last) < LargestStage(place, num_layers, best)) best = last;
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

double HeadInLayers(const ModelConfig& model, int64_t seq_length) {
  const BlockMatrices block = BlockMatricesOf(model);
  const auto weights = static_cast<double>(block.cut + model.num_query_groups * block.keys);
  const auto attention =
      static_cast<double>(model.num_attention_heads * HeadSize(model) * seq_length);
  const auto head = static_cast<double>(model.vocab_size * model.hidden_size);
  return head / (weights + attention);
}

}  // namespace trainyard
