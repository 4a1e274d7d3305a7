// Megatron-LM's command lines.
#ifndef TRAINYARD_CLI_CONVERT_MEGATRON_READER_H_
#define TRAINYARD_CLI_CONVERT_MEGATRON_READER_H_

#include "cli/convert/job_draft.h"
#include "cli/convert/source/shell_script.h"

namespace trainyard::cli {

// `words`: a pretrain script with its options, without a launcher. Missing options have
// Megatron-LM's defaults, not trainyard-trainer's. Options that are meaningless or unsupported in
// trainyard-trainer become notes.
void ReadMegatronWords(const ScriptCommand& words, JobDraft& draft);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_MEGATRON_READER_H_
