#include "data/prepare/views/report_texts.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "data/prepare/command/text_pieces.h"
#include "data/prepare/tokenizers/described_tokenizer.h"
#include "data/report/run_text.h"
#include "data/report/token_document.h"
#include "data/stages/read_run.h"
#include "data/tokens/dataset_description.h"

namespace trainyard::data {
namespace {

using nlohmann::ordered_json;

// Bounds on the texts of one step, which keep a report of usual length below 1 MiB.
constexpr size_t kReasonsWithTexts = 20;
constexpr size_t kTextsPerReason = 2;
constexpr size_t kDroppedBytesShown = 600;
constexpr size_t kMembersWithTexts = 2;
constexpr size_t kDuplicateBytesShown = 3000;
constexpr size_t kTokenizedBytesShown = 1500;
constexpr size_t kTokensDecoded = 2000;

// A file that cannot be divided into blocks is read from its start. Larger ones take too long.
constexpr int64_t kWholeFileBytesMax = int64_t{64} << 20;

// Reads documents of a run by their places.
class PlaceReader {
 public:
  explicit PlaceReader(const StoredRun& run) : run_(run) {
    for (const PlanFile& file : run.plan.files()) {
      const InputFile& input = file.input;
      const bool is_divided = input.compression == Compression::kNone && HasLines(input.kind);
      if (!is_divided && input.bytes > kWholeFileBytesMax) slow_.push_back(input.path);
    }
  }

  std::optional<RunText> Read(const std::string& place) const {
    const bool is_slow = std::any_of(slow_.begin(), slow_.end(), [&](const std::string& path) {
      return place == path || place.starts_with(path + ":");
    });
    if (is_slow) return std::nullopt;
    absl::StatusOr<RunText> text = ReadRunText(run_, place);
    return text.ok() ? std::optional(*std::move(text)) : std::nullopt;
  }

