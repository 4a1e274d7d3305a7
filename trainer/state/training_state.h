// The state that, in addition to the settings, is needed to continue a run from a checkpoint.
#ifndef TRAINYARD_TRAINER_STATE_TRAINING_STATE_H_
#define TRAINYARD_TRAINER_STATE_TRAINING_STATE_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "proto/contract/run_config.h"
#include "proto/samples/blend_spans.h"
#include "proto/samples/skip_ranges.h"
#include "trainer/checkpoint/checkpoint_reader.h"
#include "trainer/checkpoint/checkpoint_writer.h"
#include "trainer/model/parameters/fp8_scaling.h"
#include "trainer/model/parameters/parameter_store.h"
#include "trainer/model/pass/expert_balance.h"
#include "trainer/optimizer/adamw.h"
#include "trainer/parallel/rank_groups.h"
#include "trainer/state/best_evaluation.h"
#include "trainer/step/gradient_noise.h"
#include "trainer/step/loss_scale.h"

namespace trainyard::trainer {

// Counts are totals over all ranks, so that any layout can continue from the same point.
struct TrainingState {
  int64_t step = 0;     // Optimizer steps completed.
  int64_t samples = 0;  // Number of samples used; the next sample's number.
  int64_t tokens = 0;
  std::vector<SkipRange> skip;   // Positions that are left out of all samples.
  std::vector<BlendSpan> spans;  // The blend's spans, from that of the latest sample on.
  NoiseScaleAverage noise = {};  // 0 if train.gradient_noise_scale was off.
  LossScale loss_scale = {};     // Its defaults unless the run is or was in fp16.
  StoredEvaluation evaluation;   // The latest evaluation.
  BestEvaluation best;           // Over all attempts that led to this state.
};

// The biases of the experts. Every rank has the biases of all layers, so only one rank writes them.
struct ExpertBiases {
  torch::Tensor values;     // fp32 [layers, experts]; undefined if the model has no bias.
  int64_t first_layer = 0;  // The first layer with experts.
  bool writes = false;      // True on the rank that writes them.
};

// The histories of delayed FP8 scales. Every rank has those of the whole model, so only one rank
// writes them.
struct Fp8State {
  Fp8Scaling* scaling = nullptr;  // Null: the run does not use FP8.
  bool writes = false;            // True on the rank that writes them.
};

// Returns the chunks that this rank writes: those elements of its stored part (KeptParts::stored)
// of which this rank is the first holder, and the expert biases and FP8 histories whose `writes` is
// true on this rank.
// The chunks are views of the live tensors; the writer copies them.
std::vector<TensorChunk> CheckpointChunks(ParameterStore& parameters, AdamW& optimizer,
                                          const ExpertBiases& biases, const Fp8State& fp8 = {});

// Returns the state other than tensors, as stored in the checkpoint's manifest.
nlohmann::json TrainingStateToJson(const TrainingState& state, const RunConfig& config);

// The inverse of TrainingStateToJson. Throws TrainerError(kBadCheckpoint) for an invalid state.
TrainingState TrainingStateFromJson(const nlohmann::json& state);

// The tensors to fill from a checkpoint, and this rank's groups.
struct LoadTarget {
  ParameterStore& parameters;
  AdamW* optimizer;  // Null: weights only.
  const RankGroups& groups;
  ExpertBiases biases = {};
  Fp8State fp8 = {};
};

// Loads weights and optimizer state. Collective over all ranks: each rank reads its stored part and
// sends it to the ranks that have the same values. A checkpoint of step 0 may have no optimizer
// state; the optimizer then keeps its initial state. The result has the checkpoint's skip ranges.
// Throws TrainerError(kBadConfig) with the difference if the checkpoint is of a different model,
// kBadCheckpoint on all ranks if it has non-finite values, and the errors of the reader.
TrainingState LoadCheckpoint(const CheckpointReader& reader, const RunConfig& config,
                             const LoadTarget& target);

// True if a run that resumes from the checkpoint has no history of FP8 scales although it needs
// one: the checkpoint is of a run without delayed scales or with another length of the history, or
// was imported. The history is then empty, so the first step uses the current recipe (Fp8Scaling).
bool LacksFp8History(const CheckpointReader& reader, const Fp8State& fp8);

// Sends each rank's stored part (KeptParts::stored) to the ranks that have the same values. All
// ranks must call this function after filling their stored parts.
void ShareStoredParts(const LoadTarget& target);

// Returns the skip ranges of a run that resumes from this trainer state: the ranges of the
// checkpoint, plus those parts of `given` that lie after the samples used so far. Thus `given` does
// not change the samples used so far. A checkpoint of an earlier version has no ranges; its run is
// assumed to have always used `given`. Throws TrainerError(kBadCheckpoint).
std::vector<SkipRange> ResumedSkipRanges(const nlohmann::json& trainer_state,
                                         const std::vector<SkipRange>& given);

// Returns the differences between the checkpoint and this run that affect the order of samples:
// changed settings, and skip ranges that `given` lacks. Each difference is one line for the user.
std::vector<std::string> DataOrderChanges(const nlohmann::json& trainer_state,
                                          const RunConfig& config,
                                          const std::vector<SkipRange>& given);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_STATE_TRAINING_STATE_H_
