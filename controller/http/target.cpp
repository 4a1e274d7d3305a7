#include "controller/http/target.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "google/protobuf/descriptor.h"
#include "proto/contract/limits.h"
#include "proto/jobspec/fields/schema.h"
#include "proto/json/enum_text.h"
#include "proto/support/status_macros.h"
#include "proto/text/utf8.h"

namespace trainyard::controller::http {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::vector<std::string_view> SplitView(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

// Returns true if the path matches the route's template. If so, sets `parameters` to the values of
// the placeholders in braces.
absl::StatusOr<bool> FitsTemplate(std::string_view path, const Route& route,
                                  Parameters& parameters) {
  const auto want = SplitView(route.path, '/');
  const auto have = SplitView(path, '/');
  if (want.size() != have.size()) return false;
  for (std::size_t i = 0; i < want.size(); ++i) {
    const bool variable = want[i].starts_with('{');
    if (!variable && want[i] != have[i]) return false;
    if (variable && have[i].empty()) return false;
  }
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (!want[i].starts_with('{')) continue;
    TRAINYARD_ASSIGN_OR_RETURN(std::string value, PercentDecode(have[i], false));
    parameters.Set(std::string(want[i].substr(1, want[i].size() - 2)), std::move(value));
  }
  return true;
}

std::vector<std::string> AllowedWords(const Parameter& parameter) {
  const auto* type = google::protobuf::DescriptorPool::generated_pool()->FindEnumTypeByName(
      std::string(parameter.values));
  std::vector<std::string> words;
  if (type == nullptr) return absl::StrSplit(std::string(parameter.values), ',');
  for (int i = 0; i < type->value_count(); ++i) {
    if (type->value(i)->number() != 0) words.push_back(EnumShortName(*type->value(i)));
  }
  return words;
}

absl::Status Refuse(const Parameter& parameter, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat(std::string(parameter.name), ": ", why));
}

absl::Status CheckBounds(const Parameter& parameter, double value) {
  if (parameter.min == parameter.max) return absl::OkStatus();
  if (value >= parameter.min && value <= parameter.max) return absl::OkStatus();
  return Refuse(parameter, parameter.max > 1e15 ? absl::StrCat("must be at least ", parameter.min)
                                                : absl::StrCat("must be between ", parameter.min,
                                                               " and ", parameter.max));
}

absl::Status CheckValue(const Parameter& parameter, const std::string& value) {
  switch (parameter.type) {
    case ParameterType::kText:
      return absl::OkStatus();
    case ParameterType::kBoolean:
      if (value == "true" || value == "false") return absl::OkStatus();
      return Refuse(parameter, "must be true or false");
    case ParameterType::kInteger: {
      int64_t number = 0;
      if (!absl::SimpleAtoi(value, &number)) return Refuse(parameter, "must be a whole number");
      return CheckBounds(parameter, static_cast<double>(number));
    }
    case ParameterType::kNumber: {
      double number = 0;
      if (!absl::SimpleAtod(value, &number) || !std::isfinite(number)) {
        return Refuse(parameter, "must be a number");
      }
      return CheckBounds(parameter, number);
    }
    case ParameterType::kEnum:
      break;
  }
  const std::vector<std::string> words = AllowedWords(parameter);
  if (std::ranges::find(words, value) != words.end()) return absl::OkStatus();
  return Refuse(parameter, absl::StrCat("`", value, "` is none of ", absl::StrJoin(words, ", ")));
}

const Parameter* FindParameter(const Route& route, std::string_view name) {
  for (const Parameter& parameter : route.parameters) {
    if (!parameter.in_path && parameter.name == name) return &parameter;
  }
  return nullptr;
}

absl::Status UnknownParameter(const std::string& name, const Route& route) {
  std::vector<std::string> names;
  for (const Parameter& parameter : route.parameters) {
    if (!parameter.in_path) names.emplace_back(parameter.name);
  }
  const std::string nearest = NearestName(name, names);
  return absl::InvalidArgumentError(absl::StrCat(
      "this path has no parameter `", name, "`",
      nearest.empty() ? "" : absl::StrCat("; did you mean `", nearest, "`?"),
      names.empty() ? "; this path takes no parameters"
                    : absl::StrCat("; the parameters are ", absl::StrJoin(names, ", "))));
}

}  // namespace

std::string Parameters::Text(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? "" : found->second;
}

