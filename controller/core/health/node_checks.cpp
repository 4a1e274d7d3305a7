#include "controller/core/health/node_checks.h"

#include <cstdlib>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/core/observations/root_sightings.h"
#include "proto/json/enum_text.h"

namespace trainyard::controller {
namespace {

// The maximum clock offset of a node. Telemetry and logs have the time of their node, and a job's
// curves must match its log.
constexpr int64_t kClockOffMsMax = 2000;

v1::NodeCheck Check(const char* name, bool ok, const std::string& found, const char* advice) {
  v1::NodeCheck check;
  check.set_name(name);
  check.set_ok(ok);
  check.set_found(found);
  if (!ok) check.set_advice(advice);
  return check;
}

v1::NodeCheck ContactCheck(const v1::Node& node) {
  const bool ready = node.state() == v1::NODE_STATE_READY;
  return Check("contact", ready,
               ready ? "ready" : absl::StrCat(EnumText(node.state()), ": ", node.state_reason()),
               "check the worker's log (journalctl -u trainyard-worker); if the node is gone for "
               "good, run `trainyard node remove`");
}

v1::NodeCheck ClockCheck(int64_t offset_ms) {
  return Check("clock", std::abs(offset_ms) <= kClockOffMsMax,
               absl::StrCat(offset_ms, " ms from the controller's clock"),
               "synchronize both machines with one time server (chrony, systemd-timesyncd)");
}

v1::NodeCheck IdentityCheck(const std::string& older_release) {
  return Check("identity", older_release.empty(),
               older_release.empty()
                   ? "proven by the node's key"
                   : absl::StrCat("the worker's release ", older_release,
                                  " sends the node's secret instead of a signature"),
               "upgrade the worker; ranks continue during the upgrade");
}

}  // namespace

v1::NodeChecks ChecksOf(const ClusterState& state, const NodeEntry& entry,
                        const Observations& observations) {
  v1::NodeChecks checks;
  checks.set_id(entry.node.id());
  checks.set_name(entry.node.name());
  checks.set_state(entry.node.state());
  *checks.add_checks() = ContactCheck(entry.node);
  const auto observed = observations.nodes.find(entry.node.id());
  if (observed == observations.nodes.end() || observed->second.checked_ms == 0) return checks;
  const NodeObservation& node = observed->second;
  checks.set_checked_ms(node.checked_ms);
  *checks.add_checks() = IdentityCheck(node.older_release);
  if (const auto ahead_ms = node.clock.AheadMs()) *checks.add_checks() = ClockCheck(*ahead_ms);
  for (const v1::NodeCheck& check : node.checks) *checks.add_checks() = check;
  v1::NodeCheck root = RootCheck(state, entry.node.id(), observations.roots);
  if (!root.name().empty()) *checks.add_checks() = std::move(root);
  return checks;
}

}  // namespace trainyard::controller
