#include "cli/convert/convert.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/convert/config_readers.h"
#include "cli/convert/format_detection.h"
#include "cli/convert/job_draft.h"
#include "cli/convert/job_finish.h"
#include "cli/convert/job_writer.h"
#include "cli/convert/megatron_file.h"
#include "cli/convert/script_reader.h"
#include "proto/support/status_macros.h"
#include "proto/text/utf8.h"

namespace trainyard::cli {
namespace {

absl::Status CheckText(const std::string& text) {
  if (absl::StrContains(text, '\0') || FirstInvalidUtf8(text).has_value()) {
    return absl::InvalidArgumentError("is not UTF-8 text");
  }
  if (IsEmptyText(text) && !IsBatchScript(text)) {
    return absl::InvalidArgumentError(absl::StrCat("is empty; ", SupportedInputs()));
  }
  return absl::OkStatus();
}

// Reads the sources of one run, in order.
class SourceReader {
 public:
  SourceReader(const ConvertRequest& request, JobDraft& draft)
      : request_(request), state_(StateOf(request.variables)), draft_(draft) {}

  absl::Status Read() {
    for (size_t i = 0; i < request_.sources.size(); ++i) {
      const ConvertSource& source = request_.sources[i];
      const bool is_one = request_.sources.size() == 1;
      draft_.BeginSource(is_one ? "" : source.name);
      is_last_ = i + 1 == request_.sources.size();
      const absl::Status status = ReadOne(source.text);
      if (!status.ok()) {
        return absl::Status(status.code(), absl::StrCat(source.name, ": ", status.message()));
      }
      if (!draft_.refusals().empty()) {
        return absl::InvalidArgumentError(
            absl::StrCat(source.name, ": ", absl::StrJoin(draft_.refusals(), "; ")));
      }
    }
    return absl::OkStatus();
  }

 private:
  absl::Status ReadOne(const std::string& text) {
    const std::string& format = request_.format;
    TRAINYARD_RETURN_IF_ERROR(CheckText(text));
    ScriptFormat script;
    if (IsScriptFormat(format)) script = {format, "--from names it"};
    if (format.empty()) script = DetectScript(text);
    if (script.name.empty()) return ReadConfig(text);
    draft_.SetFormat(script.name, script.reason);
    return ReadScript(text, {request_.keeps_command, !is_last_}, state_, draft_);
  }

  absl::Status ReadConfig(const std::string& text) {
    const std::string neighbor = neighbor_.empty() ? LaterFormat() : neighbor_;
    TRAINYARD_ASSIGN_OR_RETURN(const DetectedFormat found,
                               DetectConfig(text, request_.format, neighbor));
    draft_.SetFormat(found.name, found.reason);
    if (found.name == kMegatronFormat) {
      ReadMegatronFile(found.tree, draft_);
      return absl::OkStatus();
    }
    neighbor_ = found.name;
    TRAINYARD_ASSIGN_OR_RETURN(const KeyCounts counts,
                               ReadConfigTree(found.reader, found.tree, draft_));
    const bool is_unlikely = request_.format.empty() && 2 * counts.unknown > counts.all;
    if (!is_unlikely) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        "looks like a file of ", found.name, ", because ", found.reason, ", but ", counts.unknown,
        " of its ", counts.all, " settings are unknown in this format; pass --from ", found.name,
        " to convert it anyway; ", SupportedInputs()));
  }

  // Returns the format of the first later source that shows one.
  std::string LaterFormat() const {
    for (const ConvertSource& source : request_.sources) {
      const absl::StatusOr<DetectedFormat> found = DetectConfig(source.text, "", "");
      const bool is_config = found.ok() && found->name != kMegatronFormat;
      if (is_config && DetectScript(source.text).name.empty()) return found->name;
    }
    return "";
  }

  const ConvertRequest& request_;
  ShellState state_;
  JobDraft& draft_;
  std::string neighbor_;  // The format of the configurations so far.
  bool is_last_ = false;
};

void TakeCluster(const ConvertRequest& request, JobDraft& draft) {
  if (request.nodes <= 0 && request.per_node <= 0) return;
  draft.BeginSource("the options of the command line");
  draft.At(0, "--nodes");
  if (request.nodes > 0) draft.Set("resources.nodes", absl::StrCat(request.nodes));
  draft.At(0, "--per-node");
  if (request.per_node > 0) draft.Set("resources.slots_per_node", absl::StrCat(request.per_node));
}

// Returns the requested name, else the sources' name with unsupported characters replaced by '-',
// else
// "converted".
std::string NameOf(const ConvertRequest& request, const JobDraft& draft) {
  if (!request.name.empty()) return request.name;
  std::string name;
  for (const char byte : draft.Value("name")) {
    const char lower = absl::ascii_tolower(static_cast<unsigned char>(byte));
    const bool fits = absl::ascii_isalnum(static_cast<unsigned char>(lower)) || lower == '.';
    if (fits || !name.empty()) name += fits || lower == '_' ? lower : '-';
  }
  constexpr size_t kLongestName = 63;
  name.resize(std::min(name.size(), kLongestName));
  while (!name.empty() && (name.front() == '.')) name.erase(0, 1);
  return name.empty() ? "converted" : name;
}

}  // namespace

absl::StatusOr<ConvertedJob> ConvertToJob(const ConvertRequest& request) {
  JobDraft draft;
  TRAINYARD_RETURN_IF_ERROR(SourceReader(request, draft).Read());
  TakeCluster(request, draft);
  draft.BeginSource("");
  if (request.keeps_command && !draft.HasCommand()) {
    draft.Note(0,
               "no file contains a command to keep, so the job runs trainyard-trainer; to keep "
               "your program, also pass the script that starts it");
  }
  FinishDraft(draft);
  const std::string name = NameOf(request, draft);
  std::string origin = "the input has no name";
  if (!request.name.empty()) {
    origin = "--name";
  } else if (const auto found = draft.settings().find("name"); found != draft.settings().end()) {
    origin = found->second.origin;
  }
  draft.Erase("name");
  return ConvertedJob{JobFileOf(draft, name), ExplainedJobFileOf(draft, name, origin),
                      draft.Notes()};
}

std::vector<std::string> ConvertFormats() { return FormatNames(); }

}  // namespace trainyard::cli
