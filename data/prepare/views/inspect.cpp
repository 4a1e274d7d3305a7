#include "data/prepare/views/inspect.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "data/documents/json_line.h"
#include "data/prepare/command/block_pass.h"
#include "data/prepare/command/job.h"
#include "data/prepare/command/length_histogram.h"
#include "data/prepare/splits/split_hash.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

constexpr size_t kSampleDocuments = 3;
constexpr size_t kShownBytes = 240;
constexpr size_t kBadLinesShown = 10;
// Objects whose keys are data, such as addresses, can have any number of fields.
constexpr size_t kFieldsMax = 1000;
constexpr size_t kKeyBytesMax = 200;
// The seed of prepare's sample is 1, that of the splits 0.
constexpr uint64_t kSampleSeed = 2;

using TypeCounts = std::array<int64_t, kJsonTypes>;

struct PartFacts {
  int64_t bytes = 0;
  bool ends_document = false;
};

// The facts of one block.
struct BlockFacts {
  std::vector<PartFacts> parts;
  std::map<std::string, TypeCounts, std::less<>> fields;
  std::vector<SampleDocument> sample;  // those with the smallest hashes, in the order of the input
};

// Returns at most `bytes_max` bytes, without a part of a character.
std::string_view FirstCharacters(std::string_view text, size_t bytes_max) {
  size_t end = std::min(text.size(), bytes_max);
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) {
    --end;
  }
  return text.substr(0, end);
}

// Keeps the documents with the smallest hashes. Keeps only the first one of equal documents.
void AddToSample(SampleDocument document, std::vector<SampleDocument>* sample) {
  const auto less = [](const SampleDocument& a, const SampleDocument& b) {
    return a.hash < b.hash;
  };
  for (const SampleDocument& other : *sample) {
    if (other.hash == document.hash) return;
  }
  sample->push_back(std::move(document));
  if (sample->size() <= kSampleDocuments) return;
  sample->erase(std::max_element(sample->begin(), sample->end(), less));
}

void InspectPart(const TextPart& part, BlockFacts* facts) {
  facts->parts.push_back({static_cast<int64_t>(part.text.size()), part.ends_document});
  if (!part.begins_document || part.text.empty()) return;
  const uint64_t hash = HashOf(part.text, kSampleSeed);
  const auto is_larger = [hash](const SampleDocument& other) { return other.hash > hash; };
  const bool is_full = facts->sample.size() == kSampleDocuments;
  if (is_full && std::none_of(facts->sample.begin(), facts->sample.end(), is_larger)) return;
  AddToSample({hash, std::string(FirstCharacters(part.text, kShownBytes))}, &facts->sample);
}

void InspectField(std::string_view key, JsonType type, BlockFacts* facts) {
  key = FirstCharacters(key, kKeyBytesMax);
  auto found = facts->fields.find(key);
  if (found == facts->fields.end()) {
    found = facts->fields.emplace(std::string(key), TypeCounts{}).first;
  }
  ++found->second[static_cast<size_t>(type)];
}

// Adds up the blocks, in the order of the input.
class InspectTotals {
 public:
  explicit InspectTotals(InspectResult* result) : result_(*result) {}

  void Add(const BlockFacts& facts) {
    for (const PartFacts& part : facts.parts) AddPart(part);
    for (const auto& [count, key] : ByCount(facts.fields)) AddField(*key, facts.fields.at(*key));
    for (const SampleDocument& document : facts.sample) AddToSample(document, &result_.sample);
  }

  void Finish() {
    result_.documents = lengths_.total();
    result_.p50 = lengths_.Percentile(0.5);
    result_.p90 = lengths_.Percentile(0.9);
    result_.max = lengths_.max();
    std::stable_sort(
        result_.fields.begin(), result_.fields.end(),
        [](const FieldSummary& a, const FieldSummary& b) { return a.count > b.count; });
  }

