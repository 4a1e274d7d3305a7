// Webhooks and command hooks: their configuration, the events that trigger them, and the notices
// they receive. Pure, except ParseHooks, which reads the files named in the configuration.
#ifndef TRAINYARD_CONTROLLER_HOOKS_HOOK_RULES_H_
#define TRAINYARD_CONTROLLER_HOOKS_HOOK_RULES_H_

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "controller/hooks/hook_url.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

struct HookRule {
  std::string name;
  // Kinds of events (KindsOf). "all" means every kind.
  std::set<std::string> on;
  // Either a URL or a program with its arguments.
  HookUrl url;
  std::vector<std::string> command;
  // Key of the signature. Empty: calls are not signed.
  std::string secret;
  // PEM file of the certificate authorities for the server's certificate. Empty: the system's.
  std::string ca_file;
  std::chrono::milliseconds timeout{10'000};

  bool is_command() const { return !command.empty(); }
  // For display: the URL without path and query, or the program.
  std::string Target() const;
};

// The section `hooks` of the controller's configuration; empty if it is missing. INVALID_ARGUMENT
// names the hook and the key.
absl::StatusOr<std::vector<HookRule>> ParseHooks(const std::string& yaml);

// Kinds of the event that a hook can select, such as "job_failed". Most events have none.
std::vector<std::string> KindsOf(const v1::Event& event);
// All existing kinds.
const std::vector<std::string>& HookKinds();

// The kind for which the hook is called; empty if it is not called.
std::string KindFor(const HookRule& rule, const v1::Event& event);

// One call.
struct HookNotice {
  std::string kind;
  // Identical for all tries and hooks, and across restarts, so that a receiver can drop repeated
  // notices.
  std::string id;
  // JSON.
  std::string body;
};

HookNotice NoticeOf(const std::string& kind, const v1::EventEntry& entry,
                    const std::string& cluster_id, const std::string& job_name);

// "sha256=" and the HMAC of the body; empty without a secret.
std::string SignatureOf(const HookRule& rule, std::string_view body);

// Delay before the next try after this many consecutive failures: 1 s, doubled up to a minute.
std::chrono::milliseconds RetryWait(int failures);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_HOOKS_HOOK_RULES_H_
