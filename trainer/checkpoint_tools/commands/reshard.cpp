#include "trainer/checkpoint_tools/commands/reshard.h"

#include <memory>
#include <utility>
#include <vector>

#include "trainer/checkpoint/manifest.h"
#include "trainer/checkpoint_tools/commands/tensor_selection.h"
#include "trainer/checkpoint_tools/files/file_plan.h"
#include "trainer/checkpoint_tools/files/new_checkpoint.h"
#include "trainer/checkpoint_tools/files/open_checkpoint.h"
#include "trainer/checkpoint_tools/files/window_copy.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

// Returns the stored tensors of `from`. With `weights_only`, omits the optimizer state.
StoredTensors Selected(const CheckpointReader& from, bool weights_only) {
  StoredTensors tensors = from.manifest().entries.tensors;
  if (weights_only) {
    std::erase_if(tensors, [](const auto& tensor) { return IsOptimizerState(tensor.first); });
  }
  return tensors;
}

class Resharding {
 public:
  Resharding(const ReshardOptions& options, const std::atomic<bool>& is_cancelled)
      : options_(options), is_cancelled_(is_cancelled), from_(OpenCheckpoint(options.from)) {}

  ReshardSummary Run() {
    CheckNewName(options_.to, options_.from, from_->step(), !options_.weights_only);
    const StoredTensors tensors = Selected(*from_, options_.weights_only);
    const int64_t files = options_.files > 0 ? options_.files : FilesFor(BytesOf(tensors));
    NewCheckpoint to(options_.to, options_.replace);
    Manifest manifest = from_->manifest();
    manifest.entries = Copy(PlanFiles(tensors, files), to.building());
    // Copy does not return tensors without elements, because these are in no file.
    for (const auto& [name, tensor] : tensors) {
      manifest.entries.tensors.try_emplace(name, StoredTensor{tensor.dtype, tensor.shape, {}});
    }
    CheckCoverage(manifest.entries);
    manifest.world_size = static_cast<int>(manifest.entries.files.size());
    Reach(ReshardPhase::kFilesWritten);
    to.Publish(manifest, [this] { Reach(ReshardPhase::kManifestWritten); });
    Reach(ReshardPhase::kPublished);
    return SummaryOf(manifest);
  }

 private:
  void Reach(ReshardPhase phase) const {
    if (options_.on_phase) options_.on_phase(phase);
    if (phase == ReshardPhase::kPublished || !is_cancelled_) return;
    throw TrainerError(ExitCode::kTerminated, options_.to + " was not created: interrupted");
  }

  Entries Copy(std::vector<std::vector<PlannedChunk>> plan, const std::string& directory) const {
    CheckpointElements elements(*from_);
    const auto read = [&](const PlannedChunk& chunk, int64_t count, char* out) {
      elements.Read(chunk.name, count, out);
    };
    return CopyWindows(NamedAsRanks(std::move(plan)), directory, read,
                       [this] { Reach(ReshardPhase::kWindowWritten); });
  }

  static ReshardSummary SummaryOf(const Manifest& manifest) {
    ReshardSummary summary = {manifest.step, static_cast<int64_t>(manifest.entries.tensors.size()),
                              static_cast<int64_t>(manifest.entries.files.size()), 0};
    for (const auto& [_, file] : manifest.entries.files) summary.bytes += file.bytes;
    return summary;
  }

  const ReshardOptions& options_;
  const std::atomic<bool>& is_cancelled_;
  const std::unique_ptr<CheckpointReader> from_;
};

}  // namespace

ReshardSummary Reshard(const ReshardOptions& options, const std::atomic<bool>& is_cancelled) {
  return Resharding(options, is_cancelled).Run();
}

}  // namespace trainyard::trainer
