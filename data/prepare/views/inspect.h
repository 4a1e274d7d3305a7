// `trainyard data inspect`: what input files contain.
#ifndef TRAINYARD_DATA_PREPARE_VIEWS_INSPECT_H_
#define TRAINYARD_DATA_PREPARE_VIEWS_INSPECT_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "data/documents/bad_lines.h"
#include "data/prepare/command/prepare_options.h"
#include "data/prepare/command/progress.h"

namespace trainyard::data {

inline constexpr size_t kJsonTypes = 6;

// Files with the same kind and compression.
struct KindSummary {
  std::string kind;         // "jsonl", "parquet", "text" or "pod"
  std::string compression;  // "", "gzip" or "zstd"
  int64_t files = 0;
  int64_t bytes = 0;  // on disk
};

// A field of the objects in JSON lines, or the column of Parquet files.
struct FieldSummary {
  std::string key;
  int64_t count = 0;
  std::array<int64_t, kJsonTypes> types{};  // by JsonType
};

struct SampleDocument {
  uint64_t hash = 0;
  std::string text;  // the first bytes
};

struct InspectResult {
  std::vector<KindSummary> kinds;
  int64_t documents = 0;  // with text
  int64_t empty = 0;      // documents without text
  int64_t bytes = 0;      // of text
  int64_t lines = 0;      // of JSON, without blank ones, and rows of Parquet
  int64_t bad = 0;        // lines
  int64_t repaired = 0;   // lines and blocks of text with replaced bytes
  std::vector<std::pair<std::string, int64_t>> bad_kinds;
  std::vector<BadLineExample> bad_lines;  // the first ones
  std::vector<FieldSummary> fields;       // the most frequent first
  int64_t other_fields = 0;               // occurrences of fields that are not in `fields`
  int64_t p50 = 0;  // lengths of documents in bytes; p50 and p90 are up to 1 % too small
  int64_t p90 = 0;
  int64_t max = 0;
  std::vector<SampleDocument> sample;  // chosen by hash, in the order of the input
};

// Bad lines are counted and are no error. Other errors are those of PrepareData.
absl::StatusOr<InspectResult> InspectFiles(const InspectOptions& options, Progress* progress,
                                           const std::atomic<bool>& cancelled);

// The names of JsonType.
inline constexpr std::array<const char*, kJsonTypes> kJsonTypeNames = {
    "string", "number", "boolean", "null", "array", "object"};

// Return the result for the user, with a newline at the end.
std::string InspectText(const InspectResult& result);
std::string InspectJson(const InspectResult& result);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PREPARE_VIEWS_INSPECT_H_
