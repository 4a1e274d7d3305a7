// Reads command lines of Megatron-LM.
#ifndef TRAINYARD_CLI_CONVERT_MEGATRON_READER_H_
#define TRAINYARD_CLI_CONVERT_MEGATRON_READER_H_

#include "cli/convert/job_draft.h"
#include "cli/convert/shell/shell_script.h"

namespace trainyard::cli {

// Reads the words of a pretrain script and its options, without a launcher. A missing option has
// Megatron-LM's default, not trainyard-trainer's. Each option that trainyard-trainer does not
// support becomes a note.
void ReadMegatronWords(const ScriptCommand& words, JobDraft& draft);

// True for an option that the reader knows, without its dashes.
bool IsMegatronOption(const std::string& option);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_MEGATRON_READER_H_
