#include "controller/hooks/hook_rules.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "controller/core/event_log/event_job.h"
#include "nlohmann/json.hpp"
#include "proto/contract/telemetry_keys.h"
#include "proto/jobspec/fields/scalar_text.h"
#include "proto/json/enum_text.h"
#include "proto/json/message_json.h"
#include "proto/proof/digest.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"
#include "yaml-cpp/yaml.h"

namespace trainyard::controller {
namespace {

constexpr std::size_t kHooksMax = 16;
constexpr std::size_t kNameBytesMax = 63;
constexpr std::size_t kSecretBytesMax = 4096;
constexpr int64_t kTimeoutMsMax = 60'000;
constexpr char kAll[] = "all";

absl::Status Wrong(const std::string& hook, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat("hooks: ", hook, ": ", what));
}

bool IsName(const std::string& name) {
  return !name.empty() && name.size() <= kNameBytesMax &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
}

absl::Status ReadKinds(const YAML::Node& value, HookRule& rule) {
  for (const auto& one : value) {
    const auto kind = one.as<std::string>();
    if (kind != kAll && !std::ranges::count(HookKinds(), kind)) {
      return Wrong(rule.name,
                   absl::StrCat("there is no event `", kind, "`; the events are ",
                                absl::StrJoin(HookKinds(), ", "), ", and `all` for every event"));
    }
    rule.on.insert(kind);
  }
  return absl::OkStatus();
}

absl::Status ReadSecret(const std::string& path, HookRule& rule) {
  TRAINYARD_ASSIGN_OR_RETURN(rule.secret, ReadSmallFile(path, kSecretBytesMax));
  while (!rule.secret.empty() && rule.secret.back() == '\n') rule.secret.pop_back();
  if (rule.secret.empty()) return Wrong(rule.name, absl::StrCat("secret_file ", path, " is empty"));
  return absl::OkStatus();
}

absl::Status ReadTimeout(const std::string& text, HookRule& rule) {
  const auto ms = ParseDurationMs(text);
  if (!ms.ok() || *ms < 1 || *ms > kTimeoutMsMax) {
    return Wrong(rule.name, absl::StrCat("timeout: `", text, "` is not a duration of at most 60s"));
  }
  rule.timeout = std::chrono::milliseconds(*ms);
  return absl::OkStatus();
}

absl::Status ReadHookKey(const std::string& key, const YAML::Node& value, HookRule& rule) {
  if (key == "name") return absl::OkStatus();
  if (key == "on") return ReadKinds(value, rule);
  if (key == "url") {
    TRAINYARD_ASSIGN_OR_RETURN(rule.url, ParseHookUrl(value.as<std::string>()));
    return absl::OkStatus();
  }
  if (key == "command") {
    rule.command = value.as<std::vector<std::string>>();
    return absl::OkStatus();
  }
  if (key == "secret_file") return ReadSecret(value.as<std::string>(), rule);
  if (key == "ca_file") {
    rule.ca_file = value.as<std::string>();
    return absl::OkStatus();
  }
  if (key == "timeout") return ReadTimeout(value.as<std::string>(), rule);
  return Wrong(
      rule.name,
      absl::StrCat("unknown key `", key,
                   "`; the keys are name, on, url, command, secret_file, ca_file and timeout"));
}

absl::StatusOr<HookRule> ReadHook(const YAML::Node& node) {
  HookRule rule;
  if (!node.IsMap() || !node["name"]) return Wrong("a hook", "must be a map with a `name`");
  rule.name = node["name"].as<std::string>();
  if (!IsName(rule.name)) {
    return Wrong(rule.name,
                 "a name must have 1 to 63 characters, and only letters a to z, digits and -");
  }
  for (const auto& entry : node) {
    const absl::Status status = ReadHookKey(entry.first.as<std::string>(), entry.second, rule);
    if (!status.ok()) {
      return absl::StartsWith(status.message(), "hooks: ")
                 ? status
                 : Wrong(rule.name, std::string(status.message()));
    }
  }
  if (rule.on.empty()) return Wrong(rule.name, "`on` is empty or missing; list at least one event");
  if (rule.is_command() == !rule.url.host.empty()) {
    return Wrong(rule.name, "set either `url`, or `command` as a list of words");
  }
  if (rule.is_command() && !absl::StartsWith(rule.command.front(), "/")) {
    return Wrong(rule.name, "the first word of `command` must be the program's absolute path");
  }
  return rule;
}

absl::StatusOr<std::vector<HookRule>> ReadHooks(const YAML::Node& document) {
  std::vector<HookRule> rules;
  if (!document.IsMap() || !document["hooks"] || document["hooks"].IsNull()) return rules;
  const YAML::Node list = document["hooks"];
  if (!list.IsSequence()) return absl::InvalidArgumentError("hooks: must be a list");
  for (const auto& node : list) {
    TRAINYARD_ASSIGN_OR_RETURN(HookRule rule, ReadHook(node));
    const bool is_twice = std::ranges::count(rules, rule.name, &HookRule::name) > 0;
    if (is_twice) return Wrong(rule.name, "two hooks have this name");
    rules.push_back(std::move(rule));
  }
  if (rules.size() > kHooksMax) {
    return absl::InvalidArgumentError(absl::StrCat("hooks: at most ", kHooksMax));
  }
  return rules;
}

std::string KindOfEnd(v1::JobState state) {
  switch (state) {
    case v1::JOB_STATE_SUCCEEDED:
      return "job_done";
    case v1::JOB_STATE_FAILED:
      return "job_failed";
    default:
      return "job_stopped";
  }
}

bool IsSpike(const std::string& code) {
  return code == telemetry::kLossSpike || code == telemetry::kNanLoss;
}

// Returns the step from which the attempt starts. If the step of a checkpoint is not known, returns
// the checkpoint's path.
std::string StartOf(const v1::JobPlaced& placed) {
  const bool is_known = placed.resume_step() > 0 || placed.resume_from().empty();
  return is_known ? absl::StrCat("step ", placed.resume_step())
                  : absl::StrCat("the checkpoint ", placed.resume_from());
}

// Returns the event as one line for display.
std::string TextOf(const v1::Event& event, const std::string& job_name) {
  const int64_t job_id = JobIdOf(event);
  const std::string job =
      job_id == 0
          ? ""
          : absl::StrCat("job ", job_id, job_name.empty() ? "" : absl::StrCat(" (", job_name, ")"));
  switch (event.kind_case()) {
    case v1::Event::kJobSubmitted:
      return absl::StrCat(job, " submitted by ", event.job_submitted().user());
    case v1::Event::kJobEnded:
      return absl::StrCat(job, " ", EnumText(event.job_ended().state()), ": ",
                          event.job_ended().verdict().summary());
    case v1::Event::kJobPaused:
      return absl::StrCat(job, " paused by ", event.actor());
    case v1::Event::kJobResumed:
      return absl::StrCat(job, " resumed by ", event.actor());
    case v1::Event::kAttemptYielded:
      return absl::StrCat(job, ": attempt ", event.attempt_yielded().attempt(),
                          " yields its slots: ", event.attempt_yielded().yield().reason());
    case v1::Event::kJobPlaced:
      return absl::StrCat(job, ": attempt ", event.job_placed().attempt(),
                          " was placed and starts from ", StartOf(event.job_placed()));
    case v1::Event::kAttemptFailed:
      return absl::StrCat(job, ": attempt ", event.attempt_failed().attempt(),
                          " failed: ", event.attempt_failed().verdict().summary());
    case v1::Event::kAttemptRolledBack:
      return absl::StrCat(job, ": rolled back to step ",
                          event.attempt_rolled_back().rollback().to_step(), ": ",
                          event.attempt_rolled_back().rollback().reason());
    case v1::Event::kAttemptHealing:
      return absl::StrCat(job, ": attempt ", event.attempt_healing().attempt(),
                          " is healing in place: ", event.attempt_healing().verdict().summary());
    case v1::Event::kAlertRaised:
      return absl::StrCat(job, ": ", event.alert_raised().code(), " at step ",
                          event.alert_raised().step(), ": ", event.alert_raised().message());
    case v1::Event::kNodeLost:
      return absl::StrCat("node ", event.node_lost().node_id(),
                          " lost: ", event.node_lost().reason());
    case v1::Event::kNodeUnhealthy:
      return absl::StrCat("node ", event.node_unhealthy().node_id(), ": ",
                          event.node_unhealthy().health().has_quarantine()
                              ? event.node_unhealthy().health().quarantine().reason()
                              : event.node_unhealthy().health().reason());
    case v1::Event::kNodeReleased:
      return absl::StrCat("node ", event.node_released().node_id(),
                          " released: ", event.node_released().reason());
    default:
      return job;
  }
}

}  // namespace

