#include "cli/convert/job_draft.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/convert/source/source_tree.h"

namespace trainyard::cli {

void JobDraft::BeginSource(const std::string& name) { sources_.push_back(name); }

void JobDraft::Assume(const std::string& key, const std::string& value) {
  if (!Has(key)) settings_[key] = {{value}, false, true};
}

void JobDraft::Set(const std::string& key, const std::string& value) {
  if (!value.empty()) settings_[key] = {{value}, false, false};
}

void JobDraft::SetList(const std::string& key, const std::vector<std::string>& values) {
  settings_[key] = {values, true, false};
}

bool JobDraft::IsWritten(const std::string& key) const {
  const auto found = settings_.find(key);
  return found != settings_.end() && !found->second.is_assumed;
}

std::string JobDraft::Value(const std::string& key) const {
  const auto found = settings_.find(key);
  return found == settings_.end() || found->second.is_list ? "" : found->second.values.front();
}

std::optional<int64_t> JobDraft::Whole(const std::string& key) const { return WholeOf(Value(key)); }

std::optional<double> JobDraft::Number(const std::string& key) const {
  return NumberOf(Value(key));
}

void JobDraft::Note(int line, const std::string& text) {
  notes_.push_back({static_cast<int>(sources_.size()) - 1, line, text});
}

std::vector<std::string> JobDraft::Notes() const {
  std::vector<LineNote> sorted = notes_;
  // Puts the notes about the whole file after the notes about single lines.
  std::stable_sort(sorted.begin(), sorted.end(), [](const LineNote& a, const LineNote& b) {
    if (a.source != b.source) return a.source < b.source;
    if ((a.line == 0) != (b.line == 0)) return b.line == 0;
    return a.line < b.line;
  });
  std::vector<std::string> notes;
  for (const LineNote& note : sorted) {
    std::string place = note.source < 0 ? "" : sources_[static_cast<size_t>(note.source)];
    if (note.line > 0) absl::StrAppend(&place, place.empty() ? "" : " ", "line ", note.line);
    notes.push_back(place.empty() ? note.text : absl::StrCat(place, ": ", note.text));
  }
  return notes;
}

std::string DraftNumber(double value) { return absl::StrFormat("%.12g", value); }

}  // namespace trainyard::cli
