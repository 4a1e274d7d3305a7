#include "trainer/checkpoint/rank_file.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "trainer/checkpoint/durable_file.h"

namespace trainyard::trainer {
namespace {

// Data starts at a multiple of this, so that a mapped file can be used in place.
constexpr size_t kAlignment = 64;

std::string_view BytesOf(const torch::Tensor& tensor) {
  return {static_cast<const char*>(tensor.data_ptr()), tensor.nbytes()};
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
    return a->tensor.element_size() > b->tensor.element_size();
  });
  return order;
}

// 8 bytes of little-endian length, then JSON padded with spaces.
std::string HeaderOf(const std::vector<const TensorChunk*>& order) {
  nlohmann::json header;
  header["__metadata__"] = {{"format", "pt"}};
  int64_t begin = 0;
  for (const TensorChunk* chunk : order) {
    const int64_t end = begin + static_cast<int64_t>(chunk->tensor.nbytes());
    header[KeyOf(*chunk)] = {{"dtype", DtypeName(chunk->tensor.scalar_type())},
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

}  // namespace

Entries WriteRankFile(const std::string& directory, int rank,
                      const std::vector<TensorChunk>& chunks) {
  const std::vector<const TensorChunk*> order = InFileOrder(chunks);
  const std::string header = HeaderOf(order);
  const std::string name = RankDataName(rank);
  Entries entries;
  std::vector<std::string_view> pieces = {header};
  int64_t begin = static_cast<int64_t>(header.size());
  for (const TensorChunk* chunk : order) {
    const std::string_view bytes = BytesOf(chunk->tensor);
    const int64_t end = begin + static_cast<int64_t>(bytes.size());
    StoredTensor& tensor = entries.tensors[chunk->name];
    tensor.dtype = chunk->tensor.scalar_type();
    tensor.shape = chunk->global_shape;
    tensor.chunks.push_back(
        {{chunk->offset, chunk->tensor.sizes().vec()}, name, begin, end, BlockChecksums(bytes)});
    pieces.push_back(bytes);
    begin = end;
  }
  entries.files[name] = {begin, static_cast<int64_t>(header.size()),
                         XXH64(header.data(), header.size(), 0)};
  WriteFileDurably(directory + "/" + name, pieces);
  return entries;
}

}  // namespace trainyard::trainer
