#include "trainer/checkpoint/rank_file.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "trainer/ops/optimizer/master_weights.h"

namespace trainyard::trainer {
namespace {

// The data starts at a multiple of this number of bytes, so that a memory-mapped file can be used
// in place.
constexpr size_t kAlignment = 64;

// Returns stored bytes [begin, end) of the chunk. If the chunk has low bits, joins its two tensors
// in `buffer`, which has space for kBlockBytes.
std::string_view StoredBytesOf(const TensorChunk& chunk, int64_t begin, int64_t end,
                               float* buffer) {
  const auto bytes = static_cast<size_t>(end - begin);
  if (!chunk.low_bits.defined()) {
    return {static_cast<const char*>(chunk.tensor.data_ptr()) + begin, bytes};
  }
  const int64_t first = begin / static_cast<int64_t>(sizeof(float));
  JoinMasterWeights(static_cast<const uint16_t*>(chunk.tensor.data_ptr()) + first,
                    chunk.low_bits.data_ptr<int16_t>() + first, (end - begin) / sizeof(float),
                    buffer);
  return {reinterpret_cast<const char*>(buffer), bytes};
}

std::string KeyOf(const PlannedChunk& chunk) {
  if (chunk.box.shape == chunk.global_shape) return chunk.name;
  std::string key = chunk.name;
  for (size_t d = 0; d < chunk.box.offset.size(); ++d) {
    key += (d == 0 ? "@" : ",") + std::to_string(chunk.box.offset[d]);
  }
  return key;
}

std::vector<const TensorChunk*> WidestFirst(const std::vector<TensorChunk>& chunks) {
  std::vector<const TensorChunk*> order;
  for (const TensorChunk& chunk : chunks) order.push_back(&chunk);
  std::stable_sort(order.begin(), order.end(), [](const TensorChunk* a, const TensorChunk* b) {
    return c10::elementSize(StoredType(*a)) > c10::elementSize(StoredType(*b));
  });
  return order;
}

// Returns the header: the length as 8 bytes, little-endian, then JSON text padded with spaces.
std::string HeaderOf(const std::vector<PlannedChunk>& chunks) {
  nlohmann::json header;
  header["__metadata__"] = {{"format", "pt"}};
  int64_t begin = 0;
  for (const PlannedChunk& chunk : chunks) {
    const int64_t end = begin + BytesOf(chunk);
    header[KeyOf(chunk)] = {{"dtype", DtypeName(chunk.dtype)},
                            {"shape", chunk.box.shape},
                            {"data_offsets", {begin, end}}};
    begin = end;
  }
  std::string text = header.dump();
  const size_t unpadded = 8 + text.size();
  text.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  std::string length(8, '\0');
  for (int byte = 0; byte < 8; ++byte) length[byte] = static_cast<char>(text.size() >> (8 * byte));
  return length + text;
}

}  // namespace

int64_t BytesOf(const PlannedChunk& chunk) {
  return *ElementsOf(chunk.box.shape) * static_cast<int64_t>(c10::elementSize(chunk.dtype));
}

RankFileWriter::RankFileWriter(const std::string& directory, std::string name,
                               std::vector<PlannedChunk> chunks)
    : name_(std::move(name)), chunks_(std::move(chunks)), file_(directory + "/" + name_) {
  const std::string header = HeaderOf(chunks_);
  file_.Append(header);
  bytes_ = chunk_begin_ = static_cast<int64_t>(header.size());
  entries_.files[name_] = {0, bytes_, XXH64(header.data(), header.size(), 0)};
}

void RankFileWriter::Append(std::string_view bytes) {
  file_.Append(bytes);
  bytes_ += static_cast<int64_t>(bytes.size());
  for (; !bytes.empty(); bytes.remove_prefix(std::min<size_t>(bytes.size(), kBlockBytes))) {
    const std::string_view block = bytes.substr(0, kBlockBytes);
    checksums_.push_back(XXH64(block.data(), block.size(), 0));
  }
  if (bytes_ - chunk_begin_ == BytesOf(chunks_.at(chunk_))) FinishChunk();
}

void RankFileWriter::FinishChunk() {
  const PlannedChunk& chunk = chunks_[chunk_++];
  StoredTensor& tensor = entries_.tensors[chunk.name];
  tensor.dtype = chunk.dtype;
  tensor.shape = chunk.global_shape;
  tensor.chunks.push_back({chunk.box, name_, chunk_begin_, bytes_, std::exchange(checksums_, {})});
  chunk_begin_ = bytes_;
}

Entries RankFileWriter::Finish() {
  file_.Finish();
  entries_.files[name_].bytes = bytes_;
  return std::move(entries_);
}

Entries WriteRankFile(const std::string& directory, int rank,
                      const std::vector<TensorChunk>& chunks,
                      const std::function<void()>& before_block) {
  const std::vector<const TensorChunk*> order = WidestFirst(chunks);
  std::vector<PlannedChunk> plan;
  for (const TensorChunk* chunk : order) {
    plan.push_back({chunk->name,
                    StoredType(*chunk),
                    chunk->global_shape,
                    {chunk->offset, chunk->tensor.sizes().vec()}});
  }
  const std::unique_ptr<float[]> buffer(new float[kBlockBytes / sizeof(float)]);
  RankFileWriter file(directory, RankDataName(rank), std::move(plan));
  for (const TensorChunk* chunk : order) {
    const int64_t bytes = StoredBytes(*chunk);
    for (int64_t begin = 0; begin < bytes; begin += kBlockBytes) {
      if (before_block) before_block();
      file.Append(StoredBytesOf(*chunk, begin, std::min(begin + kBlockBytes, bytes), buffer.get()));
    }
  }
  return file.Finish();
}

}  // namespace trainyard::trainer
