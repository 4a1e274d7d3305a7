// `trainyard scale`: divides a compute budget between parameters and tokens, according to published
// scaling laws.
#ifndef TRAINYARD_CLI_COMMANDS_PLANNING_SCALE_H_
#define TRAINYARD_CLI_COMMANDS_PLANNING_SCALE_H_

#include <string>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

// Amounts as typed, such as 7B and 1.36e21; empty if not given.
struct ScaleOptions {
  std::string flops;
  std::string parameters;
  std::string tokens;
  std::string like;  // A recipe whose family determines the shape.
  std::string svg;   // File for a figure; empty: none.
};

// Adds the command and its options.
void AddScale(CLI::App& parent, Grammar& grammar);

Outcome RunScale(const ScaleOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_PLANNING_SCALE_H_
