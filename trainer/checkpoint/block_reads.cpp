#include "trainer/checkpoint/block_reads.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "trainer/checkpoint/host_memory.h"
#include "trainer/config/trainer_error.h"
#include "trainer/threads/parallel_tasks.h"

namespace trainyard::trainer {
namespace {

// Enough threads to keep the queues of a disk or a network file system full.
constexpr size_t kThreads = 16;

}  // namespace

BlockReads::BlockReads(std::string directory, torch::Device device)
    : directory_(std::move(directory)), device_(device) {}

void BlockReads::Add(const std::string& name, const StoredTensor& tensor, const Box& box,
                     const ElementSink* sink) {
  for (const StoredChunk& chunk : tensor.chunks) {
    const std::optional<Box> part = Intersect(chunk.box, box);
    if (!part) continue;
    largest_block_ = std::max(largest_block_, std::min(chunk.end - chunk.begin, PieceBytes(chunk)));
    for (size_t block = 0; block < chunk.xxh64.size(); ++block) {
      reads_.push_back(
          {&name, tensor.dtype, {&chunk, *part, box}, static_cast<int64_t>(block), sink});
    }
  }
}

void BlockReads::RunOne(const BlockRead& read, char* buffer) const {
  const auto element_bytes = static_cast<int64_t>(c10::elementSize(read.dtype));
  const ChunkReader reader(directory_, *read.name, element_bytes, buffer);
  reader.Read(read.wanted, read.block, [&](const RunRows& rows, const char* bytes) {
    if (read.sink == nullptr) return;
    (*read.sink)({rows.first.to, rows.to_stride,
                  torch::from_blob(const_cast<char*>(bytes), {rows.rows, rows.first.elements},
                                   {rows.from_stride, 1}, read.dtype)});
  });
}

// Calls call(index of the read, buffer) for every read, on several threads that each have their own
// buffer. Some threads copy to a GPU while others read from storage, so both stay busy.
template <typename Call>
void BlockReads::ForEach(const Call& call) const {
  std::vector<std::unique_ptr<HostMemory>> buffers;
  for (size_t thread = 0; thread < ThreadsFor(reads_.size(), kThreads); ++thread) {
    buffers.push_back(
        std::make_unique<HostMemory>(static_cast<size_t>(largest_block_), device_.is_cuda()));
  }
  ParallelTasks(reads_.size(), kThreads, [&](size_t thread, size_t read) {
    if (device_.is_cuda()) UseDevice(device_);
    call(read, buffers[thread]->data());
  });
}

void BlockReads::Run() const {
  ForEach([this](size_t read, char* buffer) { RunOne(reads_[read], buffer); });
}

std::vector<std::string> BlockReads::Faults() const {
  std::vector<std::string> faults(reads_.size());
  ForEach([&](size_t read, char* buffer) {
    try {
      RunOne(reads_[read], buffer);
    } catch (const TrainerError& error) {
      faults[read] = error.what();
    }
  });
  std::erase(faults, "");
  return faults;
}

}  // namespace trainyard::trainer
