#include "trainer/state/training_state.h"

#include <torch/utils.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "proto/model/model_fingerprint.h"
#include "proto/samples/run_samples.h"
#include "trainer/checkpoint/box.h"
#include "trainer/config/run_config_json.h"
#include "trainer/config/trainer_error.h"
#include "trainer/data/skip_setting.h"
#include "trainer/state/blend_state.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;

constexpr char kMoments[] = "optimizer.";
constexpr char kFirstMoment[] = "optimizer.exp_avg.";
constexpr char kSecondMoment[] = "optimizer.exp_avg_sq.";
constexpr char kFp8History[] = "optimizer.fp8_amax_history.";

// Key of the skip ranges. The value has the format of TRAINYARD_SKIP_SAMPLES.
constexpr char kSkipSamples[] = "skip_samples";

// Key of the averages for the gradient noise scale. Absent if they are zero.
constexpr char kNoise[] = "gradient_noise";

// Keys of the loss scale. The first key is absent if the loss scale has its defaults.
constexpr char kLossScale[] = "loss_scale";
constexpr char kSkippedSteps[] = "skipped_steps";

NoiseScaleAverage NoiseFromJson(const json& state) {
  if (!state.contains(kNoise)) return {};
  const json& noise = state.at(kNoise);
  return {noise.at("gradient").get<double>(), noise.at("trace").get<double>()};
}

json ToJson(const LossScale& state) {
  return {{"scale", state.scale},
          {"good_steps", state.good_steps},
          {"hysteresis", state.hysteresis},
          {kSkippedSteps, state.skipped_steps},
          {"skipped_in_row", state.skipped_in_row}};
}

LossScale LossScaleFromJson(const json& state) {
  if (!state.contains(kLossScale)) return {};
  const json& stored = state.at(kLossScale);
  return {.scale = stored.at("scale").get<double>(),
          .good_steps = stored.at("good_steps").get<int64_t>(),
          .hysteresis = stored.at("hysteresis").get<int64_t>(),
          .skipped_steps = stored.at(kSkippedSteps).get<int64_t>(),
          .skipped_in_row = stored.at("skipped_in_row").get<int64_t>()};
}

constexpr char kBest[] = "best_evaluation";

// Returns an empty result if the checkpoint has no complete best evaluation.
BestEvaluation BestFromJson(const json& state) {
  const json best = state.value(kBest, json::object());
  if (!best.contains("step") || !best.contains("set") || !best.contains("loss")) return {};
  return {best["step"].get<int64_t>(), best["set"].get<std::string>(), best["loss"].get<double>()};
}

void CheckModel(const CheckpointReader& reader, const ModelConfig& model) {
  if (reader.model_fingerprint() == ModelFingerprint(model)) return;
  const json theirs = json::parse(reader.model_fingerprint(), nullptr, /*allow_exceptions=*/false);
  const std::string differences =
      ModelDifferences(ModelShape(model), theirs.is_object() ? theirs : json::object());
  throw TrainerError(
      ExitCode::kBadConfig,
      "The checkpoint is of another model: " +
          (differences.empty() ? "its model description has an unknown version" : differences) +
          ". Resume with the settings of the run that wrote the checkpoint.");
}

// Fills a slice with elements of any stored type, on any device.
using Fill = ElementSink;

BoxRequest RequestOf(const std::string& name, const Box& box, Fill fill) {
  return {name, box.offset, box.shape, [fill = std::move(fill)](const ElementRows& elements) {
            const torch::NoGradGuard no_grad;  // Set here because the mode is per thread.
            fill(elements);
          }};
}

// A checkpoint of step 0 may contain only weights. AdamW's moments then keep their initial zeros.
bool HasMoments(const CheckpointReader& reader) {
  const auto& tensors = reader.tensors();
  const auto is_moment = [](const auto& tensor) { return tensor.first.starts_with(kMoments); };
  return reader.step() > 0 || std::any_of(tensors.begin(), tensors.end(), is_moment);
}

// A part of a slice that this rank reads and writes.
struct StoredPiece {
  const StoredSlice& slice;
  ElementRange range;  // Its elements in the flat buffers.
  Box box;             // Its position in the logical tensor.
};

