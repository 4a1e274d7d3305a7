// Derives a rank's share of the model and of its state from the settings and the layout.
#ifndef TRAINYARD_TRAINER_STEP_MODEL_OPTIONS_H_
#define TRAINYARD_TRAINER_STEP_MODEL_OPTIONS_H_

#include "proto/contract/run_config.h"
#include "trainer/model/decoder.h"
#include "trainer/parallel/mesh.h"
#include "trainer/parallel/rank_groups.h"

namespace trainyard::trainer {

// The type of weights and activations.
torch::ScalarType StoredType(Precision precision);

// Returns the options of a rank's model, with train.seed as seed. `config` must be resolved.
// `groups`, the groups of the rank, must outlive the model.
DecoderOptions ModelOptions(const RunConfig& config, const Mesh& mesh, int64_t rank,
                            const RankGroups& groups, torch::Device device);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_STEP_MODEL_OPTIONS_H_