 private:
  const StoredRun& run_;
  std::vector<std::string> slow_;
};

ordered_json TextJson(const std::string& place, const std::string& text, size_t bytes_max) {
  return {{"place", place}, {"bytes", text.size()}, {"text", BeginOfText(text, bytes_max)}};
}

ordered_json DroppedTexts(const StepReport& step, const PlaceReader& reader) {
  ordered_json list = ordered_json::array();
  for (size_t i = 0; i < std::min(step.dropped.size(), kReasonsWithTexts); ++i) {
    const StepDrop& drop = step.dropped[i];
    for (size_t j = 0; j < std::min(drop.samples.size(), kTextsPerReason); ++j) {
      const std::optional<RunText> read = reader.Read(drop.samples[j]);
      if (!read) continue;
      ordered_json json = {{"reason", drop.reason}, {"verdict", read->reason}};
      json.update(TextJson(drop.samples[j], read->text, kDroppedBytesShown));
      list.push_back(std::move(json));
    }
  }
  return list;
}

// The members of a cluster that are least like the kept document.
std::vector<ordered_json> LeastSimilar(const ordered_json& cluster) {
  std::vector<ordered_json> members;
  for (const ordered_json& member : cluster.at("members")) members.push_back(member);
  std::stable_sort(members.begin(), members.end(), [](const auto& a, const auto& b) {
    return a.at("similarity").template get<double>() < b.at("similarity").template get<double>();
  });
  if (members.size() > kMembersWithTexts) members.resize(kMembersWithTexts);
  return members;
}

// Throws the exceptions of nlohmann::json for details in another form.
ordered_json ClusterTexts(const ordered_json& largest, const PlaceReader& reader) {
  ordered_json list = ordered_json::array();
  for (size_t i = 0; i < largest.size(); ++i) {
    const std::string kept = largest[i].at("kept");
    const std::optional<RunText> read = reader.Read(kept);
    if (!read) continue;
    ordered_json members = ordered_json::array();
    for (const ordered_json& member : LeastSimilar(largest[i])) {
      const std::string place = member.at("id");
      const std::optional<RunText> like = reader.Read(place);
      if (!like) continue;
      ordered_json json = TextJson(place, like->text, kDuplicateBytesShown);
      json["similarity"] = member.at("similarity");
      members.push_back(std::move(json));
    }
    list.push_back({{"cluster", i},
                    {"kept", TextJson(kept, read->text, kDuplicateBytesShown)},
                    {"members", std::move(members)}});
  }
  return list;
}

// Numbers of up to three kept documents: the first ones of the first, middle and last block,
// because a part is read from its start. If there are fewer blocks, the first documents of the run.
std::vector<int64_t> SampledNumbers(const StoredRun& run) {
  std::vector<int64_t> firsts;
  int64_t kept = 0;
  for (const auto& [block, record] : run.records) {
    if (record.counts.documents_out > 0) firsts.push_back(kept + 1);
    kept += record.counts.documents_out;
  }
  if (firsts.size() >= 3) return {firsts.front(), firsts[firsts.size() / 2], firsts.back()};
  std::vector<int64_t> numbers;
  for (int64_t number = 1; number <= std::min<int64_t>(kept, 3); ++number) {
    numbers.push_back(number);
  }
  return numbers;
}

// Texts of some documents that a run has kept.
ordered_json KeptTexts(const StepReport& step) {
  ordered_json list = ordered_json::array();
  const absl::StatusOr<StoredRun> run = ReadRun(step.directory);
  if (!run.ok()) return list;
  const PlaceReader reader(*run);
  for (const int64_t number : SampledNumbers(*run)) {
    const std::string name = "kept:" + std::to_string(number);
    const std::optional<RunText> read = reader.Read(name);
    if (read) list.push_back(TextJson(name, read->text, kTokenizedBytesShown));
  }
  return list;
}

// The text of the first document of token files.
ordered_json FirstTokenText(const StepReport& step) {
  ordered_json list = ordered_json::array();
  const auto description = ReadDescription(step.directory);
  const auto tokenizer_json = ReadTokenizerDescription(step.directory);
  if (!description.ok() || !tokenizer_json.ok()) return list;
  const auto tokenizer = LoadDescribed(step.directory, *tokenizer_json);
  auto document = FindTokenDocument(step.directory, *description, "train:1");
  if (!tokenizer.ok() || !document.ok()) return list;
  if (document->ids.size() > kTokensDecoded) document->ids.resize(kTokensDecoded);
  list.push_back(TextJson("train:1", (*tokenizer)->Decode(document->ids), kTokenizedBytesShown));
  return list;
}

ordered_json SampleTexts(const ChainReport& report) {
  for (auto step = report.steps.rbegin(); step != report.steps.rend(); ++step) {
    if (step->splits.empty()) return KeptTexts(*step);
  }
  return FirstTokenText(report.steps.back());
}

ordered_json TokenizerPieces(const ReportTokenizer& named, const std::string& text) {
  const TextPieces pieces = PiecesOf(*named.tokenizer, named.source, text);
  const size_t tokens = std::max<size_t>(pieces.ids.size(), 1);
  ordered_json json = {
      {"tokenizer", named.source},
      {"name", pieces.name},
      {"tokens", pieces.ids.size()},
      {"bytes_per_token", static_cast<double>(text.size()) / static_cast<double>(tokens)},
      {"normalized_text", nullptr},
      {"ids", pieces.ids},
      {"ends", pieces.ends}};
  if (pieces.text != text) json["normalized_text"] = pieces.text;
  return json;
}

}  // namespace

ordered_json TextsOfStep(const StepReport& step) {
  if (!step.splits.empty()) return nullptr;
  const absl::StatusOr<StoredRun> run = ReadRun(step.directory);
  if (!run.ok()) return nullptr;
  const PlaceReader reader(*run);
  ordered_json texts = {{"dropped", DroppedTexts(step, reader)},
                        {"clusters", ordered_json::array()}};
  if (!step.details.is_object() || !step.details.contains("largest")) return texts;
  // Catches the exceptions of the JSON library for details of another release.
  try {
    texts["clusters"] = ClusterTexts(step.details.at("largest"), reader);
  } catch (const nlohmann::json::exception&) {
    texts["clusters"] = ordered_json::array();
  }
  return texts;
}

ordered_json TokenizedTexts(const ChainReport& report,
                            const std::vector<ReportTokenizer>& tokenizers) {
  ordered_json list = SampleTexts(report);
  for (ordered_json& sample : list) {
    ordered_json pieces = ordered_json::array();
    for (const ReportTokenizer& named : tokenizers) {
      pieces.push_back(TokenizerPieces(named, sample.at("text").get<std::string>()));
    }
    sample["tokenizers"] = std::move(pieces);
  }
  return list;
}

}  // namespace trainyard::data