// A rank's stored part may end anywhere in a matrix, so its overlap with a slice may consist of
// several boxes.
void ForEachStoredPiece(const ParameterStore& parameters,
                        const std::function<void(const StoredPiece&)>& visit) {
  for (const StoredSlice& slice : parameters.slices()) {
    const ElementRange stored = Intersect(slice.range, parameters.StoredOf(slice.group));
    int64_t next = stored.first;
    for (Box& box :
         BoxesOfRange(slice.logical.shape, stored.first - slice.range.first, stored.length)) {
      for (size_t d = 0; d < box.offset.size(); ++d) box.offset[d] += slice.logical.offset[d];
      const ElementRange range = {next, *ElementsOf(box.shape)};
      next = range.end();
      visit({slice, range, std::move(box)});
    }
  }
}

// Calls visit(name, values) for the bias of each layer with experts.
void ForEachBias(const ExpertBiases& biases,
                 const std::function<void(const std::string&, const torch::Tensor&)>& visit) {
  if (!biases.values.defined()) return;
  for (int64_t layer = biases.first_layer; layer < biases.values.size(0); ++layer) {
    visit(ExpertBiasName(layer), biases.values[layer]);
  }
}

// Calls visit(name, values) for the history of each matrix.
void ForEachHistory(const Fp8State& fp8,
                    const std::function<void(const std::string&, const torch::Tensor&)>& visit) {
  if (fp8.scaling == nullptr) return;
  for (const Fp8Scaling::MatrixHistory& history : fp8.scaling->Histories()) {
    visit(kFp8History + history.name, history.values);
  }
}

// Returns a request that fills a whole tensor.
BoxRequest RequestOfWhole(const std::string& name, const torch::Tensor& values) {
  const Box whole{std::vector<int64_t>(values.dim(), 0), values.sizes().vec()};
  return RequestOf(name, whole, [values](const ElementRows& elements) {
    elements.PlacesIn(values.view({-1}).narrow(0, elements.first, elements.span()))
        .copy_(RowsOn(elements, values.device()));
  });
}

// Each rank has read its stored part of the buffer. Sends this part to the other ranks that need
// it. is_whole: true if the buffer contains all elements, not only the owned ones.
void ShareWhatWasRead(const LoadTarget& target, const torch::Tensor& buffer, bool is_whole) {
  const ParameterStore& parameters = target.parameters;
  const bool has_shards = parameters.parts().zero > 0;
  const auto part = [&](int64_t group, const ElementRange& range) {
    return is_whole ? buffer.narrow(0, range.first, range.length)
                    : parameters.State(buffer, group, range);
  };
  for (int64_t group = 0; group < static_cast<int64_t>(parameters.groups().size()); ++group) {
    const ElementRange &all = parameters.groups()[group].all, owned = parameters.OwnedOf(group),
                       read = parameters.StoredOf(group);
    const ParameterKind kind = parameters.groups()[group].kind;
    Communicator& shard = target.groups.ShardOf(kind);
    if (has_shards) {
      target.groups.ReplicaOf(kind).AllGather(part(group, owned), part(group, read)).Wait();
      if (is_whole) shard.AllGather(part(group, all), part(group, owned)).Wait();
    } else {
      shard.AllGather(part(group, all), part(group, read)).Wait();
    }
  }
}

// Returns the name of a tensor with a non-finite value in the part that this rank has read; "" if
// there is none.
std::string TensorNotFinite(const LoadTarget& target) {
  std::string found;
  const auto look = [&](const std::string& name, const torch::Tensor& elements) {
    if (found.empty() && !at::isfinite(elements).all().item<bool>()) found = name;
  };
  ForEachBias(target.biases, look);
  ForEachHistory(target.fp8, look);
  ForEachStoredPiece(target.parameters, [&](const StoredPiece& piece) {
    const std::string& name = piece.slice.logical.name;
    const auto state = [&](const torch::Tensor& buffer) {
      return target.parameters.State(buffer, piece.slice.group, piece.range);
    };
    look(name, target.parameters.Values(piece.slice.group, piece.range));
    if (target.optimizer == nullptr) return;
    look(kFirstMoment + name, state(target.optimizer->first_moment()));
    look(kSecondMoment + name, state(target.optimizer->second_moment()));
  });
  return found;
}

