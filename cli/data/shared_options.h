// Options that several commands of `trainyard data` share.
#ifndef TRAINYARD_CLI_DATA_SHARED_OPTIONS_H_
#define TRAINYARD_CLI_DATA_SHARED_OPTIONS_H_

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "data/prepare/command/prepare_options.h"

namespace trainyard::cli {

// Rejects an empty value, because in trainyard-data CLI11 would take the argument after `--out=` as
// the value.
std::string NotEmpty(const std::string& value);

// Returns a text that reproduces the same double exactly, which 17 digits do.
std::string ExactText(double value);

// Options of commands that read text. AddInputOptions also adds those about bad lines.
void AddReadOptions(CLI::App& app, data::InputOptions* options);
void AddInputOptions(CLI::App& app, data::InputOptions* options);

void AddTokenizerOptions(CLI::App& app, data::TokenizerOptions* options);

// The output directory of a command that continues an interrupted run.
void AddRunDirectory(CLI::App& app, std::string* directory);

// Append the inputs behind the end of the options, so that an input that begins with '-' is not
// read as an option.
void AppendReadOptions(const data::InputOptions& options, std::vector<std::string>* line);
void AppendInputs(const data::InputOptions& options, std::vector<std::string>* line);

void AppendTokenizerOptions(const data::TokenizerOptions& options, std::vector<std::string>* line);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_DATA_SHARED_OPTIONS_H_
