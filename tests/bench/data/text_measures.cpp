#include <cstdio>
#include <memory>
#include <optional>

#include "data/dedup/document_signer.h"
#include "data/filter/filter.h"
#include "data/tokenizer/load_tokenizer.h"
#include "proto/support/status_macros.h"
#include "tests/bench/data/measures.h"

namespace trainyard::data {
namespace {

constexpr size_t kColdBytes = 10'000'000;

}  // namespace

absl::Status MeasureEncoding(const std::string& tokenizer, const std::string& path) {
  TRAINYARD_ASSIGN_OR_RETURN(const BenchText text, ReadBenchText(path));
  TRAINYARD_ASSIGN_OR_RETURN(const std::unique_ptr<Tokenizer> loaded, LoadTokenizer(tokenizer, {}));
  std::vector<uint32_t> ids;
  size_t bytes = 0;
  size_t tokens = 0;
  std::optional<double> cold_seconds;
  const double begin = CpuSeconds();
  for (const std::string_view document : text.documents) {
    ids.clear();
    loaded->Encode(document, &ids);
    bytes += document.size();
    tokens += ids.size();
    if (!cold_seconds && bytes >= kColdBytes) cold_seconds = CpuSeconds() - begin;
  }
  const double seconds = CpuSeconds() - begin;
  std::printf("{\"bytes\": %zu, \"tokens\": %zu, \"seconds\": %.6f", bytes, tokens, seconds);
  if (cold_seconds) std::printf(", \"cold_mb_per_second\": %.3f", kColdBytes / *cold_seconds / 1e6);
  std::printf("}\n");
  return absl::OkStatus();
}

absl::Status MeasureRepeatedText(const std::string& tokenizer, const std::string& unit,
                                 uint64_t bytes) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::unique_ptr<Tokenizer> loaded, LoadTokenizer(tokenizer, {}));
  std::string text;
  while (text.size() < bytes) text += unit;
  std::vector<uint32_t> ids;
  const double begin = CpuSeconds();
  loaded->Encode(text, &ids);
  std::printf("{\"bytes\": %zu, \"tokens\": %zu, \"seconds\": %.6f}\n", text.size(), ids.size(),
              CpuSeconds() - begin);
  return absl::OkStatus();
}

absl::Status MeasureFilter(const std::string& rules, const std::string& path) {
  TRAINYARD_ASSIGN_OR_RETURN(const BenchText text, ReadBenchText(path));
  TRAINYARD_ASSIGN_OR_RETURN(const Filter filter, Filter::Load(rules));
  FilterWorkspace workspace;
  size_t bytes = 0;
  size_t kept = 0;
  const double begin = CpuSeconds();
  for (const std::string_view document : text.documents) {
    bytes += document.size();
    kept += filter.Judge(document, workspace).kept() ? 1 : 0;
  }
  std::printf("{\"bytes\": %zu, \"kept\": %zu, \"seconds\": %.6f}\n", bytes, kept,
              CpuSeconds() - begin);
  return absl::OkStatus();
}

absl::Status MeasureSignatures(const std::string& preset, const std::string& path) {
  TRAINYARD_ASSIGN_OR_RETURN(const BenchText text, ReadBenchText(path));
  TRAINYARD_ASSIGN_OR_RETURN(const DedupSettings settings, PresetSettings(preset, {}, ""));
  DocumentSigner signer(settings);
  size_t bytes = 0;
  uint64_t sum = 0;  // printed, so that the compiler cannot leave the work out
  const double begin = CpuSeconds();
  for (const std::string_view document : text.documents) {
    bytes += document.size();
    sum += signer.Sign(document).keys[0].low;
  }
  std::printf("{\"bytes\": %zu, \"sum\": \"%016llx\", \"seconds\": %.6f}\n", bytes,
              static_cast<unsigned long long>(sum), CpuSeconds() - begin);
  return absl::OkStatus();
}

}  // namespace trainyard::data
