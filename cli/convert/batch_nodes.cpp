#include "cli/convert/batch_nodes.h"

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "proto/jobspec/fields/node_names.h"

namespace trainyard::cli {
namespace {

void TakeNames(const std::string& key, const std::string& value, const std::string& text, int line,
               JobDraft& draft) {
  if (ExpandNodeNames(value).ok()) return draft.SetList(key, {value});
  draft.Note(line, absl::StrCat(text, ": not understood; set ", key));
}

// True if the text is the name of one feature of nodes.
bool IsFeature(const std::string& text) {
  if (text.empty() || text.size() > 63) return false;
  for (const char c : text) {
    const bool is_mark = c == '.' || c == '_' || c == '-';
    if (!is_mark && !absl::ascii_isalnum(static_cast<unsigned char>(c))) return false;
  }
  return true;
}

// Features are names without values. They become labels with the value `yes`.
void TakeFeatures(const std::string& value, const std::string& text, int line, JobDraft& draft) {
  const std::vector<std::string> features = absl::StrSplit(value, absl::ByAnyChar("&,"));
  for (const std::string& feature : features) {
    if (IsFeature(feature)) continue;
    return draft.Note(line, absl::StrCat(text,
                                         ": alternatives and counts of features are not supported; "
                                         "set placement.labels"));
  }
  std::vector<std::string> options;
  for (const std::string& feature : features) {
    draft.Set(absl::StrCat("placement.labels.", feature), "yes");
    options.push_back(absl::StrCat("--label ", feature, "=yes"));
  }
  draft.Note(line,
             absl::StrCat(text, ": start `trainyard-worker` with ", absl::StrJoin(options, " "),
                          " on the nodes that have the feature"));
}

}  // namespace

bool TakeBatchNodes(const std::string& option, const std::string& value, const std::string& text,
                    int line, JobDraft& draft) {
  if (option == "nodelist") {
    TakeNames("placement.nodes", value, text, line, draft);
  } else if (option == "exclude") {
    TakeNames("placement.exclude", value, text, line, draft);
  } else if (option == "constraint") {
    TakeFeatures(value, text, line, draft);
  } else {
    return false;
  }
  return true;
}

}  // namespace trainyard::cli
