// State, besides the settings, needed to continue a run from a checkpoint.
#ifndef TRAINYARD_TRAINER_STATE_TRAINING_STATE_H_
#define TRAINYARD_TRAINER_STATE_TRAINING_STATE_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "proto/contract/run_config.h"
#include "trainer/checkpoint/checkpoint_reader.h"
#include "trainer/checkpoint/checkpoint_writer.h"
#include "trainer/data/skip_ranges.h"
#include "trainer/model/parameter_store.h"
#include "trainer/optimizer/adamw.h"
#include "trainer/parallel/rank_groups.h"
#include "trainer/state/best_evaluation.h"
#include "trainer/step/gradient_noise.h"

namespace trainyard::trainer {

// Counts are over all ranks, so that any layout continues at the same place.
struct TrainingState {
  int64_t step = 0;     // Optimizer steps completed.
  int64_t samples = 0;  // Training samples used, and so the number of the next sample.
  int64_t tokens = 0;
  std::vector<SkipRange> skip;   // Positions not used by any sample.
  NoiseScaleAverage noise = {};  // 0 if train.gradient_noise_scale was off.
  StoredEvaluation evaluation;   // The latest one.
  BestEvaluation best;           // Over all attempts that led to this state.
};

// The chunks this rank writes: those of its stored part (StoreParts::stored) for which it is the
// first holder. They are views of the live tensors; the writer copies them.
std::vector<TensorChunk> CheckpointChunks(ParameterStore& parameters, AdamW& optimizer);

// The non-tensor state, for the manifest.
nlohmann::json TrainingStateToJson(const TrainingState& state, const RunConfig& config);

// Inverse of TrainingStateToJson. Throws TrainerError(kBadCheckpoint).
TrainingState TrainingStateFromJson(const nlohmann::json& state);

// Tensors to fill from a checkpoint, and their rank's groups.
struct LoadTarget {
  ParameterStore& parameters;
  AdamW* optimizer;  // Null: weights only.
  const RankGroups& groups;
};

// Loads weights and optimizer state. A checkpoint of step 0 may lack the latter; the optimizer then
// keeps its initial state. Collective: each rank reads its part and sends it to the ranks that keep
// the same values. The result has the skip ranges stored in the checkpoint. Throws
// TrainerError(kBadConfig) naming the difference if the checkpoint is of another model,
// kBadCheckpoint on all ranks if it has non-finite values, and the errors of the reader.
TrainingState LoadCheckpoint(const CheckpointReader& reader, const RunConfig& config,
                             const LoadTarget& target);

// Collective: each rank has its stored part (StoreParts::stored) in place and sends it to the ranks
// that keep the same values.
void ShareStoredParts(const LoadTarget& target);

// Skip ranges of a run that resumes from this trainer state: the checkpoint's ranges, plus the
// parts of `given` that lie after the samples used so far. The used samples thus stay the same if
// `given` is empty, equal or longer. A checkpoint of an earlier version has no ranges; its run is
// assumed to have used `given` from the start. Throws TrainerError(kBadCheckpoint).
std::vector<SkipRange> ResumedSkipRanges(const nlohmann::json& trainer_state,
                                         const std::vector<SkipRange>& given);

// Differences from the checkpoint that affect the order of samples: changed settings, and skip
// ranges missing in `given`. One line each, to show to the user.
std::vector<std::string> DataOrderChanges(const nlohmann::json& trainer_state,
                                          const RunConfig& config,
                                          const std::vector<SkipRange>& given);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_STATE_TRAINING_STATE_H_
