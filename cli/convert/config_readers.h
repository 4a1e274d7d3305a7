// Readers of other trainers' configurations. Each takes a tree and fills a draft; what it does not
// understand becomes a note.
#ifndef TRAINYARD_CLI_CONVERT_CONFIG_READERS_H_
#define TRAINYARD_CLI_CONVERT_CONFIG_READERS_H_

#include "absl/status/status.h"
#include "cli/convert/job_draft.h"
#include "cli/convert/source/source_tree.h"

namespace trainyard::cli {

absl::Status ReadTorchtitan(const SourceTree& tree, JobDraft& draft);
absl::Status ReadDeepSpeed(const SourceTree& tree, JobDraft& draft);
absl::Status ReadNeox(const SourceTree& tree, JobDraft& draft);
absl::Status ReadOlmo(const SourceTree& tree, JobDraft& draft);
// NeMo 1's YAML, and NeMo 2's Python code: a class or a recipe, and assignments to it.
absl::Status ReadNemo(const SourceTree& tree, JobDraft& draft);
absl::Status ReadDetermined(const SourceTree& tree, JobDraft& draft);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_CONFIG_READERS_H_
