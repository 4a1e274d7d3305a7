// Readers for the configurations of other trainers. Each reader converts a tree to a draft.
// Settings that a reader does not understand become notes.
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
// Reads the YAML of NeMo 1 or the Python code of NeMo 2. The Python code creates an object or calls
// a recipe, then assigns to fields of the result.
absl::Status ReadNemo(const SourceTree& tree, JobDraft& draft);
absl::Status ReadDetermined(const SourceTree& tree, JobDraft& draft);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_CONFIG_READERS_H_
