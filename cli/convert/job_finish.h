// Completes a draft after all sources have been read.
#ifndef TRAINYARD_CLI_CONVERT_JOB_FINISH_H_
#define TRAINYARD_CLI_CONVERT_JOB_FINISH_H_

#include "cli/convert/job_draft.h"

namespace trainyard::cli {

// Computes the batch size, removes settings that the job's program does not read, and adds notes
// about settings that are missing.
void FinishDraft(JobDraft& draft);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_JOB_FINISH_H_
