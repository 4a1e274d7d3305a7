// Computes the layers of a model in each pipeline stage. Pure functions, shared by the trainer and
// the predictions.
#ifndef TRAINYARD_PROTO_LAYOUT_PIPELINE_PLACE_H_
#define TRAINYARD_PROTO_LAYOUT_PIPELINE_PLACE_H_

#include <cstdint>

#include "proto/contract/run_config.h"
#include "proto/layout/layout_parts.h"

namespace trainyard {

// The place of a rank in the pipeline. The model's layers are divided into parts. Chunk c of stage
// s is part c * stages + s.
struct PipelinePlace {
  int64_t stage = 0;
  int64_t stages = 1;
  int64_t chunks = 1;      // Per stage.
  // Cost of the head and of multi-token prediction, measured in layers.
  double head_layers = 0;

  int64_t parts() const { return stages * chunks; }
  int64_t PartOfChunk(int64_t chunk) const { return chunk * stages + stage; }
  bool HasEmbedding(int64_t chunk) const { return PartOfChunk(chunk) == 0; }
  bool HasHead(int64_t chunk) const { return PartOfChunk(chunk) == parts() - 1; }
  bool IsFirstStage() const { return stage == 0; }
  bool IsLastStage() const { return stage == stages - 1; }
  // Returns the layers of a chunk. Requires num_layers >= parts(), so that each chunk has at least
  // one layer. The last part, which also computes the head, gets fewer layers, so that the most
  // loaded stage has as little work as possible.
  IndexRange Layers(int64_t num_layers, int64_t chunk) const;
};

PipelinePlace PlaceOfStage(const RunConfig& config, int64_t stage);

// Returns the cost of the head for one token, forward and backward, divided by the cost of a layer.
// A layer costs 6 operations per weight of a matrix product, plus 6 * heads * head_size * length
// for causal attention (model_size.h).
double HeadInLayers(const ModelConfig& model, int64_t seq_length);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_LAYOUT_PIPELINE_PLACE_H_