// Throws on all ranks if any rank has read a non-finite value. All ranks must call this function.
void CheckFiniteState(const CheckpointReader& reader, const LoadTarget& target) {
  const std::string tensor = TensorNotFinite(target);
  const torch::Device device = target.parameters.device();
  const double found = tensor.empty() ? 0 : 1;
  if (SumOverMembers(*target.groups.world, {found}, device)[0] == 0) return;
  throw TrainerError(ExitCode::kBadCheckpoint,
                     "The checkpoint " + reader.directory() +
                         " contains numbers that are not finite" +
                         (tensor.empty() ? " on another rank" : ": in " + tensor) +
                         ". Start from an earlier checkpoint.");
}

}  // namespace

std::vector<TensorChunk> CheckpointChunks(ParameterStore& parameters, AdamW& optimizer,
                                          const ExpertBiases& biases, const Fp8State& fp8) {
  std::vector<TensorChunk> chunks;
  const auto add_whole = [&](const std::string& name, const torch::Tensor& values) {
    const std::vector<int64_t> offset(values.dim(), 0);
    chunks.push_back({name, values.sizes().vec(), offset, values, torch::Tensor()});
  };
  if (biases.writes) ForEachBias(biases, add_whole);
  if (fp8.writes) ForEachHistory(fp8, add_whole);
  ForEachStoredPiece(parameters, [&](const StoredPiece& piece) {
    if (!piece.slice.logical.is_first_holder) return;
    const int64_t group = piece.slice.group;
    const auto add = [&](const char* prefix, const torch::Tensor& elements,
                         const torch::Tensor& low_bits) {
      const auto in_shape = [&](const torch::Tensor& flat) {
        return flat.defined() ? flat.view(piece.box.shape) : flat;
      };
      chunks.push_back({prefix + piece.slice.logical.name, piece.slice.logical.global_shape,
                        piece.box.offset, in_shape(elements), in_shape(low_bits)});
    };
    const auto state = [&](const torch::Tensor& buffer) {
      return buffer.defined() ? parameters.State(buffer, group, piece.range) : buffer;
    };
    const torch::Tensor masters = state(parameters.masters());
    add("", masters.defined() ? masters : parameters.Values(group, piece.range),
        state(parameters.low_bits()));
    add(kFirstMoment, state(optimizer.first_moment()), torch::Tensor());
    add(kSecondMoment, state(optimizer.second_moment()), torch::Tensor());
  });
  return chunks;
}

json TrainingStateToJson(const TrainingState& state, const RunConfig& config) {
  json text = {{"version", 1},
               {"step", state.step},
               {"samples", state.samples},
               {"tokens", state.tokens},
               {kSkipSamples, SkipRangesToText(state.skip)},
               {"data_seed", config.data.seed},
               {"seq_length", config.train.seq_length}};
  AddBlend(state.spans, config.data, text);
  if (state.noise != NoiseScaleAverage{}) {
    text[kNoise] = {{"gradient", state.noise.gradient}, {"trace", state.noise.trace}};
  }
  if (state.loss_scale != LossScale{}) text[kLossScale] = ToJson(state.loss_scale);
  AddEvaluation(state.evaluation, text);
  const BestEvaluation& best = state.best;
  if (best.step >= 0) text[kBest] = {{"step", best.step}, {"set", best.set}, {"loss", best.loss}};
  return text;
}

TrainingState TrainingStateFromJson(const json& state) {
  try {
    return {state.at("step").get<int64_t>(),
            state.at("samples").get<int64_t>(),
            state.at("tokens").get<int64_t>(),
            ParseSkipRanges(state.value(kSkipSamples, "")),
            BlendIn(state),
            NoiseFromJson(state),
            LossScaleFromJson(state),
            EvaluationIn(state),
            BestFromJson(state)};
  } catch (const std::exception& error) {
    throw TrainerError(
        ExitCode::kBadCheckpoint,
        std::string("The checkpoint does not record the progress of its run: ") + error.what());
  }
}

bool LacksFp8History(const CheckpointReader& reader, const Fp8State& fp8) {
  bool lacks = false;
  ForEachHistory(fp8, [&](const std::string& name, const torch::Tensor& values) {
    const auto stored = reader.tensors().find(name);
    lacks =
        lacks || stored == reader.tensors().end() || stored->second.shape != values.sizes().vec();
  });
  return lacks;
}

