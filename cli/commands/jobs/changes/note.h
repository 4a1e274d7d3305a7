// `trainyard note`: writes, lists and deletes notes on steps of a job.
#ifndef TRAINYARD_CLI_COMMANDS_JOBS_CHANGES_NOTE_H_
#define TRAINYARD_CLI_COMMANDS_JOBS_CHANGES_NOTE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

struct NoteOptions {
  std::string job;
  std::string text;  // Empty: lists the notes.
  std::optional<int64_t> step;
  std::optional<int64_t> deleted;  // Number of the note to delete.
};

// Adds the command and its options.
void AddNote(CLI::App& parent, Grammar& grammar);

Outcome RunNote(const NoteOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_JOBS_CHANGES_NOTE_H_
