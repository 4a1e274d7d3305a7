#include "cli/convert/megatron_file.h"

#include <algorithm>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "cli/convert/environment_reader.h"
#include "cli/convert/megatron_reader.h"
#include "cli/convert/translation.h"

namespace trainyard::cli {
namespace {

constexpr char kEnvironment[] = "ENV_VARS.";

// Returns the option that the path names, such as "num-layers" for "MODEL_ARGS.--num-layers". All
// elements of a list have the same option.
std::string OptionOf(const std::string& path) {
  absl::string_view name = path;
  absl::ConsumePrefix(&name, "MODEL_ARGS.");
  absl::ConsumePrefix(&name, "--");
  absl::ConsumeSuffix(&name, "[]");
  std::string option(name);
  std::replace(option.begin(), option.end(), '_', '-');
  return option;
}

bool IsOff(const SourceValue& value) {
  return value.kind == SourceKind::kSwitch && !IsTrueText(value.text);
}

}  // namespace

std::size_t CountMegatronOptions(const SourceTree& tree) {
  return static_cast<std::size_t>(std::count_if(
      tree.values().begin(), tree.values().end(),
      [](const SourceValue& value) { return IsMegatronOption(OptionOf(value.path)); }));
}

void ReadMegatronFile(const SourceTree& tree, JobDraft& draft) {
  ScriptCommand words;
  std::string last;
  for (const SourceValue& value : tree.values()) {
    const std::string option = OptionOf(value.path);
    if (value.kind == SourceKind::kNull) continue;
    if (absl::StartsWith(value.path, kEnvironment)) {
      TakeEnvironment({value.path.substr(sizeof(kEnvironment) - 1), value.text, "", value.line},
                      draft);
      continue;
    }
    if (absl::StrContains(option, '.')) {
      draft.Note(value.line, absl::StrCat(value.path, ": ", value.text, ": not understood"));
      continue;
    }
    if (IsOff(value)) {
      draft.LeaveOut(value.path, "it is off");
      continue;
    }
    if (option != last) words.push_back({absl::StrCat("--", option), value.line});
    last = option;
    if (value.kind == SourceKind::kSwitch) continue;
    // An option with several values may be one text, such as "384 384 97656250".
    for (const absl::string_view part : absl::StrSplit(value.text, ' ', absl::SkipEmpty())) {
      words.push_back({std::string(part), value.line});
    }
  }
  if (!words.empty()) ReadMegatronWords(words, draft);
}

}  // namespace trainyard::cli
