// Fuzzes the readers of gzip and zstd files. The first byte selects the format: g or z. The blocks
// of a file must follow each other, and must contain the same bytes for every block size.
#include <string>
#include <vector>

#include "data/input/block_reader.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/memory_file.h"

namespace trainyard::data {
namespace {

// Hostile files expand a thousand times.
constexpr size_t kTextMax = 16 << 20;

absl::StatusOr<std::string> Decompress(const InputFile& file, size_t block_bytes) {
  const std::vector<InputFile> files = {file};
  ReadLimits limits;
  limits.block_bytes = block_bytes;
  BlockReader reader(files, limits);
  std::string text;
  while (text.size() < kTextMax) {
    RawBlock block;
    const absl::StatusOr<bool> more = reader.Next(&block);
    if (!more.ok()) return more.status();
    if (!*more) return text;
    FUZZ_EXPECT(block.offset == static_cast<int64_t>(text.size()));
    text += block.bytes;
  }
  return text.substr(0, kTextMax);
}

}  // namespace
}  // namespace trainyard::data

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace trainyard::data;
  if (size == 0) return 0;
  static const trainyard::fuzz::MemoryFile memory;
  memory.Write(data + 1, size - 1);
  const Compression compression = data[0] == 'z' ? Compression::kZstd : Compression::kGzip;
  const InputFile file = {memory.path(), InputKind::kText, static_cast<int64_t>(size - 1),
                          compression};
  const auto text = Decompress(file, 1 << 20);
  const auto small = Decompress(file, 1000);
  FUZZ_EXPECT(text.ok() == small.ok());
  FUZZ_EXPECT(text.ok() ? *text == *small
                        : text.status().message().find(memory.path()) != std::string_view::npos);
  return 0;
}
