#include "cli/output/datasets/dataset_view.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/output/terminal/readable.h"

namespace trainyard::cli {
namespace {

using nlohmann::json;

// Reasons that are shown per step. They are in descending order of documents.
constexpr std::size_t kReasonsShown = 20;

const json& At(const json& object, const char* key) {
  static const json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(key);
  return found == object.end() ? kNull : *found;
}

// Returns an empty array if the key is missing or has another type.
const json& ListAt(const json& object, const char* key) {
  static const json kEmpty = json::array();
  const json& list = At(object, key);
  return list.is_array() ? list : kEmpty;
}

std::string TextAt(const json& object, const char* key) {
  const json& value = At(object, key);
  return value.is_string() ? OneLine(value.get<std::string>()) : "";
}

int64_t NumberAt(const json& object, const char* key) {
  const json& value = At(object, key);
  return value.is_number_integer() ? value.get<int64_t>() : 0;
}

std::string ShareText(int64_t part, int64_t whole) {
  if (whole <= 0) return kNothing;
  return absl::StrFormat("%.2f %%", 100 * static_cast<double>(part) / static_cast<double>(whole));
}

// A row of documents. `of`: the number of documents that are 100 %.
struct DocumentCount {
  int64_t documents = 0;
  int64_t bytes = 0;
  int64_t of = 0;
};

Row RowOf(const std::string& name, const DocumentCount& count, const std::string& note) {
  Row row;
  row.name = name;
  row.cells = {name, absl::StrCat(count.documents), BytesText(count.bytes),
               ShareText(count.documents, count.of), TextOrNothing(note)};
  row.exact_cells = {name, absl::StrCat(count.documents), absl::StrCat(count.bytes),
                     ShareText(count.documents, count.of), note};
  return row;
}

void AddRun(const json& step, Listing& listing) {
  const json& run = At(step, "run");
  const int64_t of = NumberAt(run, "documents_in");
  listing.rows.push_back(RowOf(TextAt(step, "name"),
                               {NumberAt(run, "documents_out"), NumberAt(run, "bytes_out"), of},
                               TextAt(step, "directory")));
  const json& dropped = ListAt(run, "dropped");
  for (std::size_t i = 0; i < dropped.size() && i < kReasonsShown; ++i) {
    const json& drop = dropped[i];
    const json& samples = ListAt(drop, "samples");
    const std::string sample =
        !samples.empty() && samples[0].is_string() ? samples[0].get<std::string>() : "";
    listing.rows.push_back(RowOf(absl::StrCat("- ", TextAt(drop, "reason")),
                                 {NumberAt(drop, "documents"), NumberAt(drop, "bytes"), of},
                                 sample.empty() ? "" : absl::StrCat("first ", OneLine(sample))));
  }
}

void AddTokenFiles(const json& step, Listing& listing) {
  for (const json& split : ListAt(At(step, "tokens"), "splits")) {
    std::string note =
        absl::StrCat(CompactNumber(static_cast<double>(NumberAt(split, "tokens"))), " tokens");
    const json& rate = At(split, "bytes_per_token");
    if (rate.is_number()) {
      absl::StrAppend(&note, ", ", absl::StrFormat("%.2f", rate.get<double>()), " bytes per token");
    }
    listing.rows.push_back(RowOf(absl::StrCat(TextAt(step, "name"), " ", TextAt(split, "name")),
                                 {NumberAt(split, "documents"), NumberAt(split, "bytes"), 0},
                                 note));
  }
}

}  // namespace

Listing DatasetListing(const json& report) {
  Listing listing;
  listing.columns = {{"STEP"}, {"DOCUMENTS", true}, {"TEXT", true}, {"OF INPUT", true}, {"NOTE"}};
  for (const json& step : ListAt(report, "steps")) {
    if (At(step, "tokens").is_object()) {
      AddTokenFiles(step, listing);
    } else {
      AddRun(step, listing);
    }
  }
  return listing;
}

std::vector<std::string> DatasetProblems(const json& report) {
  std::vector<std::string> problems;
  for (const json& step : ListAt(report, "steps")) {
    for (const json& problem : ListAt(step, "problems")) {
      if (problem.is_string()) problems.push_back(problem.get<std::string>());
    }
  }
  return problems;
}

}  // namespace trainyard::cli
