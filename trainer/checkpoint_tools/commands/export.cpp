#include "trainer/checkpoint_tools/commands/export.h"

#include <c10/core/ScalarType.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "trainer/checkpoint/durable_file.h"
#include "trainer/checkpoint/manifest.h"
#include "trainer/checkpoint_tools/commands/tensor_selection.h"
#include "trainer/checkpoint_tools/families/imported_model.h"
#include "trainer/checkpoint_tools/files/new_directory.h"
#include "trainer/checkpoint_tools/files/open_checkpoint.h"
#include "trainer/checkpoint_tools/files/window_copy.h"
#include "trainer/checkpoint_tools/hugging_face/family_elements.h"
#include "trainer/checkpoint_tools/hugging_face/hugging_face_config.h"
#include "trainer/checkpoint_tools/hugging_face/safetensors_directory.h"
#include "trainer/checkpoint_tools/hugging_face/shard_plan.h"
#include "trainer/checkpoint_tools/hugging_face/tensor_check.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;

// Checks that --force replaces only an earlier export. In any other directory, files that an export
// does not create would be lost, such as tokenizers.
void CheckEarlierExport(const std::string& path, bool replace) {
  if (!replace) {
    CannotMake(path,
               "this directory exists and is not empty; use another path, or replace an earlier "
               "export with --force");
  }
  const std::string other = EntryThatIsNoExport(path);
  if (other.empty()) return;
  CannotMake(path, "--force replaces only an earlier export, but " + other +
                       " is not part of an export; move this file away, or use another path");
}

// Returns the dtype's name in config.json, such as "float32" for torch.float32.
std::string TorchName(torch::ScalarType dtype) {
  if (dtype == torch::kBFloat16) return "bfloat16";
  return dtype == torch::kFloat16 ? "float16" : "float32";
}

void CheckStoredTensors(const CheckpointReader& from, const std::vector<TensorShape>& expected) {
  std::map<std::string, Extents> there;
  for (const auto& [name, tensor] : from.tensors()) {
    if (!IsOptimizerState(name)) there[name] = tensor.shape;
  }
  const std::string faults = TensorFaults(expected, there);
  if (faults.empty()) return;
  throw TrainerError(ExitCode::kBadCheckpoint,
                     from.directory() + " does not match the model in its manifest: it " + faults);
}

// Returns the tensors of the export, each as one whole chunk with the dtype of the export.
std::vector<PlannedChunk> PlannedTensors(const FamilyElements& elements,
                                         const std::vector<FamilyTensor>& tensors,
                                         const ExportOptions& options) {
  std::vector<PlannedChunk> planned;
  for (const FamilyTensor& tensor : tensors) {
    const auto& [name, shape] = tensor.on_hugging_face;
    const bool converts = options.dtype.has_value() && !tensor.keeps_type;
    const torch::ScalarType dtype = converts ? *options.dtype : elements.TypeOf(name);
    planned.push_back({name, dtype, shape, {Extents(shape.size(), 0), shape}});
  }
  return planned;
}

class Exporting {
 public:
  Exporting(const ExportOptions& options, const std::atomic<bool>& is_cancelled)
      : options_(options), is_cancelled_(is_cancelled), from_(OpenCheckpoint(options.from)) {}

  ExportSummary Run() {
    CheckOutside(options_.to, options_.from);
    const ImportedModel model = ModelOfFingerprint(from_->model_fingerprint(), options_.from);
    const std::vector<FamilyTensor> tensors = model.family->tensors(model.model);
    CheckStoredTensors(*from_, OurShapes(tensors));
    NewDirectory to(options_.to, [this](const std::string& there) {
      CheckEarlierExport(there, options_.replace);
    });
    FamilyElements elements(*from_, tensors);
    const std::vector<PlannedChunk> planned = PlannedTensors(elements, tensors, options_);
    const std::vector<PlannedFile> shards = PlanShards(planned, options_.shard_bytes);
    const Entries entries = Copy(shards, to.building(), &elements);
    if (shards.size() > 1) {
      WriteFileAtomically(to.building() + "/" + kSafetensorsIndexName, ShardIndexText(shards));
    }
    WriteFileAtomically(to.building() + "/" + kConfigName, ConfigText(model, planned));
    StopIfCancelled();
    to.PutInPlace();
    ExportSummary summary = {model.family->architecture, from_->step(),
                             static_cast<int64_t>(planned.size()),
                             static_cast<int64_t>(shards.size())};
    for (const auto& [_, file] : entries.files) summary.bytes += file.bytes;
    return summary;
  }

 private:
  void StopIfCancelled() const {
    if (!is_cancelled_) return;
    throw TrainerError(ExitCode::kTerminated, options_.to + " was not created: interrupted");
  }

  Entries Copy(const std::vector<PlannedFile>& shards, const std::string& directory,
               FamilyElements* elements) const {
    const auto read = [&](const PlannedChunk& chunk, int64_t count, char* out) {
      elements->Read(chunk, count, out);
    };
    return CopyWindows(shards, directory, read, [this] { StopIfCancelled(); });
  }

  std::string ConfigText(const ImportedModel& model,
                         const std::vector<PlannedChunk>& tensors) const {
    json config = ConfigOf(model);
    // Set to null. Otherwise transformers would use default ids, which belong to the tokenizer of
    // the family's first model.
    for (const char* key : {"bos_token_id", "eos_token_id", "pad_token_id"}) config[key] = nullptr;
    // Vectors may have a different type, such as the fp32 bias of experts.
    const bool is_uniform = std::all_of(tensors.begin(), tensors.end(), [&](const auto& tensor) {
      return tensor.global_shape.size() < 2 || tensor.dtype == tensors.front().dtype;
    });
    config["torch_dtype"] = is_uniform ? TorchName(tensors.front().dtype) : "float32";
    if (!HasKeyFor(*model.family, kMaxPositions)) SetMaxPositions(&config);
    return config.dump(2) + "\n";
  }

  // Sets the maximum number of positions, for a model in which no tensor determines it.
  void SetMaxPositions(json* config) const {
    const json& state = from_->trainer_state();
    for (const char* key : {kMaxPositions, "seq_length"}) {
      if (!state.contains(key)) continue;
      (*config)[kMaxPositions] = state[key];
      return;
    }
  }

  const ExportOptions& options_;
  const std::atomic<bool>& is_cancelled_;
  const std::unique_ptr<CheckpointReader> from_;
};

}  // namespace

ExportSummary Export(const ExportOptions& options, const std::atomic<bool>& is_cancelled) {
  return Exporting(options, is_cancelled).Run();
}

}  // namespace trainyard::trainer
