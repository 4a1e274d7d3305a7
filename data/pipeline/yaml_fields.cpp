#include "data/pipeline/yaml_fields.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace trainyard::data {

YamlFields::YamlFields(const YAML::Node& node, std::string display_name)
    : node_(node), display_name_(std::move(display_name)) {
  if (!node_.IsNull() && !node_.IsMap()) Fail(node_, "must be a mapping of keys to values");
}

YAML::Node YamlFields::Find(const std::string& key) {
  known_.insert(key);
  return node_.IsMap() && status_.ok() ? node_[key] : YAML::Node(YAML::NodeType::Undefined);
}

void YamlFields::Read(const std::string& key, std::string* value) {
  const YAML::Node node = Find(key);
  if (!node.IsDefined()) return;
  if (!node.IsScalar() || node.Scalar().empty()) return Fail(node, "`" + key + "` must be a text");
  *value = node.Scalar();
}

void YamlFields::Read(const std::string& key, double* value, double least, double most) {
  const YAML::Node node = Find(key);
  if (!node.IsDefined()) return;
  double number = 0;
  if (!node.IsScalar() || !absl::SimpleAtod(node.Scalar(), &number) ||
      !(number >= least && number <= most)) {
    return Fail(node, absl::StrCat("`", key, "` must be a number from ", least, " to ", most));
  }
  *value = number;
}

void YamlFields::Read(const std::string& key, std::optional<double>* value, double least,
                      double most) {
  double number = least;
  Read(key, &number, least, most);
  if (Find(key).IsDefined()) *value = number;
}

void YamlFields::Read(const std::string& key, int64_t* value, int64_t least, int64_t most) {
  const YAML::Node node = Find(key);
  if (!node.IsDefined()) return;
  int64_t number = 0;
  if (!node.IsScalar() || !absl::SimpleAtoi(node.Scalar(), &number) || number < least ||
      number > most) {
    return Fail(node, absl::StrCat("`", key, "` must be an integer from ", least, " to ", most));
  }
  *value = number;
}

void YamlFields::ReadTokens(const std::string& key, int64_t* value) {
  constexpr std::string_view kSuffixes = "KMBT";
  constexpr int64_t kTokensMax = 1'000'000'000'000'000'000;
  const YAML::Node node = Find(key);
  if (!node.IsDefined()) return;
  std::string text = node.IsScalar() ? node.Scalar() : "";
  int64_t unit = 1;
  const size_t suffix = text.empty() ? std::string_view::npos : kSuffixes.find(text.back());
  if (suffix != std::string_view::npos) {
    for (size_t i = 0; i <= suffix; ++i) unit *= 1000;
    text.pop_back();
  }
  int64_t number = 0;
  if (!absl::SimpleAtoi(text, &number) || number < 1 || number > kTokensMax / unit) {
    return Fail(node, "`" + key + "` must be a number of tokens such as 4000000, 4M or 20B");
  }
  *value = number * unit;
}

void YamlFields::Read(const std::string& key, std::vector<std::string>* values) {
  const YAML::Node node = Find(key);
  if (!node.IsDefined()) return;
  values->clear();
  if (node.IsScalar()) {
    values->push_back(node.Scalar());
  } else if (node.IsSequence()) {
    for (const YAML::Node& item : node) values->push_back(item.IsScalar() ? item.Scalar() : "");
  }
  const bool has_empty = std::any_of(values->begin(), values->end(),
                                     [](const std::string& text) { return text.empty(); });
  if (values->empty() || has_empty) Fail(node, "`" + key + "` must be a text or a list of texts");
}

void YamlFields::ReadChoice(const std::string& key, std::string* value,
                            const std::vector<std::string>& choices) {
  const YAML::Node node = Find(key);
  Read(key, value);
  if (!node.IsDefined() || std::find(choices.begin(), choices.end(), *value) != choices.end()) {
    return;
  }
  Fail(node, absl::StrCat("`", key, "` must be ", absl::StrJoin(choices, " or ")));
}

void YamlFields::Require(const std::string& key) {
  if (status_.ok() && !Find(key).IsDefined()) Fail(node_, "`" + key + "` is missing");
}

absl::Status YamlFields::Finish() {
  if (!status_.ok() || !node_.IsMap()) return status_;
  std::set<std::string> seen;
  for (const auto& entry : node_) {
    const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "";
    if (!known_.contains(key)) {
      return Error(entry.first, absl::StrCat("unknown key `", key, "`; the keys are ",
                                             absl::StrJoin(known_, ", ")));
    }
    if (!seen.insert(key).second) return Error(entry.first, "second `" + key + "`");
  }
  return absl::OkStatus();
}

absl::Status YamlFields::Error(const YAML::Node& node, const std::string& problem) const {
  const YAML::Mark mark = node.Mark();
  const std::string line = mark.is_null() ? "" : absl::StrCat(":", mark.line + 1);
  return absl::InvalidArgumentError(absl::StrCat(display_name_, line, ": ", problem));
}

void YamlFields::Fail(const YAML::Node& node, const std::string& problem) {
  if (status_.ok()) status_ = Error(node, problem);
}

}  // namespace trainyard::data
