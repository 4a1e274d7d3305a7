#include "controller/retention/policy.h"

#include <yaml-cpp/yaml.h>

#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

// The largest unit is first, because a duration is printed in the largest unit that divides it.
constexpr std::array<std::pair<char, int64_t>, 4> kUnits{
    {{'d', kDayMs}, {'h', 3'600'000}, {'m', 60'000}, {'s', 1000}}};

std::string TimeText(const std::optional<int64_t>& keep_ms) {
  if (!keep_ms.has_value()) return "forever";
  for (const auto& [unit, ms] : kUnits) {
    if (*keep_ms % ms == 0) return absl::StrCat(*keep_ms / ms, std::string(1, unit));
  }
  return absl::StrCat(*keep_ms, " ms");
}

std::string RuleText(const char* kind, const RetentionRule& rule) {
  std::string text = absl::StrCat(kind, " ", TimeText(rule.keep_ms));
  if (rule.disk_share > 0) {
    absl::StrAppend(&text, ", at most ", std::lround(rule.disk_share * 100), "% of the disk");
  }
  return text;
}

absl::Status Refuse(const std::string& key, const std::string& value, const char* form) {
  return absl::InvalidArgumentError(
      absl::StrCat("retention.", key, ": `", value, "` is not ", form));
}

absl::Status ReadTime(const std::string& key, const std::string& value,
                      std::optional<int64_t>& keep_ms) {
  if (value == "never") {
    keep_ms.reset();
    return absl::OkStatus();
  }
  int64_t count = 0;
  for (const auto& [unit, ms] : kUnits) {
    if (value.empty() || value.back() != unit) continue;
    const bool number = absl::SimpleAtoi(value.substr(0, value.size() - 1), &count);
    if (!number || count < 0 || count > std::numeric_limits<int64_t>::max() / ms / 2) break;
    keep_ms = count * ms;
    return absl::OkStatus();
  }
  return Refuse(key, value, "a time (such as 30d, 12h, 90m or 45s) or `never`");
}

absl::Status ReadShare(const std::string& key, const std::string& value, double& share) {
  absl::string_view number = value;
  double percent = 0;
  const bool marked = absl::ConsumeSuffix(&number, "%");
  if (!marked || !absl::SimpleAtod(number, &percent) || !(percent >= 0 && percent <= 100)) {
    return Refuse(key, value, "a share of the data disk (such as 40%; 0% means no limit)");
  }
  share = percent / 100;
  return absl::OkStatus();
}

absl::Status ReadCheckpoints(const std::string& value, RetentionPolicy& policy) {
  if (value != "never" && value != "with_jobs") {
    return Refuse("checkpoints", value, "`never` or `with_jobs`");
  }
  policy.checkpoints_with_jobs = value == "with_jobs";
  return absl::OkStatus();
}

absl::Status ReadKey(const std::string& key, const std::string& value, RetentionPolicy& policy) {
  if (key == "logs") return ReadTime(key, value, policy.logs.keep_ms);
  if (key == "metrics") return ReadTime(key, value, policy.metrics.keep_ms);
  if (key == "events") return ReadTime(key, value, policy.events.keep_ms);
  if (key == "jobs") return ReadTime(key, value, policy.jobs_ms);
  if (key == "checkpoints") return ReadCheckpoints(value, policy);
  if (key == "logs_disk_share") return ReadShare(key, value, policy.logs.disk_share);
  if (key == "metrics_disk_share") return ReadShare(key, value, policy.metrics.disk_share);
  if (key == "events_disk_share") return ReadShare(key, value, policy.events.disk_share);
  return absl::InvalidArgumentError(
      absl::StrCat("retention.", key,
                   ": unknown key; the keys are logs, metrics, events, jobs, checkpoints, "
                   "logs_disk_share, metrics_disk_share and events_disk_share"));
}

absl::StatusOr<RetentionPolicy> ReadDocument(const YAML::Node& document) {
  RetentionPolicy policy;
  if (document.IsNull()) return policy;
  if (!document.IsMap()) return absl::InvalidArgumentError("the file is not a map of sections");
  for (const auto& section : document) {
    const auto name = section.first.as<std::string>();
    // Parsed by controller/hooks/hook_rules.h and controller/price_setting.h.
    if (name == "hooks" || name == "cost" || name == "store") continue;
    if (name != "retention") {
      return absl::InvalidArgumentError(absl::StrCat(
          "there is no section `", name,
          "`; the sections are `retention`, `hooks`, `cost` and `store`"));
    }
    if (section.second.IsNull()) continue;
    if (!section.second.IsMap()) return absl::InvalidArgumentError("retention: is not a map");
    for (const auto& entry : section.second) {
      TRAINYARD_RETURN_IF_ERROR(
          ReadKey(entry.first.as<std::string>(), entry.second.as<std::string>(), policy));
    }
  }
  return policy;
}

}  // namespace

bool IsDue(const std::optional<int64_t>& keep_ms, Timestamp ended_ms, Timestamp now) {
  return keep_ms.has_value() && now - ended_ms >= *keep_ms;
}

int64_t BoundBytes(const RetentionRule& rule, int64_t disk_bytes) {
  return static_cast<int64_t>(rule.disk_share * static_cast<double>(disk_bytes));
}

std::vector<std::string> DescribePolicy(const RetentionPolicy& policy) {
  return {
      RuleText("logs", policy.logs), RuleText("metrics", policy.metrics),
      RuleText("events", policy.events), absl::StrCat("jobs ", TimeText(policy.jobs_ms)),
      policy.checkpoints_with_jobs ? "checkpoints as long as their jobs" : "checkpoints forever"};
}

absl::StatusOr<RetentionPolicy> ParseRetention(const std::string& yaml) {
  try {
    return ReadDocument(YAML::Load(yaml));
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(error.what());
  }
}

}  // namespace trainyard::controller
