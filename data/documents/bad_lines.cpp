#include "data/documents/bad_lines.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

namespace trainyard::data {
namespace {

struct KindName {
  const char* key;   // in bad.jsonl
  const char* text;  // in the summary
};

// In the order of BadLineKind.
constexpr std::array<KindName, kBadLineKinds> kNames = {{
    {"not_json", "not JSON"},
    {"field_missing", "without the field"},
    {"field_null", "with null in the field"},
    {"field_not_string", "with another type in the field"},
    {"field_twice", "with the field twice"},
    {"lone_surrogate", "with a lone surrogate"},
    {"not_utf8", "not UTF-8"},
    {"too_long", "too long"},
}};

const KindName& NameOf(BadLineKind kind) { return kNames[static_cast<size_t>(kind)]; }

}  // namespace

absl::Status BadLineLog::Add(const RawBlock& block, BlockLines lines) {
  if (block.begins_file) file_lines_ = 0;
  lines_ += lines.lines;
  repaired_ += lines.repaired;
  for (BadLine& line : lines.bad) Keep(block, std::move(line));
  for (size_t kind = 0; kind < kBadLineKinds; ++kind) {
    bad_ += lines.unlisted[kind];
    kinds_[kind] += lines.unlisted[kind];
  }
  file_lines_ += lines.line_ends;
  if (bad_ > 0 && policy_.stop) {
    const Entry& first = kept_.front();
    return absl::DataLossError(first.file->path + ":" + std::to_string(first.line.line) + ": " +
                               first.line.cause +
                               "; correct the line, or pass --bad skip to omit such lines");
  }
  return bad_ > kEarlyCheck && TooMany() ? TooManyError() : absl::OkStatus();
}

absl::Status BadLineLog::Finish() const { return TooMany() ? TooManyError() : absl::OkStatus(); }

void BadLineLog::Keep(const RawBlock& block, BadLine line) {
  ++bad_;
  ++kinds_[static_cast<size_t>(line.kind)];
  if (kept_.size() >= kKept) return;
  line.line += file_lines_ + 1;
  kept_.push_back({block.file, std::move(line)});
}

bool BadLineLog::TooMany() const {
  return static_cast<double>(bad_) > policy_.max_fraction * static_cast<double>(lines_);
}

absl::Status BadLineLog::TooManyError() const {
  const Entry& first = kept_.front();
  char fraction[32];
  std::snprintf(fraction, sizeof(fraction), "%g", policy_.max_fraction);
  return absl::DataLossError(
      std::to_string(bad_) + " of " + std::to_string(lines_) + " lines are bad, first " +
      first.file->path + ":" + std::to_string(first.line.line) + ": " + first.line.cause +
      "; correct the lines, or allow more with --bad-fraction (now " + fraction + ")");
}

std::string BadLineLog::ToJsonLines() const {
  std::string text;
  for (const Entry& entry : kept_) {
    const nlohmann::ordered_json object = {{"file", entry.file->path},
                                           {"line", entry.line.line},
                                           {"kind", NameOf(entry.line.kind).key},
                                           {"cause", entry.line.cause}};
    // A path need not be UTF-8.
    text += object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  }
  return text;
}

std::string BadLineLog::Summary() const {
  std::string text = std::to_string(bad_) + " of " + std::to_string(lines_) + " lines skipped";
  const char* separator = ": ";
  for (size_t kind = 0; kind < kBadLineKinds; ++kind) {
    if (kinds_[kind] == 0) continue;
    text += separator + std::to_string(kinds_[kind]) + " " + kNames[kind].text;
    separator = ", ";
  }
  return text;
}

}  // namespace trainyard::data
