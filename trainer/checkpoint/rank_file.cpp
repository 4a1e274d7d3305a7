#include "trainer/checkpoint/rank_file.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "trainer/checkpoint/durable_file.h"
#include "trainer/ops/master_weights.h"

namespace trainyard::trainer {
namespace {

// Data starts at a multiple of this, so that a mapped file can be used in place.
constexpr size_t kAlignment = 64;

// Stored bytes [begin, end) of the chunk. `buffer` has kBlockBytes for bytes that have to be made.
std::string_view BytesOf(const TensorChunk& chunk, int64_t begin, int64_t end, float* buffer) {
  const auto bytes = static_cast<size_t>(end - begin);
  if (!chunk.low_bits.defined()) {
    return {static_cast<const char*>(chunk.tensor.data_ptr()) + begin, bytes};
  }
  const int64_t first = begin / static_cast<int64_t>(sizeof(float));
  JoinMasterWeights(static_cast<const uint16_t*>(chunk.tensor.data_ptr()) + first,
             chunk.low_bits.data_ptr<int16_t>() + first, (end - begin) / sizeof(float), buffer);
  return {reinterpret_cast<const char*>(buffer), bytes};
}

std::string KeyOf(const TensorChunk& chunk) {
  if (chunk.tensor.sizes().vec() == chunk.global_shape) return chunk.name;
  std::string key = chunk.name;
  for (size_t d = 0; d < chunk.offset.size(); ++d) {
    key += (d == 0 ? "@" : ",") + std::to_string(chunk.offset[d]);
  }
  return key;
}

// The format wants tensors back to back: widest elements first keeps each aligned to its own size.
std::vector<const TensorChunk*> InFileOrder(const std::vector<TensorChunk>& chunks) {
  std::vector<const TensorChunk*> order;
  for (const TensorChunk& chunk : chunks) order.push_back(&chunk);
  std::stable_sort(order.begin(), order.end(), [](const TensorChunk* a, const TensorChunk* b) {
    return c10::elementSize(StoredType(*a)) > c10::elementSize(StoredType(*b));
  });
  return order;
}

// 8 bytes of little-endian length, then JSON padded with spaces.
std::string HeaderOf(const std::vector<const TensorChunk*>& order) {
  nlohmann::json header;
  header["__metadata__"] = {{"format", "pt"}};
  int64_t begin = 0;
  for (const TensorChunk* chunk : order) {
    const int64_t end = begin + StoredBytes(*chunk);
    header[KeyOf(*chunk)] = {{"dtype", DtypeName(StoredType(*chunk))},
                             {"shape", chunk->tensor.sizes().vec()},
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

// Writes the chunk and returns the checksum of each block.
std::vector<uint64_t> WriteBlocks(const TensorChunk& chunk, float* buffer,
                                  DurableFileWriter* file) {
  std::vector<uint64_t> checksums;
  const int64_t bytes = StoredBytes(chunk);
  for (int64_t begin = 0; begin < bytes; begin += kBlockBytes) {
    const std::string_view block =
        BytesOf(chunk, begin, std::min(begin + kBlockBytes, bytes), buffer);
    checksums.push_back(XXH64(block.data(), block.size(), 0));
    file->Append(block);
  }
  return checksums;
}

}  // namespace

Entries WriteRankFile(const std::string& directory, int rank,
                      const std::vector<TensorChunk>& chunks) {
  const std::vector<const TensorChunk*> order = InFileOrder(chunks);
  const std::string header = HeaderOf(order);
  const std::string name = RankDataName(rank);
  const std::unique_ptr<float[]> buffer(new float[kBlockBytes / sizeof(float)]);
  DurableFileWriter file(directory + "/" + name);
  file.Append(header);
  Entries entries;
  int64_t begin = static_cast<int64_t>(header.size());
  for (const TensorChunk* chunk : order) {
    const int64_t end = begin + StoredBytes(*chunk);
    StoredTensor& tensor = entries.tensors[chunk->name];
    tensor.dtype = StoredType(*chunk);
    tensor.shape = chunk->global_shape;
    const Box box = {chunk->offset, chunk->tensor.sizes().vec()};
    tensor.chunks.push_back({box, name, begin, end, WriteBlocks(*chunk, buffer.get(), &file)});
    begin = end;
  }
  entries.files[name] = {begin, static_cast<int64_t>(header.size()),
                         XXH64(header.data(), header.size(), 0)};
  file.Finish();
  return entries;
}

}  // namespace trainyard::trainer
