#include "cli/commands/server/hand_over.h"

#include <memory>
#include <ostream>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cli/output/files/stable_json.h"
#include "cli/output/terminal/readable.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenQuestions{20};

// Asks the leader. If the leader handed over but its answer was lost, the call is repeated at the
// new leader, which refuses it.
absl::StatusOr<v1::HandOverResponse> Ask(const HandOverOptions& options, Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(const v1::GetServerInfoResponse before,
                             context.client.GetServerInfo());
  v1::HandOverRequest request;
  request.set_to(options.to);
  request.set_user(context.environment.user);
  request.set_from(before.leadership().leader());
  absl::StatusOr<v1::HandOverResponse> response = context.client.HandOver(request);
  if (!absl::IsFailedPrecondition(response.status())) return response;
  const auto after = context.client.GetServerInfo();
  if (!after.ok() || after->leadership().term() <= before.leadership().term()) return response;
  // The new leader is not the requested successor.
  if (!options.to.empty() && after->leadership().leader() != options.to) return response;
  v1::HandOverResponse lost;
  lost.set_from(before.leadership().leader());
  lost.set_to(after->leadership().leader());
  lost.set_term(before.leadership().term());
  return lost;
}

// Waits until a controller leads a later term. Returns its role.
absl::StatusOr<v1::Leadership> WaitForLeader(const v1::HandOverResponse& handed_over,
                                             Steady::time_point give_up, const Client& client) {
  std::string problem;
  do {
    const auto info = client.GetServerInfoOf(handed_over.to());
    if (info.ok() && info->leadership().term() > handed_over.term()) return info->leadership();
    problem = info.ok() ? "it does not lead yet" : std::string(info.status().message());
    std::this_thread::sleep_for(kBetweenQuestions);
  } while (Steady::now() < give_up);
  return absl::UnavailableError(
      absl::StrCat(handed_over.from(), " has handed over to ", handed_over.to(),
                   ", but whether that controller leads is unknown: ", problem,
                   "\ncheck all controllers with `trainyard server status`"));
}

}  // namespace

void AddServerHandOver(CLI::App& server, Grammar& grammar) {
  const auto options = std::make_shared<HandOverOptions>();
  CLI::App* command = server.add_subcommand(
      "hand-over", "Make a standby the leader, for example to upgrade the present leader");
  command->add_option("--to", options->to,
                      "HOST:PORT of the standby, as in `server status` (default: a ready one)");
  grammar.runners[command] = [options](Context& context) {
    return RunServerHandOver(*options, context);
  };
}

Outcome RunServerHandOver(const HandOverOptions& options, Context& context) {
  const Steady::time_point begin = Steady::now();
  TRAINYARD_ASSIGN_OR_RETURN(const v1::HandOverResponse response, Ask(options, context));
  TRAINYARD_ASSIGN_OR_RETURN(const v1::Leadership leader,
                             WaitForLeader(response, Steady::now() + options.wait, context.client));
  const double seconds = std::chrono::duration<double>(Steady::now() - begin).count();
  if (!IsTable(context.format)) {
    nlohmann::json document = StableJson(response);
    document["leader"] = leader.leader();
    document["leader_term"] = leader.term();
    document["seconds"] = seconds;
    PrintDocument(document, leader.leader(), context.format, context.console);
    return ExitCode::kOk;
  }
  *context.console.out << OneLine(leader.leader()) << " leads term " << leader.term() << ", "
                       << NumberText(seconds, 2) << " s after the request\n"
                       << OneLine(response.from())
                       << " has exited; it is a standby once its service manager starts it\n";
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
