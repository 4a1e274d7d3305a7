#include "trainer/checkpoint_tools/files/tensor_stream.h"

#include <c10/core/ScalarType.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "trainer/checkpoint/box.h"
#include "trainer/threads/parallel_tasks.h"

namespace trainyard::trainer {
namespace {

// Verifies each chunk that has a single checksum instead of block checksums.
void CheckWholeChunks(const std::string& directory, const std::string& name,
                      const StoredTensor& tensor, int64_t element_bytes) {
  for (const StoredChunk& chunk : tensor.chunks) {
    if (HasBlockChecksums(chunk)) continue;
    const std::unique_ptr<char[]> buffer(new char[kLargestBlockBytes]);
    const ChunkReader reader(directory, name, element_bytes, buffer.get());
    reader.Read({&chunk, chunk.box, chunk.box}, 0, [](const RunRows&, const char*) {});
  }
}

Extents LastIndexOf(const Box& box) {
  Extents index = box.offset;
  for (size_t d = 0; d < index.size(); ++d) index[d] += box.shape[d] - 1;
  return index;
}

}  // namespace

TensorStream::TensorStream(const std::string& directory, const std::string& name,
                           const StoredTensor& tensor, int64_t kept_bytes)
    : directory_(directory),
      name_(name),
      tensor_(tensor),
      element_bytes_(static_cast<int64_t>(c10::elementSize(tensor.dtype))),
      most_kept_bytes_(kept_bytes) {
  CheckWholeChunks(directory_, name_, tensor_, element_bytes_);
}

std::pair<int64_t, int64_t> TensorStream::RangeOf(const Block& block) const {
  const StoredChunk& chunk = tensor_.chunks[block.first];
  const int64_t begin = block.second * PieceBytes(chunk);
  return {begin, std::min(begin + PieceBytes(chunk), chunk.end - chunk.begin)};
}

int64_t TensorStream::LastElementOf(const Block& block) const {
  const int64_t last = RangeOf(block).second / element_bytes_ - 1;
  return NumberOf(IndexOf(last, tensor_.chunks[block.first].box),
                  {Extents(tensor_.shape.size(), 0), tensor_.shape});
}

// Returns a task for each block that overlaps elements [next_, next_ + elements), with the block's
// entry in kept_.
std::vector<TensorStream::BlockTask> TensorStream::TasksFor(int64_t elements) {
  std::map<Block, std::vector<Part>> parts;
  int64_t first = 0;
  for (const Box& box : BoxesOfRange(tensor_.shape, next_, elements)) {
    for (size_t c = 0; c < tensor_.chunks.size(); ++c) {
      const StoredChunk& chunk = tensor_.chunks[c];
      const std::optional<Box> part = Intersect(chunk.box, box);
      if (!part) continue;
      const auto block_of = [&](const Extents& index) {
        return NumberOf(index, chunk.box) * element_bytes_ / PieceBytes(chunk);
      };
      for (int64_t block = block_of(part->offset); block <= block_of(LastIndexOf(*part)); ++block) {
        parts[{c, block}].push_back({{&chunk, *part, box}, first});
      }
    }
    first += *ElementsOf(box.shape);
  }
  std::vector<BlockTask> tasks;
  for (auto& [block, its_parts] : parts) {
    tasks.push_back({block, std::move(its_parts), &kept_[block]});
  }
  return tasks;
}

// Copies the wanted parts of one block to `out`. Keeps the block in memory if it contains elements
// at or after `end` and most_kept_bytes_ permits it.
void TensorStream::Run(const BlockTask& task, int64_t end, char* out) {
  const auto [begin_byte, end_byte] = RangeOf(task.block);
  const int64_t bytes = end_byte - begin_byte;
  Bytes data = std::move(*task.kept);
  if (data != nullptr) kept_bytes_ -= bytes;
  for (const Part& part : task.parts) {
    for (const ElementRun& run :
         RunsIn(part.wanted, begin_byte / element_bytes_, end_byte / element_bytes_)) {
      if (data == nullptr) {
        data.reset(new char[static_cast<size_t>(bytes)]);
        ReadBlock(directory_, name_, *part.wanted.chunk, begin_byte, end_byte, data.get());
      }
      std::memcpy(out + (part.first + run.to) * element_bytes_,
                  data.get() + run.from * element_bytes_ - begin_byte,
                  static_cast<size_t>(run.elements * element_bytes_));
    }
  }
  if (data == nullptr || LastElementOf(task.block) < end) return;
  if (kept_bytes_.fetch_add(bytes) + bytes <= most_kept_bytes_) {
    *task.kept = std::move(data);
  } else {
    kept_bytes_ -= bytes;
  }
}

void TensorStream::Read(int64_t elements, char* out) {
  const std::vector<BlockTask> tasks = TasksFor(elements);
  const int64_t end = next_ + elements;
  ParallelTasks(tasks.size(), kThreads, [&](size_t, size_t task) { Run(tasks[task], end, out); });
  std::erase_if(kept_, [](const auto& entry) { return entry.second == nullptr; });
  next_ = end;
}

}  // namespace trainyard::trainer
