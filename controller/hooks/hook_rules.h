// Webhooks and command hooks: their configuration, the events that trigger hooks, and the notices
// that hooks receive. Has no side effects, except that ParseHooks reads the files that the
// configuration names.
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
  // The kinds of events that trigger the hook (KindsOf). "all" means every kind.
  std::set<std::string> on;
  // A hook has either a URL, or a program with its arguments.
  HookUrl url;
  std::vector<std::string> command;
  // The key that signs calls. If empty, calls are not signed.
  std::string secret;
  // A PEM file with the certificate authorities that may sign the server's certificate. If empty,
  // the system's certificate authorities are used.
  std::string ca_file;
  std::chrono::milliseconds timeout{10'000};

  bool is_command() const { return !command.empty(); }
  // Returns the target for display: the URL without path and query, or the program.
  std::string Target() const;
};

// Parses the section `hooks` of the controller's configuration. Returns an empty list if the
// section is missing. INVALID_ARGUMENT: the message names the hook and the key.
absl::StatusOr<std::vector<HookRule>> ParseHooks(const std::string& yaml);

// Returns the event's kinds that hooks can select, such as "job_failed". Most events have no kind.
std::vector<std::string> KindsOf(const v1::Event& event);
// All existing kinds.
const std::vector<std::string>& HookKinds();

// Returns the event's kind that triggers the hook. Empty if the event does not trigger the hook.
std::string KindFor(const HookRule& rule, const v1::Event& event);

// One call.
struct HookNotice {
  std::string kind;
  // Identifies the event. The id is the same in all tries, for all hooks and after restarts, so
  // that a receiver can drop repeated notices.
  std::string id;
  // JSON.
  std::string body;
};

HookNotice NoticeOf(const std::string& kind, const v1::EventEntry& entry,
                    const std::string& cluster_id, const std::string& job_name);

// Returns "sha256=" followed by the HMAC of the body. Empty if the rule has no secret.
std::string SignatureOf(const HookRule& rule, std::string_view body);

// Returns the delay before the next try after `failures` consecutive failures: 1 s after the first
// failure, doubled with each further failure up to one minute.
std::chrono::milliseconds RetryWait(int failures);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_HOOKS_HOOK_RULES_H_
