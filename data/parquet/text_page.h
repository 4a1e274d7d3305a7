// The values of a page of a text column.
#ifndef TRAINYARD_DATA_PARQUET_TEXT_PAGE_H_
#define TRAINYARD_DATA_PARQUET_TEXT_PAGE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/parquet/metadata.h"

namespace trainyard::data {

// The distinct values of a column in a row group.
struct TextDictionary {
  std::string bytes;
  std::vector<std::string_view> values;  // in `bytes`
};

// The rows of a data page. Not movable, because `values` refers to `bytes`.
struct TextPage {
  TextPage() = default;
  TextPage(const TextPage&) = delete;
  TextPage& operator=(const TextPage&) = delete;

  std::vector<std::optional<std::string_view>> values;  // nullopt: null
  std::string bytes;
  std::shared_ptr<const TextDictionary> dictionary;
};

struct PageSource {
  PageHeader header;
  int64_t codec = -1;
  bool is_optional = false;  // whether values can be null
};

// Limits of one page. A larger page is refused.
inline constexpr int64_t kPageBytesMax = int64_t{256} << 20;  // compressed, decompressed, and text
inline constexpr int64_t kPageValuesMax = int64_t{1} << 22;

// The next step for files that use a part of the format that is not supported.
inline constexpr char kHowToRewrite[] =
    "; write the file again, for example with Python: `import pyarrow.parquet as pq; "
    "pq.write_table(pq.read_table(FILE), NEW_FILE, compression=\"zstd\")`";

// `bytes`: the page without its header. Return InvalidArgument with the cause, without the name of
// the file, for damaged and unsupported pages. Thread-safe.
absl::StatusOr<std::shared_ptr<const TextDictionary>> DecodeDictionary(const PageSource& source,
                                                                       std::string_view bytes);
// `dictionary` may be null.
absl::StatusOr<std::shared_ptr<const TextPage>> DecodeDataPage(
    const PageSource& source, std::string_view bytes,
    std::shared_ptr<const TextDictionary> dictionary);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PARQUET_TEXT_PAGE_H_
