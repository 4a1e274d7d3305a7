// Commands about reservations of nodes: reservation create, list, delete.
#ifndef TRAINYARD_CLI_COMMANDS_NODES_RESERVATION_H_
#define TRAINYARD_CLI_COMMANDS_NODES_RESERVATION_H_

#include <string>

#include "absl/status/statusor.h"
#include "cli/grammar/grammar.h"
#include "proto/support/clock.h"

namespace trainyard::cli {

struct ReservationOptions {
  std::string name;
  std::string nodes;  // Names or ranges, separated by commas.
  std::string from = "now";
  std::string length;  // Duration.
  std::string queue;
  std::string user;
  std::string reason;
  bool drain = false;
};

void AddReservationCommands(CLI::App& app, Grammar& grammar);

// Returns the time that the text stands for: `now`, or a time with its time zone such as
// 2026-12-01T08:00Z or 2026-12-01T08:00:30+01:00. INVALID_ARGUMENT: any other text.
absl::StatusOr<Timestamp> ParseStart(const std::string& text, Timestamp now);

Outcome RunReservationCreate(const ReservationOptions& options, Context& context);
Outcome RunReservationList(Context& context);
Outcome RunReservationDelete(const std::string& name, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_NODES_RESERVATION_H_