void ShareStoredParts(const LoadTarget& target) {
  const ParameterStore& parameters = target.parameters;
  ShareWhatWasRead(target, parameters.values(), parameters.parts().zero < 3);
  if (parameters.low_bits().defined()) {
    ShareWhatWasRead(target, parameters.low_bits(), /*is_whole=*/false);
  }
  if (parameters.masters().defined()) {
    ShareWhatWasRead(target, parameters.masters(), /*is_whole=*/false);
  }
  if (target.optimizer == nullptr) return;
  ShareWhatWasRead(target, target.optimizer->first_moment(), /*is_whole=*/false);
  ShareWhatWasRead(target, target.optimizer->second_moment(), /*is_whole=*/false);
}

TrainingState LoadCheckpoint(const CheckpointReader& reader, const RunConfig& config,
                             const LoadTarget& target) {
  CheckModel(reader, config.model);
  ParameterStore& parameters = target.parameters;
  const bool has_moments = target.optimizer != nullptr && HasMoments(reader);
  std::vector<BoxRequest> requests;
  ForEachStoredPiece(parameters, [&](const StoredPiece& piece) {
    const std::string& name = piece.slice.logical.name;
    const int64_t before = piece.range.first - piece.slice.range.first;
    requests.push_back(RequestOf(
        name, piece.box, [&slice = piece.slice, &parameters, before](const ElementRows& elements) {
          parameters.SetMaster(slice, {before + elements.first, elements.stride},
                               RowsOn(elements, parameters.device()));
        }));
    if (!has_moments) return;
    const auto request = [&](const char* prefix, const torch::Tensor& buffer) {
      const torch::Tensor part = parameters.State(buffer, piece.slice.group, piece.range);
      requests.push_back(RequestOf(prefix + name, piece.box, [part](const ElementRows& elements) {
        elements.PlacesIn(part.narrow(0, elements.first, elements.span()))
            .copy_(RowsOn(elements, part.device()));
      }));
    };
    request(kFirstMoment, target.optimizer->first_moment());
    request(kSecondMoment, target.optimizer->second_moment());
  });
  const auto request_whole = [&](const std::string& name, const torch::Tensor& values) {
    requests.push_back(RequestOfWhole(name, values));
  };
  ForEachBias(target.biases, request_whole);
  if (!LacksFp8History(reader, target.fp8)) ForEachHistory(target.fp8, request_whole);
  reader.ReadBoxes(requests, parameters.device());
  CheckFiniteState(reader, target);
  ShareStoredParts(target);
  if (target.fp8.scaling != nullptr) target.fp8.scaling->Resume();
  return TrainingStateFromJson(reader.trainer_state());
}

std::vector<SkipRange> ResumedSkipRanges(const json& trainer_state,
                                         const std::vector<SkipRange>& given) {
  if (!trainer_state.contains(kSkipSamples)) return given;
  const TrainingState stored = TrainingStateFromJson(trainer_state);
  return WithRangesAhead(stored.skip, given, stored.samples);
}

std::vector<std::string> DataOrderChanges(const json& state, const RunConfig& config,
                                          const std::vector<SkipRange>& given) {
  std::vector<std::string> changes;
  const auto compare = [&](const char* key, const std::string& setting, const json& ours) {
    if (!state.contains(key) || state[key] == ours) return;
    changes.push_back(setting + " was " + state[key].dump() + " and is now " + ours.dump() +
                      ", so the order of samples changes and some samples repeat.");
  };
  compare("data_seed", "data.seed", config.data.seed);
  compare("seq_length", "train.seq_length", config.train.seq_length);
  const TrainingState stored = TrainingStateFromJson(state);
  const SamplesStart start = {stored.step, stored.samples, stored.skip, stored.spans};
  if (std::string change = BlendChange(BlendStartOf(start), config); !change.empty()) {
    changes.push_back(std::move(change));
  }
  const std::vector<SkipRange> kept = RangesOutside(stored.skip, given);
  if (!kept.empty()) {
    changes.push_back("TRAINYARD_SKIP_SAMPLES does not contain " + SkipRangesToText(kept) +
                      ", which this run has skipped so far. These samples remain skipped.");
  }
  return changes;
}

}  // namespace trainyard::trainer
