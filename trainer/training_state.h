// State, besides the settings, that a run needs to continue from a checkpoint.
#ifndef TRAINYARD_TRAINER_TRAINING_STATE_H_
#define TRAINYARD_TRAINER_TRAINING_STATE_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "proto/contract/run_config.h"
#include "trainer/best_evaluation.h"
#include "trainer/checkpoint/checkpoint_reader.h"
#include "trainer/checkpoint/checkpoint_writer.h"
#include "trainer/data/skip_ranges.h"
#include "trainer/model/parameter_store.h"
#include "trainer/optimizer/adamw.h"
#include "trainer/parallel/rank_groups.h"
#include "trainer/step/gradient_noise.h"

namespace trainyard::trainer {

// Counts over all ranks, so that any layout continues at the same place.
struct TrainingState {
  int64_t step = 0;     // Optimizer steps completed.
  int64_t samples = 0;  // Training samples used; equals the number of the next sample.
  int64_t tokens = 0;
  std::vector<SkipRange> skip;   // Positions that no sample takes.
  NoiseScaleAverage noise = {};  // 0 where train.gradient_noise_scale was off.
  StoredEvaluation evaluation;   // The newest one.
  BestEvaluation best;           // Over all attempts that led to this state.
};

// The chunks that this rank writes: of what it reads and writes (StoreParts::stored), what it is
// the first to hold. Views of the live tensors; the writer copies them.
std::vector<TensorChunk> CheckpointChunks(ParameterStore& parameters, AdamW& optimizer);

// The part of the state that is not a tensor, for the manifest.
nlohmann::json TrainingStateToJson(const TrainingState& state, const RunConfig& config);

// The inverse. Throws TrainerError(kBadCheckpoint).
TrainingState TrainingStateFromJson(const nlohmann::json& state);

// Tensors that a checkpoint fills, and the groups of their rank.
struct LoadTarget {
  ParameterStore& parameters;
  AdamW* optimizer;  // Null: weights only.
  const RankGroups& groups;
};

// Loads weights and the optimizer's state, which a checkpoint of step 0 need not have: the
// optimizer is new then. All ranks call it: each reads its part, and ranks that keep the same give
// it to each other. The skip ranges of the result are those that the
// checkpoint's run has had. Throws TrainerError(kBadConfig) that names the difference when the
// checkpoint is of another model, kBadCheckpoint on all ranks when it holds numbers that are not
// finite, and the errors of the reader.
TrainingState LoadCheckpoint(const CheckpointReader& reader, const RunConfig& config,
                             const LoadTarget& target);

// All ranks call it, each with its stored part (StoreParts::stored) in place: ranks that keep the
// same give it to each other.
void ShareStoredParts(const LoadTarget& target);

// Skip ranges of a run that continues from this trainer state of a checkpoint: the ranges of the
// checkpoint, and what `given` has ahead of the samples used so far. No list, the same list and a
// longer list thus leave these samples where they were. A checkpoint of an earlier version has no
// list: its run is taken to have had `given` from the start. Throws TrainerError(kBadCheckpoint).
std::vector<SkipRange> ResumedSkipRanges(const nlohmann::json& trainer_state,
                                         const std::vector<SkipRange>& given);

// Differences from the checkpoint in what decides which samples come next: settings, and skip
// ranges that `given` does not have. One line each, for a note to the user.
std::vector<std::string> DataOrderChanges(const nlohmann::json& trainer_state,
                                          const RunConfig& config,
                                          const std::vector<SkipRange>& given);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_TRAINING_STATE_H_
