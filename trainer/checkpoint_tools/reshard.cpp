#include "trainer/checkpoint_tools/reshard.h"

#include <c10/core/ScalarType.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "trainer/checkpoint/manifest.h"
#include "trainer/checkpoint/rank_file.h"
#include "trainer/checkpoint_tools/file_plan.h"
#include "trainer/checkpoint_tools/new_checkpoint.h"
#include "trainer/checkpoint_tools/open_checkpoint.h"
#include "trainer/checkpoint_tools/tensor_selection.h"
#include "trainer/checkpoint_tools/tensor_stream.h"
#include "trainer/config/trainer_error.h"
#include "trainer/threads/parallel_tasks.h"

namespace trainyard::trainer {
namespace {

// Written at once, while the next window is read. Whole blocks, as RankFileWriter wants them.
constexpr int64_t kWindowBytes = 16 * kBlockBytes;

// The next bytes of a chunk of a file.
struct Window {
  size_t file = 0;
  const PlannedChunk* chunk = nullptr;
  int64_t bytes = 0;
};

std::vector<Window> WindowsOf(const std::vector<std::vector<PlannedChunk>>& plan) {
  std::vector<Window> windows;
  for (size_t file = 0; file < plan.size(); ++file) {
    for (const PlannedChunk& chunk : plan[file]) {
      for (int64_t left = BytesOf(chunk); left > 0; left -= kWindowBytes) {
        windows.push_back({file, &chunk, std::min(left, kWindowBytes)});
      }
    }
  }
  return windows;
}

// Reads windows in their order: those of a tensor follow each other.
class WindowReader {
 public:
  explicit WindowReader(const CheckpointReader& from) : from_(from) {}

  void Read(const Window& window, char* out) {
    const auto& tensors = from_.manifest().entries.tensors;
    if (window.chunk->name != name_) {
      name_ = window.chunk->name;
      stream_.emplace(from_.directory(), name_, tensors.at(name_));
    }
    stream_->Read(window.bytes / static_cast<int64_t>(c10::elementSize(window.chunk->dtype)), out);
  }

 private:
  const CheckpointReader& from_;
  std::string name_;
  std::optional<TensorStream> stream_;
};

// Writes windows in their order, and finishes each file when the next one begins.
class FilesWriter {
 public:
  FilesWriter(const std::string& directory, const std::vector<std::vector<PlannedChunk>>& plan)
      : directory_(directory), plan_(plan) {
    Begin(0);
  }

  void Write(const Window& window, std::string_view bytes) {
    if (window.file != file_) {
      Finish();
      Begin(window.file);
    }
    writer_->Append(bytes);
  }

  // Finishes the last file.
  void Finish() { Merge(writer_->Finish(), &entries_); }

  const Entries& entries() const { return entries_; }

 private:
  void Begin(size_t file) {
    file_ = file;
    writer_.emplace(directory_, static_cast<int>(file), plan_[file]);
  }

  const std::string& directory_;
  const std::vector<std::vector<PlannedChunk>>& plan_;
  size_t file_ = 0;
  std::optional<RankFileWriter> writer_;
  Entries entries_;
};

// The selected tensors, where `from` has them.
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
    // Tensors without elements are in no file.
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
    throw TrainerError(ExitCode::kTerminated, options_.to + " was not made: interrupted");
  }

  // Writes the planned files, window by window: one is written while the next one is read.
  Entries Copy(const std::vector<std::vector<PlannedChunk>>& plan,
               const std::string& directory) const {
    const std::vector<Window> windows = WindowsOf(plan);
    std::array<std::unique_ptr<char[]>, 2> buffers;
    for (auto& buffer : buffers) buffer.reset(new char[kWindowBytes]);
    WindowReader reader(*from_);
    FilesWriter writer(directory, plan);
    for (size_t i = 0; i <= windows.size(); ++i) {
      ParallelTasks(2, 2, [&](size_t, size_t task) {
        if (task == 0 && i < windows.size()) reader.Read(windows[i], buffers[i % 2].get());
        if (task == 1 && i > 0) {
          const Window& window = windows[i - 1];
          writer.Write(window, {buffers[(i - 1) % 2].get(), static_cast<size_t>(window.bytes)});
        }
      });
      Reach(ReshardPhase::kWindowWritten);
    }
    writer.Finish();
    return writer.entries();
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
