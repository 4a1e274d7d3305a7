#include "cli/recipes/sweep_file.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace trainyard::cli {
namespace {

using nlohmann::json;

namespace key {
constexpr char kVersion[] = "sweep";
constexpr char kDevice[] = "device";
constexpr char kSteps[] = "steps";
constexpr char kLayouts[] = "layouts";
constexpr char kDate[] = "date";
constexpr char kData[] = "data";
constexpr char kRuns[] = "runs";
constexpr char kSettings[] = "settings";
constexpr char kSpec[] = "spec";
constexpr char kFailure[] = "failure";
constexpr char kMetrics[] = "metrics";
}  // namespace key

constexpr int64_t kThisVersion = 1;
// Enough for the largest value of `tune --runs`, plus runs with other attention implementations.
constexpr size_t kRunsMax = 200;

absl::Status NoSweep(const std::string& path, absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": ", what,
                   "\n`trainyard tune RECIPE --sweep FILE --device NAME` writes "
                   "a sweep, and tests/gpu/sweep.py measures it"));
}

std::string StringAt(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

int64_t NumberAt(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<int64_t>() : 0;
}

// Ignores values that are not finite numbers. Non-finite losses are written as null.
std::vector<double> ValuesOf(const json& list) {
  std::vector<double> values;
  for (const json& value : list) {
    if (value.is_number() && std::isfinite(value.get<double>())) values.push_back(value);
  }
  return values;
}

// True for a date. Other text must be rejected, because the date is copied into comments, where a
// line end would start a new line.
bool IsDate(const std::string& text) {
  constexpr absl::string_view kForm = "dddd-dd-dd";
  return std::ranges::equal(text, kForm, [](char c, char form) {
    return form == 'd' ? absl::ascii_isdigit(static_cast<unsigned char>(c)) : c == form;
  });
}

SweepRun RunOf(const json& object) {
  SweepRun run;
  run.settings = StringAt(object, key::kSettings);
  if (const auto spec = object.find(key::kSpec); spec != object.end()) run.spec = *spec;
  run.failure = StringAt(object, key::kFailure);
  const auto metrics = object.find(key::kMetrics);
  if (metrics != object.end() && metrics->is_object()) {
    for (const auto& [name, list] : metrics->items()) {
      if (list.is_array()) run.metrics[name] = ValuesOf(list);
    }
  }
  if (run.metrics.empty() && run.failure.empty()) run.failure = "this run was not measured";
  return run;
}

absl::StatusOr<Sweep> Parse(const json& root, const std::string& path) {
  if (!root.is_object() || NumberAt(root, key::kVersion) != kThisVersion) {
    return NoSweep(path, "not a sweep that this version of trainyard can read");
  }
  Sweep sweep;
  sweep.device = StringAt(root, key::kDevice);
  sweep.steps = NumberAt(root, key::kSteps);
  sweep.layouts = NumberAt(root, key::kLayouts);
  sweep.date = StringAt(root, key::kDate);
  if (!sweep.date.empty() && !IsDate(sweep.date)) return NoSweep(path, "`date` is not a date");
  sweep.data = StringAt(root, key::kData);
  const auto runs = root.find(key::kRuns);
  const bool has_runs =
      runs != root.end() && runs->is_array() && !runs->empty() && runs->size() <= kRunsMax;
  if (sweep.device.empty() || sweep.steps < 1 || sweep.layouts < 2 || !has_runs) {
    return NoSweep(path, "`device`, `steps`, `layouts` or `runs` is missing or invalid");
  }
  for (const json& run : *runs) {
    if (!run.is_object()) return NoSweep(path, "a run is not an object");
    sweep.runs.push_back(RunOf(run));
  }
  const bool is_measured =
      std::ranges::any_of(sweep.runs, [](const SweepRun& run) { return !run.metrics.empty(); });
  if (!is_measured) return NoSweep(path, "no run in the file was measured");
  return sweep;
}

}  // namespace

std::string SweepText(const Sweep& sweep) {
  json runs = json::array();
  for (const SweepRun& run : sweep.runs) {
    runs.push_back({{key::kSettings, run.settings}, {key::kSpec, run.spec}});
  }
  const json root = {{key::kVersion, kThisVersion},
                     {key::kDevice, sweep.device},
                     {key::kSteps, sweep.steps},
                     {key::kLayouts, sweep.layouts},
                     {key::kRuns, std::move(runs)}};
  return root.dump(1) + "\n";
}

absl::StatusOr<Sweep> ReadSweep(const std::string& path) {
  std::error_code error;
  std::ifstream file(path, std::ios::binary);
  if (!file || !std::filesystem::is_regular_file(path, error)) {
    return NoSweep(path, "cannot be opened");
  }
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const json root = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (root.is_discarded()) return NoSweep(path, "not JSON");
  return Parse(root, path);
}

}  // namespace trainyard::cli
