// Writes a JobDraft as a job file.
#ifndef TRAINYARD_CLI_CONVERT_JOB_WRITER_H_
#define TRAINYARD_CLI_CONVERT_JOB_WRITER_H_

#include <string>

#include "cli/convert/job_draft.h"

namespace trainyard::cli {

// Returns YAML with the sections in the same order as in recipes. Text is quoted only where YAML
// requires it.
std::string JobFileOf(const JobDraft& draft, const std::string& name);

// Returns the same YAML with the origin of each value as a comment.
std::string ExplainedJobFileOf(const JobDraft& draft, const std::string& name,
                               const std::string& name_origin);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_JOB_WRITER_H_
