#include "trainer/training_state.h"

#include <torch/utils.h>

#include <functional>
#include <utility>

#include "trainer/checkpoint/box.h"
#include "trainer/config/run_config_json.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;

constexpr char kFirstMoment[] = "optimizer.exp_avg.";
constexpr char kSecondMoment[] = "optimizer.exp_avg_sq.";

// Key of the skip ranges, which have the form of TRAINYARD_SKIP_SAMPLES.
constexpr char kSkipSamples[] = "skip_samples";

// Settings that define the model's tensors; the initial spread of the weights does not matter
// later.
json ModelShape(const ModelConfig& model) {
  RunConfig config;
  config.model = model;
  json shape = RunConfigToJson(config)["model"];
  shape.erase("init_method_std");
  return shape;
}

std::string Differences(const json& ours, const json& theirs) {
  std::string text;
  for (const auto& [key, value] : ours.items()) {
    const json other = theirs.contains(key) ? theirs[key] : json();
    if (value == other) continue;
    text += (text.empty() ? "" : ", ") + ("model." + key) + " is " + value.dump() + " here and " +
            other.dump() + " there";
  }
  return text.empty() ? "its description is not of this version" : text;
}

void CheckModel(const CheckpointReader& reader, const ModelConfig& model) {
  if (reader.model_fingerprint() == ModelFingerprint(model)) return;
  const json theirs = json::parse(reader.model_fingerprint(), nullptr, /*allow_exceptions=*/false);
  throw TrainerError(
      ExitCode::kBadConfig,
      "The checkpoint is of another model: " +
          Differences(ModelShape(model), theirs.is_object() ? theirs : json::object()) +
          ". Resume with the settings that it was trained with.");
}

// Fills a slice, whatever the stored type and the device.
using Fill = std::function<void(int64_t first, const torch::Tensor& elements)>;

BoxRequest RequestOf(const std::string& name, const Box& box, Fill fill) {
  return {name, box.offset, box.shape,
          [fill = std::move(fill)](int64_t first, const torch::Tensor& elements) {
            const torch::NoGradGuard no_grad;  // Of this thread.
            fill(first, elements);
          }};
}

// A part of a slice whose state this rank owns.
struct OwnedPiece {
  const StoredSlice& slice;
  ElementRange range;  // Of the flat buffers.
  Box box;             // Of the logical tensor.
};

// Parts of groups end anywhere in a matrix: what lies in one of them may be several boxes.
void ForEachOwnedPiece(const ParameterStore& parameters,
                       const std::function<void(const OwnedPiece&)>& visit) {
  for (const StoredSlice& slice : parameters.slices()) {
    const ElementRange owned = Intersect(slice.range, parameters.OwnedOf(slice.group));
    int64_t next = owned.first;
    for (Box& box :
         BoxesOfRange(slice.logical.shape, owned.first - slice.range.first, owned.length)) {
      for (size_t d = 0; d < box.offset.size(); ++d) box.offset[d] += slice.logical.offset[d];
      const ElementRange range = {next, *ElementsOf(box.shape)};
      next = range.end();
      visit({slice, range, std::move(box)});
    }
  }
}

TrainingState StateFromJson(const json& state) {
  try {
    return {state.at("step").get<int64_t>(), state.at("samples").get<int64_t>(),
            state.at("tokens").get<int64_t>(), ParseSkipRanges(state.value(kSkipSamples, ""))};
  } catch (const std::exception& error) {
    throw TrainerError(
        ExitCode::kBadCheckpoint,
        std::string("The checkpoint does not say where its run stood: ") + error.what());
  }
}

}  // namespace

std::string ModelFingerprint(const ModelConfig& model) { return ModelShape(model).dump(); }

