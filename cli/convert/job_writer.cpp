#include "cli/convert/job_writer.h"

#include <algorithm>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"

namespace trainyard::cli {
namespace {

// The beginning of the keys of labels. Only this map is inside a section.
constexpr char kLabels[] = "placement.labels.";

const std::vector<std::string>& SectionOrder() {
  static const std::vector<std::string> order = {
      "resources",  "placement", "launch",     "layout",   "model",
      "data",       "train",     "optimizer",  "schedule", "evaluation",
      "checkpoint", "restart",   "log_parser", "env",      "matrix"};
  return order;
}

// True for text that YAML reads unchanged without quotes, even inside a list.
bool IsPlainScalar(const std::string& text) {
  const auto is_plain = [](unsigned char byte) {
    return std::isalnum(byte) != 0 || absl::StrContains("_./+-=@ ", static_cast<char>(byte));
  };
  const bool begins_well = std::isalnum(static_cast<unsigned char>(text.front())) != 0 ||
                           text.front() == '/' || text.front() == '.' || text.front() == '_' ||
                           text.front() == '-';
  return begins_well && text.back() != ' ' && text != "-" && text != "---" && text != "..." &&
         !absl::StartsWith(text, "- ") && std::all_of(text.begin(), text.end(), is_plain);
}

// Quotes as JSON, because a JSON string is a valid YAML string in double quotes.
std::string ScalarText(const std::string& text) {
  if (!text.empty() && IsPlainScalar(text)) return text;
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string ValueText(const JobDraft::Setting& setting) {
  if (!setting.is_list) return ScalarText(setting.values.front());
  return absl::StrCat("[",
                      absl::StrJoin(setting.values, ", ",
                                    [](std::string* out, const std::string& value) {
                                      out->append(ScalarText(value));
                                    }),
                      "]");
}

std::string SectionOf(const std::string& key) {
  const size_t dot = key.find('.');
  return dot == std::string::npos ? "" : key.substr(0, dot);
}

}  // namespace

std::string JobFileOf(const JobDraft& draft, const std::string& name) {
  std::string text = absl::StrCat("name: ", ScalarText(name), "\n");
  for (const auto& [key, setting] : draft.settings()) {
    if (SectionOf(key).empty()) absl::StrAppend(&text, key, ": ", ValueText(setting), "\n");
  }
  for (const std::string& section : SectionOrder()) {
    std::string lines;
    std::vector<std::string> labels;
    for (const auto& [key, setting] : draft.settings()) {
      if (SectionOf(key) != section) continue;
      if (absl::StartsWith(key, kLabels)) {
        labels.push_back(
            absl::StrCat(ScalarText(key.substr(sizeof(kLabels) - 1)), ": ", ValueText(setting)));
        continue;
      }
      absl::StrAppend(&lines, "  ", ScalarText(key.substr(section.size() + 1)), ": ",
                      ValueText(setting), "\n");
    }
    if (!labels.empty()) absl::StrAppend(&lines, "  labels: {", absl::StrJoin(labels, ", "), "}\n");
    if (!lines.empty()) absl::StrAppend(&text, section, ":\n", lines);
  }
  return text;
}

}  // namespace trainyard::cli
