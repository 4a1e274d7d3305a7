#include "cli/commands/nodes/drain.h"

#include <memory>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "cli/grammar/option_help.h"
#include "cli/output/files/stable_json.h"
#include "cli/output/terminal/readable.h"
#include "proto/contract/limits.h"
#include "proto/support/status_macros.h"
#include "proto/text/duration_text.h"

namespace trainyard::cli {
namespace {

// INVALID_ARGUMENT: the text is no duration, or the duration is too long.
absl::StatusOr<int64_t> DeadlineMs(const std::string& text) {
  const int64_t after_ms = ParseDurationText(text);
  if (0 <= after_ms && after_ms <= kLongestDrainMs) return after_ms;
  return absl::InvalidArgumentError(absl::StrCat(
      "--deadline ", text, ": must be a duration of at most 30 days, such as 30m, 2h or 0"));
}

std::string DrainText(int64_t after_ms) {
  const std::string when = after_ms == 0 ? "now" : absl::StrCat("within ", DurationText(after_ms));
  return absl::StrCat(" is draining: new ranks are not placed; jobs save and move ", when, "\n");
}

}  // namespace

void AddDrain(CLI::App& node, Grammar& grammar) {
  const auto options = std::make_shared<DrainOptions>();
  CLI::App* command =
      node.add_subcommand("drain", "Move the jobs off a node before maintenance; they save first");
  command->add_option("node", options->node, kNodeHelp)->required();
  command->add_option("--deadline", options->deadline,
                      "time within which jobs must leave, such as 30m (default: 0)");
  command->add_option("--reason", options->reason, "reason, shown to all users");
  grammar.runners[command] = [options](Context& context) { return RunDrain(*options, context); };
}

Outcome RunDrain(const DrainOptions& options, Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t after_ms, DeadlineMs(options.deadline));
  v1::CordonNodeRequest request;
  request.set_node(options.node);
  request.set_cordoned(true);
  request.set_drain_after_ms(after_ms);
  request.set_reason(options.reason);
  request.set_user(context.environment.user);
  TRAINYARD_ASSIGN_OR_RETURN(const v1::CordonNodeResponse response,
                             context.client.CordonNode(request));
  const v1::Node& node = response.node();
  if (!IsTable(context.format)) {
    PrintDocument(StableJson(node), node.name(), context.format, context.console);
    return ExitCode::kOk;
  }
  *context.console.out << "node " << node.name() << DrainText(after_ms);
  PrintNote(context.console, absl::StrCat("  undo  trainyard node undrain ", node.name()));
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
