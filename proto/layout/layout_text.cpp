#include "proto/layout/layout_text.h"

#include <map>
#include <string_view>
#include <type_traits>

#include "proto/contract/setting_rule.h"

namespace trainyard {
namespace {

template <typename Value>
std::string ValueText(const Value& value) {
  if constexpr (NamedSetting<Value>) {
    return SettingNameOf(value);
  } else if constexpr (std::is_same_v<Value, bool>) {
    return value ? "true" : "false";
  } else {
    return std::to_string(value);
  }
}

std::map<std::string_view, std::string> TextsOf(const LayoutConfig& layout) {
  std::map<std::string_view, std::string> texts;
  VisitSettings(layout, [&](const char* name, const SettingRule&, const auto& value) {
    texts[name] = ValueText(value);
  });
  return texts;
}

}  // namespace

std::string LayoutText(const LayoutConfig& layout) {
  const std::map<std::string_view, std::string> usual = TextsOf(LayoutConfig());
  std::string text;
  VisitSettings(layout, [&](const char* name, const SettingRule&, const auto& value) {
    const std::string written = ValueText(value);
    if (written == usual.at(name) || std::string_view(name) == "dp") return;
    text += (text.empty() ? "" : ", ") + std::string(name) + ": " + written;
  });
  return "{" + text + "}";
}

}  // namespace trainyard
