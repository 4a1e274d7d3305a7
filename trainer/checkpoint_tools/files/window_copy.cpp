#include "trainer/checkpoint_tools/files/window_copy.h"

#include <c10/core/ScalarType.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "trainer/threads/parallel_tasks.h"

namespace trainyard::trainer {
namespace {

// A window: consecutive bytes of a chunk that are written to a file at once.
struct Window {
  size_t file = 0;
  const PlannedChunk* chunk = nullptr;
  int64_t bytes = 0;

  int64_t elements() const { return bytes / static_cast<int64_t>(c10::elementSize(chunk->dtype)); }
};

std::vector<Window> WindowsOf(const std::vector<PlannedFile>& plan) {
  std::vector<Window> windows;
  for (size_t file = 0; file < plan.size(); ++file) {
    for (const PlannedChunk& chunk : plan[file].chunks) {
      for (int64_t left = BytesOf(chunk); left > 0; left -= kWindowBytes) {
        windows.push_back({file, &chunk, std::min(left, kWindowBytes)});
      }
    }
  }
  return windows;
}

// Writes windows in order. Finishes a file when the first window of the next file is written.
class FilesWriter {
 public:
  FilesWriter(const std::string& directory, const std::vector<PlannedFile>& plan)
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
    writer_.emplace(directory_, plan_[file].name, plan_[file].chunks);
  }

  const std::string& directory_;
  const std::vector<PlannedFile>& plan_;
  size_t file_ = 0;
  std::optional<RankFileWriter> writer_;
  Entries entries_;
};

}  // namespace

std::vector<PlannedFile> NamedAsRanks(std::vector<std::vector<PlannedChunk>> plan) {
  std::vector<PlannedFile> files;
  for (std::vector<PlannedChunk>& chunks : plan) {
    files.push_back({RankDataName(static_cast<int>(files.size())), std::move(chunks)});
  }
  return files;
}

Entries CopyWindows(const std::vector<PlannedFile>& plan, const std::string& directory,
                    const ReadElements& read, const std::function<void()>& after_window) {
  const std::vector<Window> windows = WindowsOf(plan);
  std::array<std::unique_ptr<char[]>, 2> buffers;
  for (auto& buffer : buffers) buffer.reset(new char[kWindowBytes]);
  FilesWriter writer(directory, plan);
  for (size_t i = 0; i <= windows.size(); ++i) {
    ParallelTasks(2, 2, [&](size_t, size_t task) {
      if (task == 0 && i < windows.size()) {
        read(*windows[i].chunk, windows[i].elements(), buffers[i % 2].get());
      }
      if (task == 1 && i > 0) {
        const Window& window = windows[i - 1];
        writer.Write(window, {buffers[(i - 1) % 2].get(), static_cast<size_t>(window.bytes)});
      }
    });
    after_window();
  }
  writer.Finish();
  return writer.entries();
}

void CheckpointElements::Read(const std::string& tensor, int64_t elements, char* out) {
  if (tensor != name_) {
    name_ = tensor;
    stream_.emplace(from_.directory(), name_, from_.manifest().entries.tensors.at(name_));
  }
  stream_->Read(elements, out);
}

}  // namespace trainyard::trainer