int64_t Parameters::Integer(std::string_view name) const {
  int64_t value = 0;
  return absl::SimpleAtoi(Text(name), &value) ? value : 0;
}

double Parameters::Number(std::string_view name) const {
  double value = 0;
  return absl::SimpleAtod(Text(name), &value) ? value : 0;
}

std::vector<std::string> Parameters::List(std::string_view name) const {
  return absl::StrSplit(Text(name), ',', absl::SkipEmpty());
}

const std::vector<std::string>& Parameters::Repeated(std::string_view name) const {
  static const std::vector<std::string> kNone;
  const auto found = repeated_.find(name);
  return found == repeated_.end() ? kNone : found->second;
}

std::pair<std::string_view, std::string_view> SplitTarget(std::string_view target) {
  const std::size_t mark = target.find('?');
  if (mark == std::string_view::npos) return {target, {}};
  return {target.substr(0, mark), target.substr(mark + 1)};
}

absl::StatusOr<std::string> PercentDecode(std::string_view text, bool plus_is_space) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      decoded += ' ';
    } else if (text[i] != '%') {
      decoded += text[i];
    } else {
      const int high = i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? HexDigit(text[i + 2]) : -1;
      if (high < 0 || low < 0) {
        return absl::InvalidArgumentError("a % in the address is not followed by two hex digits");
      }
      decoded += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  if (FirstInvalidUtf8(decoded).has_value()) {
    return absl::InvalidArgumentError("the address contains bytes that are not UTF-8");
  }
  return decoded;
}

absl::StatusOr<RouteMatch> MatchRoute(std::string_view method, std::string_view path) {
  RouteMatch match;
  for (const Route& route : Routes()) {
    Parameters parameters;
    TRAINYARD_ASSIGN_OR_RETURN(const bool fits, FitsTemplate(path, route, parameters));
    if (!fits) continue;
    if (route.method != method && !(method == "HEAD" && route.method == "GET")) {
      match.other_methods.push_back(route.method);
      continue;
    }
    match.route = &route;
    match.parameters = std::move(parameters);
    return match;
  }
  return match;
}

absl::Status AddQuery(std::string_view query, const Route& route, Parameters& parameters) {
  for (const std::string_view pair : SplitView(query, '&')) {
    if (pair.empty()) continue;
    const std::size_t equals = pair.find('=');
    TRAINYARD_ASSIGN_OR_RETURN(const std::string name, PercentDecode(pair.substr(0, equals), true));
    std::string value;
    if (equals != std::string_view::npos) {
      TRAINYARD_ASSIGN_OR_RETURN(value, PercentDecode(pair.substr(equals + 1), true));
    }
    const Parameter* parameter = FindParameter(route, name);
    if (parameter == nullptr) return UnknownParameter(name, route);
    if (parameters.Has(name)) return Refuse(*parameter, "is given twice");
    // A parameter with an empty value counts as missing.
    if (value.empty()) continue;
    if (parameter->repeated) {
      TRAINYARD_RETURN_IF_ERROR(CheckValue(*parameter, value));
      parameters.Add(name, std::move(value));
      continue;
    }
    if (!parameter->list) {
      TRAINYARD_RETURN_IF_ERROR(CheckValue(*parameter, value));
    } else {
      for (const auto& part : absl::StrSplit(value, ',', absl::SkipEmpty())) {
        TRAINYARD_RETURN_IF_ERROR(CheckValue(*parameter, std::string(part)));
      }
    }
    parameters.Set(name, std::move(value));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<int>> ParseRanks(const std::string& text) {
  std::vector<int> ranks;
  for (const auto& part : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    const std::vector<std::string> ends = absl::StrSplit(part, '-');
    int first = 0, last = 0;
    const bool read = ends.size() <= 2 && absl::SimpleAtoi(ends.front(), &first) &&
                      absl::SimpleAtoi(ends.back(), &last);
    if (!read || first < 0 || last < first) {
      return absl::InvalidArgumentError("ranks: write numbers and ranges, such as 0,8-15");
    }
    if (last - first >= kMaxRanks - static_cast<int>(ranks.size())) {
      return absl::InvalidArgumentError(absl::StrCat("ranks: at most ", kMaxRanks));
    }
    for (int rank = first; rank <= last; ++rank) ranks.push_back(rank);
  }
  return ranks;
}

}  // namespace trainyard::controller::http