std::string HookRule::Target() const {
  if (is_command()) return command.front();
  // The path is omitted, because for some receivers it is a secret.
  return absl::StrCat(url.tls ? "https://" : "http://", url.HostText(), ":", url.port);
}

absl::StatusOr<std::vector<HookRule>> ParseHooks(const std::string& yaml) {
  try {
    return ReadHooks(YAML::Load(yaml));
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(absl::StrCat("hooks: ", error.what()));
  }
}

const std::vector<std::string>& HookKinds() {
  static const std::vector<std::string> kinds = {
      "job_submitted",       "job_restarted", "job_done",          "job_failed",
      "job_stopped",         "job_paused",    "job_resumed",       "job_yielded",
      "attempt_failed",      "healing",       telemetry::kStalled, "rolled_back",
      telemetry::kLossSpike, "alert",         "node_lost",         "node_unhealthy",
      "node_quarantined",    "node_released"};
  return kinds;
}

std::vector<std::string> KindsOf(const v1::Event& event) {
  switch (event.kind_case()) {
    case v1::Event::kJobSubmitted:
      return {"job_submitted"};
    case v1::Event::kJobPlaced:
      if (event.job_placed().attempt() > 1 && !event.job_placed().resumed()) {
        return {"job_restarted"};
      }
      return {};
    case v1::Event::kJobEnded:
      return {KindOfEnd(event.job_ended().state())};
    case v1::Event::kJobPaused:
      return {"job_paused"};
    case v1::Event::kJobResumed:
      return {"job_resumed"};
    case v1::Event::kAttemptYielded:
      return {"job_yielded"};
    case v1::Event::kAttemptFailed:
      if (event.attempt_failed().verdict().cause() == v1::VERDICT_CAUSE_STALLED) {
        return {"stalled", "attempt_failed"};
      }
      return {"attempt_failed"};
    case v1::Event::kAttemptHealing:
      return {"healing"};
    case v1::Event::kAttemptRolledBack:
      return {"rolled_back"};
    case v1::Event::kAlertRaised:
      if (IsSpike(event.alert_raised().code())) return {telemetry::kLossSpike, "alert"};
      return {"alert"};
    case v1::Event::kNodeLost:
      return {"node_lost"};
    case v1::Event::kNodeUnhealthy:
      // The first event of a quarantine has the same time as the start of the quarantine. Later
      // events of the quarantine are reported as "node_unhealthy".
      return {event.node_unhealthy().health().quarantine().since_ms() == event.time_ms()
                  ? "node_quarantined"
                  : "node_unhealthy"};
    case v1::Event::kNodeReleased:
      return {"node_released"};
    default:
      return {};
  }
}