 private:
  using Fields = std::map<std::string, TypeCounts, std::less<>>;

  // Returns the fields of a block, the most frequent first, so that these are kept if there are too
  // many.
  static std::vector<std::pair<int64_t, const std::string*>> ByCount(const Fields& fields) {
    std::vector<std::pair<int64_t, const std::string*>> counts;
    for (const auto& [key, types] : fields) {
      counts.emplace_back(std::accumulate(types.begin(), types.end(), int64_t{0}), &key);
    }
    std::stable_sort(counts.begin(), counts.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    return counts;
  }

  void AddPart(const PartFacts& part) {
    document_bytes_ += part.bytes;
    result_.bytes += part.bytes;
    if (!part.ends_document) return;
    if (document_bytes_ == 0) {
      ++result_.empty;
    } else {
      lengths_.Add(document_bytes_);
    }
    document_bytes_ = 0;
  }

  void AddField(const std::string& key, const TypeCounts& types) {
    const auto [found, is_new] = fields_.emplace(key, result_.fields.size());
    if (is_new && result_.fields.size() < kFieldsMax) result_.fields.push_back({key, 0, {}});
    const bool is_kept = found->second < result_.fields.size();
    if (!is_kept) fields_.erase(found);
    for (size_t type = 0; type < types.size(); ++type) {
      (is_kept ? result_.fields[found->second].count : result_.other_fields) += types[type];
      if (is_kept) result_.fields[found->second].types[type] += types[type];
    }
  }

  InspectResult& result_;
  LengthHistogram lengths_;
  int64_t document_bytes_ = 0;                      // of the present document
  std::unordered_map<std::string, size_t> fields_;  // indices into result_.fields
};

const char* NameOf(InputKind kind) {
  switch (kind) {
    case InputKind::kPod:
      return "pod";
    case InputKind::kJsonLines:
      return "jsonl";
    case InputKind::kParquet:
      return "parquet";
    default:
      return "text";
  }
}

const char* NameOf(Compression compression) {
  switch (compression) {
    case Compression::kGzip:
      return "gzip";
    case Compression::kZstd:
      return "zstd";
    default:
      return "";
  }
}

std::vector<KindSummary> KindsOf(const std::vector<InputFile>& files) {
  std::map<std::pair<InputKind, Compression>, KindSummary> kinds;
  for (const InputFile& file : files) {
    KindSummary& summary = kinds[{file.kind, file.compression}];
    summary.kind = NameOf(file.kind);
    summary.compression = NameOf(file.compression);
    ++summary.files;
    summary.bytes += file.bytes;
  }
  std::vector<KindSummary> list;
  for (auto& [key, summary] : kinds) list.push_back(std::move(summary));
  return list;
}

}  // namespace

absl::StatusOr<InspectResult> InspectFiles(const InspectOptions& options, Progress* progress,
                                           const std::atomic<bool>& cancelled) {
  PodTexts pods;
  TRAINYARD_ASSIGN_OR_RETURN(const Job job, Job::Create(options, progress, cancelled, &pods));
  InspectResult result;
  result.kinds = KindsOf(job.files);
  InspectTotals totals(&result);
  BadLineLog log({.stop = false, .max_fraction = 1});
  progress->Start("inspecting", job.bytes);
  TRAINYARD_RETURN_IF_ERROR(ForEachPart<BlockFacts>(
      job, {}, &log, [](int, const TextPart& part, BlockFacts* facts) { InspectPart(part, facts); },
      [&](const PassedBlock&, const BlockFacts& facts) {
        totals.Add(facts);
        return absl::OkStatus();
      },
      InspectField));
  progress->Stop();
  totals.Finish();
  result.lines = log.lines();
  result.bad = log.bad();
  result.repaired = log.repaired();
  result.bad_kinds = log.Kinds();
  result.bad_lines = log.Examples(kBadLinesShown);
  return result;
}

}  // namespace trainyard::data
