#include "cli/convert/job_draft.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "proto/text/printable.h"
#include "proto/text/utf8.h"

namespace trainyard::cli {
namespace {

constexpr std::size_t kMaxPartBytes = 100;

// The name of the program whose defaults apply to files of a format.
std::string ProgramOf(const std::string& format) {
  static const std::map<std::string, std::string> names = {
      {"deepspeed", "DeepSpeed"}, {"determined", "Determined"},
      {"gpt-neox", "GPT-NeoX"},   {"nemo", "NeMo"},
      {"olmo", "OLMo"},           {"torchtitan", "torchtitan"}};
  const auto found = names.find(format);
  // Scripts have defaults only if they run Megatron-LM.
  return found == names.end() ? "Megatron-LM" : found->second;
}

// Sorts before every line.
constexpr int kFormatLine = -1;

bool IsSame(const JobDraft::Setting& a, const JobDraft::Setting& b) {
  if (a.values == b.values) return true;
  if (a.is_list || b.is_list) return false;
  const std::optional<double> x = NumberOf(a.values.front()), y = NumberOf(b.values.front());
  return x.has_value() && x == y;
}

}  // namespace

void JobDraft::BeginSource(const std::string& name) {
  sources_.push_back(name);
  FollowReads(nullptr);
  At(0, "");
}

void JobDraft::At(int line, const std::string& part) {
  part_line_ = line;
  part_ = part;
}

void JobDraft::FollowReads(const SourceTree* tree) {
  reads_ = tree;
  if (tree != nullptr) tree->TakeLastRead();
  At(0, "");
}

std::string JobDraft::SourceName(int source) const {
  return source < 0 ? "" : sources_[static_cast<size_t>(source)];
}

std::string JobDraft::Origin() const {
  int line = part_line_;
  std::string part = part_;
  const std::string read = reads_ == nullptr ? "" : reads_->TakeLastRead();
  if (!read.empty()) {
    part = read;
    line = reads_->Line(read);
  }
  if (part.empty()) return "follows from other settings";
  part = std::string(Utf8Prefix(PrintableLine(part, false), kMaxPartBytes));
  std::string place = PrintableLine(ReplaceInvalidUtf8(SourceName(source())), false);
  if (line > 0) absl::StrAppend(&place, place.empty() ? "" : " ", "line ", line);
  return place.empty() ? part : absl::StrCat(place, ": ", part);
}

void JobDraft::Assume(const std::string& key, const std::string& value) {
  if (reads_ != nullptr) reads_->TakeLastRead();
  if (Has(key)) return;
  settings_[key] = {{value}, false, true, source(), absl::StrCat("default of ", program_)};
}

void JobDraft::Set(const std::string& key, const std::string& value) {
  if (!value.empty()) Put(key, {{value}, false, false, source(), Origin()});
}

void JobDraft::SetList(const std::string& key, const std::vector<std::string>& values) {
  Put(key, {values, true, false, source(), Origin()});
}

void JobDraft::Put(const std::string& key, Setting setting) {
  const auto found = settings_.find(key);
  if (found != settings_.end() && !found->second.is_assumed &&
      found->second.source != setting.source && !IsSame(found->second, setting)) {
    const std::string earlier = sources_[static_cast<size_t>(std::max(found->second.source, 0))];
    Note(0, absl::StrCat(key, ": ", absl::StrJoin(setting.values, ", "), " replaces ",
                         absl::StrJoin(found->second.values, ", "), " of ",
                         earlier.empty() ? "the file" : earlier));
  }
  settings_[key] = std::move(setting);
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

void JobDraft::Note(int line, const std::string& text) { notes_.push_back({source(), line, text}); }

void JobDraft::SetFormat(const std::string& name, const std::string& reason) {
  program_ = ProgramOf(name);
  formats_.push_back({source(), kFormatLine, absl::StrCat("format: ", name, ", because ", reason)});
}

void JobDraft::LeaveOut(const std::string& name, const std::string& reason) {
  std::vector<std::string>& names = left_out_[{source(), reason}];
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

void JobDraft::EraseUnused(const std::string& key, const std::string& name,
                           const std::string& reason) {
  if (IsWritten(key)) LeaveOut(name, reason);
  Erase(key);
}

void JobDraft::Refuse(int line, const std::string& text) {
  const std::string place = line > 0 ? absl::StrCat("line ", line, ": ") : "";
  refusals_.push_back(absl::StrCat(place, text));
}

std::vector<std::string> JobDraft::Notes() const {
  std::vector<LineNote> sorted = formats_;
  sorted.insert(sorted.end(), notes_.begin(), notes_.end());
  for (const auto& [key, names] : left_out_) {
    sorted.push_back(
        {key.first, 0,
         absl::StrCat("left out, because ", key.second, ": ", absl::StrJoin(names, ", "))});
  }
  // Puts the notes about the whole file after the notes about single lines.
  std::stable_sort(sorted.begin(), sorted.end(), [](const LineNote& a, const LineNote& b) {
    if (a.source != b.source) return a.source < b.source;
    if ((a.line == 0) != (b.line == 0)) return b.line == 0;
    return a.line < b.line;
  });
  std::vector<std::string> notes;
  for (const LineNote& note : sorted) {
    std::string place = SourceName(note.source);
    if (note.line > 0) absl::StrAppend(&place, place.empty() ? "" : " ", "line ", note.line);
    notes.push_back(place.empty() ? note.text : absl::StrCat(place, ": ", note.text));
  }
  return notes;
}

std::string DraftNumber(double value) { return absl::StrFormat("%.12g", value); }

}  // namespace trainyard::cli