std::string KindFor(const HookRule& rule, const v1::Event& event) {
  for (const std::string& kind : KindsOf(event)) {
    if (rule.on.contains(kind) || rule.on.contains(kAll)) return kind;
  }
  return "";
}

HookNotice NoticeOf(const std::string& kind, const v1::EventEntry& entry,
                    const std::string& cluster_id, const std::string& job_name) {
  HookNotice notice;
  notice.kind = kind;
  // The id includes the time, because sequence numbers repeat after a restore.
  notice.id = absl::StrCat(cluster_id, "-", entry.sequence(), "-", entry.event().time_ms());
  nlohmann::json body = {{"id", notice.id},
                         {"kind", kind},
                         {"cluster_id", cluster_id},
                         {"sequence", entry.sequence()},
                         {"unix_ms", entry.event().time_ms()},
                         {"text", TextOf(entry.event(), job_name)},
                         {"event", MessageToJson(entry.event())}};
  if (const int64_t job_id = JobIdOf(entry.event()); job_id != 0) {
    body["job_id"] = job_id;
    body["job_name"] = job_name;
  }
  notice.body = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return notice;
}

std::string SignatureOf(const HookRule& rule, std::string_view body) {
  if (rule.secret.empty()) return "";
  return absl::StrCat("sha256=",
                      KeyedHashOf(rule.secret, absl::string_view(body.data(), body.size())));
}

std::chrono::milliseconds RetryWait(int failures) {
  constexpr std::chrono::milliseconds kLongest{60'000};
  std::chrono::milliseconds wait{1000};
  for (int i = 1; i < failures && wait < kLongest; ++i) wait *= 2;
  return std::min(wait, kLongest);
}

}  // namespace trainyard::controller
