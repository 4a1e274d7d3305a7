// Fuzzes the reader of Parquet files. Every file must give an error or rows that are inside of its
// pages and dictionaries.
#include <string>
#include <vector>

#include "data/documents/block_decoder.h"
#include "data/input/block_reader.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/memory_file.h"

namespace trainyard::data {
namespace {

// Hostile files can have few bytes and many rows.
constexpr size_t kBlocksMax = 100;

absl::Status ReadAll(const InputFile& file) {
  const std::vector<InputFile> files = {file};
  BlockReader reader(files);
  PodTexts pods;
  BlockDecoder decoder({}, &pods);
  for (size_t blocks = 0; blocks < kBlocksMax; ++blocks) {
    RawBlock block;
    const absl::StatusOr<bool> more = reader.Next(&block);
    if (!more.ok() || !*more) return more.status();
    if (const absl::Status loaded = LoadBlock(&block); !loaded.ok()) return loaded;
    size_t bytes = 0;
    const auto lines =
        decoder.Decode(&block, [&bytes](const TextPart& part) { bytes += part.text.size(); });
    FUZZ_EXPECT(lines.ok());
    FUZZ_EXPECT(bytes <= static_cast<size_t>(kPageBytesMax));
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace trainyard::data

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace trainyard::data;
  static const trainyard::fuzz::MemoryFile memory;
  memory.Write(data, size);
  const absl::Status status =
      ReadAll({memory.path(), InputKind::kParquet, static_cast<int64_t>(size), Compression::kNone});
  FUZZ_EXPECT(status.ok() || status.message().find(memory.path()) != std::string_view::npos);
  return 0;
}
