// Options of sbatch that choose nodes: --nodelist, --exclude and --constraint.
#ifndef TRAINYARD_CLI_CONVERT_BATCH_NODES_H_
#define TRAINYARD_CLI_CONVERT_BATCH_NODES_H_

#include <string>

#include "cli/convert/job_draft.h"

namespace trainyard::cli {

// Sets `placement` of the job. `text` is the option as written, for notes. Returns false if the
// option does not choose nodes.
bool TakeBatchNodes(const std::string& option, const std::string& value, const std::string& text,
                    int line, JobDraft& draft);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_BATCH_NODES_H_
