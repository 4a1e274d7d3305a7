#include "data/report/run_text.h"

#include <algorithm>
#include <utility>

#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

constexpr char kDroppedKey[] = "trainyard_dropped";

}  // namespace

absl::StatusOr<RunText> ReadRunText(const StoredRun& run, const std::string& name) {
  RunText read;
  TRAINYARD_ASSIGN_OR_RETURN(read.document, FindRunDocument(run, name));
  TRAINYARD_ASSIGN_OR_RETURN(const std::string line, ReadOutputLine(run, read.document));
  auto object = nlohmann::ordered_json::parse(line, nullptr, /*allow_exceptions=*/false);
  const std::string field = run.plan.settings().value("field", "text");
  if (!object.is_object() || !object.contains(field) || !object[field].is_string()) {
    return absl::DataLossError(run.directory +
                               ": a part is damaged; repeat the command that wrote "
                               "it with --force");
  }
  read.text = object[field].get<std::string>();
  object.erase(field);
  if (const auto reason = object.find(kDroppedKey); reason != object.end()) {
    read.reason = *reason;
    object.erase(kDroppedKey);
  }
  read.fields = std::move(object);
  return read;
}

std::string_view BeginOfText(std::string_view text, size_t bytes_max) {
  size_t end = std::min(text.size(), bytes_max);
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) {
    --end;
  }
  return text.substr(0, end);
}

}  // namespace trainyard::data
