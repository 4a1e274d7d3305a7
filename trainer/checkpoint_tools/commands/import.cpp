#include "trainer/checkpoint_tools/commands/import.h"

#include <c10/core/ScalarType.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "proto/model/model_fingerprint.h"
#include "trainer/checkpoint/durable_file.h"
#include "trainer/checkpoint/manifest.h"
#include "trainer/checkpoint_tools/commands/readable_text.h"
#include "trainer/checkpoint_tools/files/file_plan.h"
#include "trainer/checkpoint_tools/files/new_checkpoint.h"
#include "trainer/checkpoint_tools/files/window_copy.h"
#include "trainer/checkpoint_tools/hugging_face/block_scales.h"
#include "trainer/checkpoint_tools/hugging_face/hugging_face_config.h"
#include "trainer/checkpoint_tools/hugging_face/placed_elements.h"
#include "trainer/checkpoint_tools/hugging_face/safetensors_directory.h"
#include "trainer/checkpoint_tools/hugging_face/tensor_check.h"
#include "trainer/checkpoint_tools/hugging_face/weight_names.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;

json ReadConfig(const std::string& directory) {
  const std::string path = directory + "/" + kConfigName;
  if (FileBytes(path) < 0) {
    throw TrainerError(
        ExitCode::kBadCheckpoint,
        directory + " is not a Hugging Face directory, because it has no " + kConfigName);
  }
  json config = json::parse(ReadFile(path, ExitCode::kBadCheckpoint), nullptr,
                            /*allow_exceptions=*/false);
  if (!config.is_discarded()) return config;
  throw TrainerError(ExitCode::kBadCheckpoint, path + " is not JSON; fetch it again");
}

void CheckPlacedTensors(const PlacedTensors& placed, const std::vector<FamilyTensor>& expected,
                        const std::string& directory) {
  std::map<std::string, Extents> there;
  for (const auto& [name, tensor] : placed) {
    there[name] = tensor.shape;
    if (c10::isFloatingType(tensor.dtype) && tensor.dtype != torch::kFloat64) continue;
    throw TrainerError(ExitCode::kBadConfig, tensor.path + " has tensor " + name + " of type " +
                                                 DtypeName(tensor.dtype) +
                                                 "; weights must be F32, BF16 or F16");
  }
  const std::string faults = TensorFaults(HuggingFaceShapes(expected), there);
  if (faults.empty()) return;
  throw TrainerError(ExitCode::kBadCheckpoint,
                     directory + " does not match its " + kConfigName + ": it " + faults);
}

class Importing {
 public:
  Importing(const ImportOptions& options, const std::atomic<bool>& is_cancelled)
      : options_(options), is_cancelled_(is_cancelled), config_(ReadConfig(options.from)) {}

  ImportSummary Run() {
    CheckNewName(options_.to, options_.from, /*step=*/0, /*is_whole=*/true);
    ImportSummary summary;
    summary.model = ModelOfConfig(config_, options_.from + "/" + kConfigName);
    summary.dropouts = DropoutsOf(config_, *summary.model.family);
    summary.ignored = KeysWithoutEffect(config_, *summary.model.family);
    const json positions = config_.value(kMaxPositions, json());
    if (positions.is_number_integer()) summary.max_positions = positions.get<int64_t>();
    const PlacedTensors placed = WithFamilyNames(
        WithBlockScales(ReadSafetensorsDirectory(options_.from), config_, options_.from),
        summary.model, options_.from);
    const auto tensors = summary.model.family->tensors(summary.model.model);
    CheckPlacedTensors(placed, tensors, options_.from);
    PlacedElements elements(tensors, placed);
    NewCheckpoint to(options_.to, options_.replace);
    Manifest manifest = ManifestOf(summary);
    manifest.entries = Copy(&elements, to.building());
    CheckCoverage(manifest.entries);
    manifest.world_size = static_cast<int>(manifest.entries.files.size());
    to.Publish(manifest, [this] { StopIfCancelled(); });
    summary.tensors = static_cast<int64_t>(elements.tensors().size());
    summary.files = manifest.world_size;
    for (const auto& [_, file] : manifest.entries.files) summary.bytes += file.bytes;
    return summary;
  }

 private:
  void StopIfCancelled() const {
    if (!is_cancelled_) return;
    throw TrainerError(ExitCode::kTerminated, options_.to + " was not created: interrupted");
  }

  // The manifest contains no data settings, because the weights were not trained on the data of a
  // job.
  static Manifest ManifestOf(const ImportSummary& summary) {
    Manifest manifest;
    manifest.model_fingerprint = ModelFingerprint(summary.model.model);
    manifest.trainer_state = {{"version", 1}, {"step", 0}, {"samples", 0}, {"tokens", 0}};
    if (summary.max_positions > 0) manifest.trainer_state[kMaxPositions] = summary.max_positions;
    return manifest;
  }

  Entries Copy(PlacedElements* elements, const std::string& directory) const {
    const StoredTensors stored = elements->tensors();
    const auto read = [&](const PlannedChunk& chunk, int64_t count, char* out) {
      elements->Read(chunk.name, count, out);
    };
    return CopyWindows(NamedAsRanks(PlanFiles(stored, FilesFor(BytesOf(stored)))), directory, read,
                       [this] { StopIfCancelled(); });
  }

  const ImportOptions& options_;
  const std::atomic<bool>& is_cancelled_;
  const json config_;
};

}  // namespace

ImportSummary Import(const ImportOptions& options, const std::atomic<bool>& is_cancelled) {
  return Importing(options, is_cancelled).Run();
}

std::string JobFileText(const ImportSummary& summary, const ImportOptions& options) {
  std::string text =
      "# " + options.to + ": " + summary.model.family->architecture + ", " +
      CountText(summary.tensors, "tensor") + " in " + CountText(summary.files, "file") + " of " +
      BytesText(summary.bytes) +
      "\n# To train from it, set checkpoint.resume_from to its path and use these settings:\n";
  if (summary.max_positions > 0) {
    text += "# (train.seq_length: the model supports samples of up to " +
            std::to_string(summary.max_positions) + " tokens)\n";
  }
  if (!summary.ignored.empty()) {
    text += "# (config.json has keys without effect: " + summary.ignored + ")\n";
  }
  if (!summary.dropouts.empty()) {
    text += "# (the model was trained with dropout, which this trainer does not support: " +
            summary.dropouts + ")\n";
  }
  text += "model:\n";
  const json shape = ModelShape(summary.model.model);
  VisitSettings(summary.model.model, [&](const char* key, const SettingRule&, const auto&) {
    if (shape.contains(key)) text += "  " + std::string(key) + ": " + shape[key].dump() + "\n";
  });
  return text;
}

}  // namespace trainyard::trainer
