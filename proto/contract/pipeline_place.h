// The layers of a model that each stage of a pipeline holds: pure functions, the same for the
// trainer and for predictions.
#ifndef TRAINYARD_PROTO_CONTRACT_PIPELINE_PLACE_H_
#define TRAINYARD_PROTO_CONTRACT_PIPELINE_PLACE_H_

#include <cstdint>

#include "proto/contract/layout_parts.h"
#include "proto/contract/run_config.h"

namespace trainyard {

// A rank's place along the pipeline. Chunk c of stage s is number c * stages + s of the parts in
// which the model's layers are cut.
struct PipelinePlace {
  int64_t stage = 0;
  int64_t stages = 1;
  int64_t chunks = 1;      // Of each stage.
  double head_layers = 0;  // The work of the head, in layers.

  int64_t parts() const { return stages * chunks; }
  int64_t PartOfChunk(int64_t chunk) const { return chunk * stages + stage; }
  bool HasEmbedding(int64_t chunk) const { return PartOfChunk(chunk) == 0; }
  bool HasHead(int64_t chunk) const { return PartOfChunk(chunk) == parts() - 1; }
  bool IsFirstStage() const { return stage == 0; }
  bool IsLastStage() const { return stage == stages - 1; }
  // Layers of a chunk, of num_layers >= parts(): at least one. The last part, which has the head,
  // has fewer, so that the stage with the most work has as little as can be.
  IndexRange Layers(int64_t num_layers, int64_t chunk) const;
};

PipelinePlace PlaceOfStage(const RunConfig& config, int64_t stage);

// The work of the head for one token, forward and backward, in layers: 6 operations for each weight
// of a matrix product, and 6 * heads * head_size * length a layer for causal attention
// (model_size.h).
double HeadInLayers(const ModelConfig& model, int64_t seq_length);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_PIPELINE_PLACE_H_
