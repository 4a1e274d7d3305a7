// The measurements of trainyard-bench-data. Each one prints a line of JSON.
#ifndef TRAINYARD_TESTS_BENCH_DATA_MEASURES_H_
#define TRAINYARD_TESTS_BENCH_DATA_MEASURES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace trainyard::data {

// CPU time of the process in seconds.
double CpuSeconds();

// The documents of a file, which are separated by NUL.
struct BenchText {
  std::string bytes;
  std::vector<std::string_view> documents;  // parts of `bytes`
};
absl::StatusOr<BenchText> ReadBenchText(const std::string& path);

// Encodes all documents once with a newly loaded tokenizer. The time for the first 10 MB, in which
// the caches are empty, is also reported.
absl::Status MeasureEncoding(const std::string& tokenizer, const std::string& path);

// Encodes one document that repeats `unit` up to `bytes`.
absl::Status MeasureRepeatedText(const std::string& tokenizer, const std::string& unit,
                                 uint64_t bytes);

// Applies the rules of `trainyard data filter` to all documents.
absl::Status MeasureFilter(const std::string& rules, const std::string& path);

// Computes the signatures and band keys of all documents.
absl::Status MeasureSignatures(const std::string& preset, const std::string& path);

struct PlantedDocuments {
  uint64_t documents = 0;
  double copies = 0;    // fraction of documents that are near duplicates of an earlier one
  uint64_t bucket = 0;  // number of the documents that are equal
};

// From generated signatures to the decision for each document: writes band keys and signatures into
// a new scratch directory below `directory`, sorts the keys and decides.
absl::Status MeasureBands(const PlantedDocuments& planted, int threads,
                          const std::string& directory);

// Counts the distinct GPT-2 pieces of a file after 1, 2, 5, 10, 20, ... MB.
absl::Status MeasureGrowth(const std::string& path);

// Writes `bytes` of generated text to standard output. Distinct words grow as in the text of a
// Debian machine. Equal seeds give equal text.
absl::Status WriteGeneratedText(uint64_t bytes, uint64_t seed);

}  // namespace trainyard::data

#endif  // TRAINYARD_TESTS_BENCH_DATA_MEASURES_H_