std::vector<TensorChunk> CheckpointChunks(ParameterStore& parameters, AdamW& optimizer,
                                          int64_t replica, int64_t replicas) {
  std::vector<TensorChunk> all;
  ForEachOwnedPiece(parameters, [&](const OwnedPiece& piece) {
    const auto add = [&](const char* prefix, const torch::Tensor& elements,
                         const torch::Tensor& low_bits) {
      const auto in_shape = [&](const torch::Tensor& flat) {
        return flat.defined() ? flat.view(piece.box.shape) : flat;
      };
      all.push_back({prefix + piece.slice.logical.name, piece.slice.logical.global_shape,
                     piece.box.offset, in_shape(elements), in_shape(low_bits)});
    };
    const auto state = [&](const torch::Tensor& buffer) {
      return buffer.defined() ? parameters.StatePart(buffer, piece.slice.group, piece.range)
                              : buffer;
    };
    add("", parameters.values().narrow(0, piece.range.first, piece.range.length),
        state(parameters.low_bits()));
    add(kFirstMoment, state(optimizer.first_moment()), torch::Tensor());
    add(kSecondMoment, state(optimizer.second_moment()), torch::Tensor());
  });

  std::vector<int64_t> bytes;
  for (const TensorChunk& chunk : all) bytes.push_back(StoredBytes(chunk));
  const std::vector<int> writer = SpreadByBytes(bytes, static_cast<int>(replicas));
  std::vector<TensorChunk> mine;
  for (size_t i = 0; i < all.size(); ++i) {
    if (writer[i] == replica) mine.push_back(std::move(all[i]));
  }
  return mine;
}

json TrainingStateToJson(const TrainingState& state, const RunConfig& config) {
  return {{"version", 1},
          {"step", state.step},
          {"samples", state.samples},
          {"tokens", state.tokens},
          {kSkipSamples, SkipRangesToText(state.skip)},
          {"data_seed", config.data.seed},
          {"seq_length", config.train.seq_length}};
}

TrainingState LoadCheckpoint(const CheckpointReader& reader, const RunConfig& config,
                             ParameterStore& parameters, AdamW& optimizer) {
  CheckModel(reader, config.model);
  std::vector<BoxRequest> requests;
  for (const StoredSlice& slice : parameters.slices()) {
    const Box whole = {slice.logical.offset, slice.logical.shape};
    requests.push_back(
        RequestOf(slice.logical.name, whole, [&](int64_t first, const torch::Tensor& elements) {
          parameters.SetMaster(slice, first, elements);
        }));
  }
  ForEachOwnedPiece(parameters, [&](const OwnedPiece& piece) {
    const auto request = [&](const char* prefix, const torch::Tensor& buffer) {
      const torch::Tensor part = parameters.StatePart(buffer, piece.slice.group, piece.range);
      requests.push_back(RequestOf(prefix + piece.slice.logical.name, piece.box,
                                   [part](int64_t first, const torch::Tensor& elements) {
                                     part.narrow(0, first, elements.numel()).copy_(elements);
                                   }));
    };
    request(kFirstMoment, optimizer.first_moment());
    request(kSecondMoment, optimizer.second_moment());
  });
  reader.ReadBoxes(requests, parameters.device());
  return StateFromJson(reader.trainer_state());
}

std::vector<SkipRange> ResumedSkipRanges(const json& trainer_state,
                                         const std::vector<SkipRange>& given) {
  if (!trainer_state.contains(kSkipSamples)) return given;
  const TrainingState stored = StateFromJson(trainer_state);
  return WithRangesAhead(stored.skip, given, stored.samples);
}

std::vector<std::string> DataOrderChanges(const json& state, const RunConfig& config,
                                          const std::vector<SkipRange>& given) {
  std::vector<std::string> changes;
  const auto compare = [&](const char* key, const std::string& setting, const json& ours) {
    if (!state.contains(key) || state[key] == ours) return;
    changes.push_back(setting + " was " + state[key].dump() + " and is now " + ours.dump() +
                      ": samples come in another order and some come again.");
  };
  compare("data_seed", "data.seed", config.data.seed);
  compare("seq_length", "train.seq_length", config.train.seq_length);
  const std::vector<SkipRange> kept = RangesOutside(StateFromJson(state).skip, given);
  if (!kept.empty()) {
    changes.push_back("TRAINYARD_SKIP_SAMPLES does not have " + SkipRangesToText(kept) +
                      ", which this run has skipped so far: the samples stay skipped.");
  }
  return changes;
}

}  // namespace trainyard::trainer
