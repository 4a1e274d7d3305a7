#include "cli/commands/nodes/reservation.h"

#include <memory>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "cli/output/files/stable_json.h"
#include "cli/output/terminal/readable.h"
#include "cli/output/terminal/table.h"
#include "proto/support/status_macros.h"
#include "proto/text/duration_text.h"

namespace trainyard::cli {
namespace {

std::string OwnerText(const v1::NodeReservation& reservation) {
  if (!reservation.queue().empty()) return absl::StrCat("queue ", reservation.queue());
  if (!reservation.user().empty()) return absl::StrCat("user ", reservation.user());
  return "nobody";
}

Listing ReservationListing(const v1::ListReservationsResponse& response) {
  Listing listing;
  listing.columns = {{"NAME", false, false, true},
                     {"NODES"},
                     {"FROM"},
                     {"TO"},
                     {"FOR"},
                     {"DRAIN"},
                     {"REASON", false, false, true, kReasonWidth}};
  for (const v1::NodeReservation& reservation : response.reservations()) {
    Row row;
    row.cells = {reservation.name(),
                 OneLine(absl::StrJoin(reservation.nodes(), ",")),
                 IsoTime(reservation.start_ms()),
                 IsoTime(reservation.end_ms()),
                 OneLine(OwnerText(reservation)),
                 reservation.drain() ? "yes" : "no",
                 OneLine(reservation.reason())};
    row.exact_cells = row.cells;
    row.name = reservation.name();
    row.document = StableJson(reservation);
    listing.rows.push_back(std::move(row));
  }
  return listing;
}

void AddCreate(CLI::App& reservation, Grammar& grammar) {
  const auto options = std::make_shared<ReservationOptions>();
  CLI::App* command = reservation.add_subcommand("create", "Reserve nodes for a period");
  command->add_option("name", options->name, "name of the reservation")->required();
  command->add_option("--nodes", options->nodes, "nodes, such as gpu[01-04],gpu07")->required();
  command->add_option("--from", options->from, "start, such as 2026-12-01T08:00Z (default: now)");
  command->add_option("--for", options->length, "length, such as 2h")->required();
  auto* queue =
      command->add_option("--queue", options->queue, "queue whose jobs may use the nodes");
  command->add_option("--user", options->user, "user whose jobs may use the nodes")
      ->excludes(queue);
  command->add_option("--reason", options->reason, "reason, shown to all users");
  command->add_flag("--drain", options->drain,
                    "at the start, let other jobs save and leave the nodes");
  grammar.runners[command] = [options](Context& context) {
    return RunReservationCreate(*options, context);
  };
}

}  // namespace

void AddReservationCommands(CLI::App& app, Grammar& grammar) {
  CLI::App* reservation =
      app.add_subcommand("reservation", "Reservations of nodes: list, create, delete");
  reservation->require_subcommand(1);
  AddCreate(*reservation, grammar);
  CLI::App* list = reservation->add_subcommand("list", "List reservations by their start");
  grammar.runners[list] = [](Context& context) { return RunReservationList(context); };
  const auto name = std::make_shared<std::string>();
  CLI::App* removal = reservation->add_subcommand("delete", "Delete a reservation");
  removal->add_option("name", *name, "name of the reservation")->required();
  grammar.runners[removal] = [name](Context& context) {
    return RunReservationDelete(*name, context);
  };
}

absl::StatusOr<Timestamp> ParseStart(const std::string& text, Timestamp now) {
  if (text == "now") return now;
  absl::Time time;
  std::string error;
  for (const char* format : {"%Y-%m-%d%ET%H:%M%Ez", "%Y-%m-%d%ET%H:%M:%E*S%Ez"}) {
    if (absl::ParseTime(format, text, &time, &error)) return absl::ToUnixMillis(time);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--from ", text,
                   ": must be `now` or a time with its time zone, such as 2026-12-01T08:00Z or "
                   "2026-12-01T09:00+01:00"));
}

Outcome RunReservationCreate(const ReservationOptions& options, Context& context) {
  const int64_t length_ms = ParseDurationText(options.length);
  if (length_ms <= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--for ", options.length, ": must be a duration such as 30m, 2h or 3d"));
  }
  TRAINYARD_ASSIGN_OR_RETURN(const v1::ListReservationsResponse before,
                             context.client.ListReservations({}));
  TRAINYARD_ASSIGN_OR_RETURN(const Timestamp start, ParseStart(options.from, before.as_of_ms()));
  v1::CreateReservationRequest request;
  v1::NodeReservation& reservation = *request.mutable_reservation();
  reservation.set_name(options.name);
  reservation.add_nodes(options.nodes);
  reservation.set_start_ms(start);
  reservation.set_end_ms(start + length_ms);
  reservation.set_queue(options.queue);
  reservation.set_user(options.user);
  reservation.set_reason(options.reason);
  reservation.set_drain(options.drain);
  request.set_user(context.environment.user);
  TRAINYARD_ASSIGN_OR_RETURN(const v1::CreateReservationResponse response,
                             context.client.CreateReservation(request));
  if (!IsTable(context.format)) {
    PrintDocument(StableJson(response.reservation()), options.name, context.format,
                  context.console);
    return ExitCode::kOk;
  }
  *context.console.out << "reservation " << options.name << " from " << IsoTime(start) << " to "
                       << IsoTime(start + length_ms) << " for " << OwnerText(response.reservation())
                       << "\n";
  for (const std::string& warning : response.warnings()) PrintNote(context.console, warning);
  PrintNote(context.console, absl::StrCat("  undo  trainyard reservation delete ", options.name));
  return ExitCode::kOk;
}

Outcome RunReservationList(Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(const v1::ListReservationsResponse response,
                             context.client.ListReservations({}));
  PrintListing(ReservationListing(response), context.format, context.console);
  if (IsTable(context.format) && response.reservations().empty()) {
    PrintNote(context.console, "no reservations; create one with `trainyard reservation create`");
  }
  return ExitCode::kOk;
}

Outcome RunReservationDelete(const std::string& name, Context& context) {
  v1::DeleteReservationRequest request;
  request.set_name(name);
  request.set_user(context.environment.user);
  TRAINYARD_RETURN_IF_ERROR(context.client.DeleteReservation(request).status());
  PrintNote(context.console, absl::StrCat("reservation ", name, " is deleted"));
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
