// Grammar of the operators' commands: dashboard, doctor, node release and remove, server check and
// sessions.
#ifndef TRAINYARD_CLI_GRAMMAR_OPERATOR_GRAMMAR_H_
#define TRAINYARD_CLI_GRAMMAR_OPERATOR_GRAMMAR_H_

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

// Add commands under the noun `node`.
void AddReleaseNode(CLI::App& node, Grammar& grammar);
void AddRemoveNode(CLI::App& node, Grammar& grammar);

// Add commands under the noun `server`.
void AddServerCheck(CLI::App& server, Grammar& grammar);
void AddServerSessions(CLI::App& server, Grammar& grammar);

// Adds the commands dashboard and doctor.
void AddOperatorCommands(CLI::App& app, Grammar& grammar);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_GRAMMAR_OPERATOR_GRAMMAR_H_
