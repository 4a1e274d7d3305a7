#include "data/prepare/cleaning/filter_stage.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "data/documents/json_field.h"

namespace trainyard::data {
namespace {

// Increase it if the same rules judge or edit a text differently.
constexpr int kVersion = 1;

absl::Status Keep(const Document& document, std::string_view text, const std::string& field,
                  BlockOutput* output) {
  if (text == document.text) return output->Keep(document.json, text.size());
  const std::optional<std::string> edited = WithText(document.json, field, text);
  if (!edited) return absl::InternalError("cannot replace the text of a document");
  return output->Keep(*edited, text.size());
}

// Inserts the rule and the value into the JSON object of a document.
std::string DroppedJson(std::string_view json, const std::string& rule, double value) {
  const size_t brace = json.find('{');
  const nlohmann::ordered_json reason = {{"rule", rule}, {"value", value}};
  std::string dropped(json.substr(0, brace + 1));
  dropped += "\"trainyard_dropped\":" + reason.dump() + ",";
  return dropped.append(json.substr(brace + 1));
}

}  // namespace

Stage MakeFilterStage(const Filter& filter, const std::string& field) {
  Stage stage;
  stage.name = "filter";
  stage.settings = {{"version", kVersion}, {"rules", filter.ToYaml()}};
  stage.begin_block = [filter, field]() -> ProcessDocument {
    auto workspace = std::make_shared<FilterWorkspace>();
    return [filter, field, workspace](const Document& document, BlockOutput* output) {
      const Verdict verdict = filter.Judge(document.text, *workspace);
      if (verdict.kept()) return Keep(document, verdict.text, field, output);
      const std::string& rule = filter.rule_names()[*verdict.dropped_by];
      return output->Drop(document, rule, DroppedJson(document.json, rule, verdict.value));
    };
  };
  return stage;
}

}  // namespace trainyard::data
