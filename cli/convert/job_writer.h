// A JobDraft as the text of a job file.
#ifndef TRAINYARD_CLI_CONVERT_JOB_WRITER_H_
#define TRAINYARD_CLI_CONVERT_JOB_WRITER_H_

#include <string>

#include "cli/convert/job_draft.h"

namespace trainyard::cli {

// YAML, its sections in the order of recipes. Texts are quoted where YAML needs it.
std::string JobFileOf(const JobDraft& draft, const std::string& name);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_JOB_WRITER_H_
