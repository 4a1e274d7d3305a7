#include "cli/convert/job_writer.h"

#include <algorithm>
#include <utility>
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

struct WrittenLine {
  std::string text;
  std::string origin;  // Empty for the name of a section.
};

std::vector<WrittenLine> LinesOf(const JobDraft& draft, const std::string& section) {
  std::vector<WrittenLine> lines;
  std::vector<std::string> labels;
  std::string labels_origin;
  for (const auto& [key, setting] : draft.settings()) {
    if (SectionOf(key) != section) continue;
    if (section.empty()) {
      lines.push_back({absl::StrCat(key, ": ", ValueText(setting)), setting.origin});
    } else if (absl::StartsWith(key, kLabels)) {
      labels.push_back(
          absl::StrCat(ScalarText(key.substr(sizeof(kLabels) - 1)), ": ", ValueText(setting)));
      labels_origin = setting.origin;
    } else {
      lines.push_back(
          {absl::StrCat("  ", ScalarText(key.substr(section.size() + 1)), ": ", ValueText(setting)),
           setting.origin});
    }
  }
  if (!labels.empty()) {
    lines.push_back({absl::StrCat("  labels: {", absl::StrJoin(labels, ", "), "}"), labels_origin});
  }
  return lines;
}

std::vector<WrittenLine> AllLinesOf(const JobDraft& draft, const std::string& name,
                                    const std::string& name_origin) {
  std::vector<WrittenLine> all = {{absl::StrCat("name: ", ScalarText(name)), name_origin}};
  const auto append = [&](std::vector<WrittenLine> lines) {
    all.insert(all.end(), lines.begin(), lines.end());
  };
  append(LinesOf(draft, ""));
  for (const std::string& section : SectionOrder()) {
    std::vector<WrittenLine> lines = LinesOf(draft, section);
    if (lines.empty()) continue;
    all.push_back({section + ":", ""});
    append(std::move(lines));
  }
  return all;
}

}  // namespace

std::string JobFileOf(const JobDraft& draft, const std::string& name) {
  std::string text;
  for (const WrittenLine& line : AllLinesOf(draft, name, "")) {
    absl::StrAppend(&text, line.text, "\n");
  }
  return text;
}

std::string ExplainedJobFileOf(const JobDraft& draft, const std::string& name,
                               const std::string& name_origin) {
  // Comments begin in one column, except behind long lines.
  constexpr std::size_t kMostColumn = 44;
  const std::vector<WrittenLine> lines = AllLinesOf(draft, name, name_origin);
  std::size_t column = 0;
  for (const WrittenLine& line : lines) {
    if (line.text.size() <= kMostColumn) column = std::max(column, line.text.size());
  }
  std::string text;
  for (const WrittenLine& line : lines) {
    text += line.text;
    if (!line.origin.empty()) {
      const std::size_t blanks = column - std::min(column, line.text.size()) + 2;
      absl::StrAppend(&text, std::string(blanks, ' '), "# ", line.origin);
    }
    text += "\n";
  }
  return text;
}

}  // namespace trainyard::cli
