#include "cli/commands/server/status.h"

#include <algorithm>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/output/cluster/database_view.h"
#include "cli/output/files/stable_json.h"
#include "cli/output/terminal/answered_at.h"
#include "cli/output/terminal/readable.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

// Prints the space used by the stores, the free space on the disk, and the rules by which space is
// freed.
void PrintSpace(const v1::GetServerInfoResponse& info, Timestamp now, Context& context) {
  std::ostream& out = *context.console.out;
  for (const v1::StoreSpace& store : info.stores()) {
    out << "  " << store.store()
        << std::string(13 - std::min<std::size_t>(store.store().size(), 12), ' ')
        << BytesText(store.used_bytes());
    if (store.bound_bytes() > 0) out << " of at most " << BytesText(store.bound_bytes());
    if (store.bound_bytes() > 0 && store.used_bytes() > store.bound_bytes()) {
      out << " (over the limit, because the remaining data belongs to jobs that have not ended)";
    }
    out << "\n";
  }
  if (info.disk_bytes() > 0) {
    out << "  disk         " << BytesText(info.disk_free_bytes()) << " free of "
        << BytesText(info.disk_bytes()) << "\n";
  }
  for (const v1::StoreScrub& scrub : info.scrubs()) {
    out << "  checked      " << scrub.store() << ": "
        << (scrub.finished_ms() == 0
                ? absl::StrCat(NumberText(100 * scrub.part(), 3), " % so far")
                : absl::StrCat("all pages ", AgoText(scrub.finished_ms(), now)))
        << (scrub.damaged_pages() == 0
                ? ""
                : absl::StrCat(", ", scrub.damaged_pages(), " DAMAGED pages"))
        << "\n";
  }
  if (!info.retention().empty()) {
    out << "  kept         " << absl::StrJoin(info.retention(), "; ") << "\n";
  }
}

// Prints one line per webhook and per command hook.
void PrintHooks(const v1::GetServerInfoResponse& info, Timestamp now, std::ostream& out) {
  for (const v1::HookStatus& hook : info.hooks()) {
    out << "  hook         " << OneLine(hook.name()) << " -> " << OneLine(hook.target()) << ": "
        << hook.delivered() << " delivered";
    if (hook.dropped() > 0) out << ", " << hook.dropped() << " DROPPED";
    if (hook.failing_since_ms() > 0) {
      out << ", FAILING for " << AgeText(hook.failing_since_ms(), now) << ", " << hook.behind()
          << " events behind: " << OneLine(hook.error());
    }
    out << "\n";
  }
}

std::string RoleText(const v1::Leadership& leadership, Timestamp now) {
  const std::string since = AgeText(leadership.since_ms(), now);
  if (leadership.leads()) {
    return absl::StrCat("leads term ", leadership.term(), ", for ", since);
  }
  if (leadership.leader().empty()) {
    return absl::StrCat("standby for ", since, "; no controller leads");
  }
  return absl::StrCat("standby for ", since, "; ", OneLine(leadership.leader()), " leads term ",
                      leadership.term());
}

// Returns, for example, "; 3 events behind". `revision` is that of the leader, which answered
// first; 0 if no leader answered. Empty if the controller does not follow the log.
std::string LagText(const v1::GetServerInfoResponse& standby, uint64_t revision) {
  if (standby.leadership().leads() || standby.revision() == 0 || revision == 0) return "";
  const uint64_t behind = revision > standby.revision() ? revision - standby.revision() : 0;
  return behind == 0 ? "; up to date"
                     : absl::StrCat("; ", behind, behind == 1 ? " event" : " events", " behind");
}

// Returns one line per controller of the list other than `except`. `revision` is as in LagText.
std::string OtherControllers(const Client& client, const std::string& except, uint64_t revision,
                             Timestamp now) {
  std::string lines;
  for (const std::string& controller : client.controllers()) {
    if (controller == except) continue;
    const auto info = client.GetServerInfoOf(controller);
    absl::StrAppend(&lines, "  other        ", controller, ": ",
                    info.ok()
                        ? absl::StrCat(RoleText(info->leadership(), now), LagText(*info, revision))
                        : OneLine(std::string(info.status().message())),
                    "\n");
  }
  return lines;
}

// Returns the error of a command that found no leader, after a list of all controllers.
absl::Status NoLeader(const absl::Status& error, const Client& client, Timestamp now) {
  if (client.controllers().size() < 2 || !absl::IsUnavailable(error)) return error;
  return absl::UnavailableError(
      absl::StrCat(error.message(), "\n", OtherControllers(client, "", 0, now)));
}

}  // namespace

void MakeServerStatus(CLI::App& command, Grammar& grammar) {
  grammar.runners[&command] = [](Context& context) { return RunServerStatus(context); };
}

Outcome RunServerStatus(Context& context) {
  const auto answer = context.client.GetServerInfo();
  if (!answer.ok()) {
    return NoLeader(answer.status(), context.client, context.console.clock->Now());
  }
  const v1::GetServerInfoResponse& info = *answer;
  if (!IsTable(context.format)) {
    nlohmann::json document = StableJson(info);
    document["server"] = context.client.server();
    PrintDocument(document, context.client.server(), context.format, context.console);
    return ExitCode::kOk;
  }
  const Timestamp now = AnsweredAt(info, context.console);
  *context.console.out << "controller at " << context.client.server() << "\n  version      "
                       << info.version() << "\n  up           "
                       << AgeText(info.started_time_ms(), now) << "\n  data         "
                       << info.data_dir() << "\n  checkpoints  " << info.checkpoint_root()
                       << "\n  access       " << info.access() << "\n";
  if (info.has_leadership()) {
    *context.console.out << "  role         " << RoleText(info.leadership(), now) << "\n"
                         << OtherControllers(context.client, context.client.server(),
                                             info.revision(), now);
  }
  PrintDatabase(info, context.client.controllers(), now, *context.console.out);
  const auto who = context.client.WhoAmI([&] {
    v1::WhoAmIRequest request;
    request.set_user(context.environment.user);
    return request;
  }());
  if (who.ok()) {
    *context.console.out << "  you are      " << who->user()
                         << (who->verified() ? " (verified: this user owns the connection)"
                                             : " (not verified)")
                         << "\n";
  }
  for (const std::string& warning : info.warnings()) {
    *context.console.out << "  WARNING      " << warning << "\n";
  }
  PrintSpace(info, now, context);
  PrintHooks(info, now, *context.console.out);
  for (const v1::StorageProblem& problem : info.storage_problems()) {
    *context.console.out << "  cannot store " << problem.store() << " (for "
                         << AgeText(problem.since_ms(), now) << "): " << problem.message() << "\n";
  }
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
