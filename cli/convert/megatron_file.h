// Reads options of Megatron-LM from a configuration file, such as `num-layers: 32`. Recipes, and
// the tests of Megatron-LM, write the options of a command line as YAML.
#ifndef TRAINYARD_CLI_CONVERT_MEGATRON_FILE_H_
#define TRAINYARD_CLI_CONVERT_MEGATRON_FILE_H_

#include <cstddef>

#include "cli/convert/job_draft.h"
#include "cli/convert/source/source_tree.h"

namespace trainyard::cli {

// Returns the number of values that are options of Megatron-LM.
std::size_t CountMegatronOptions(const SourceTree& tree);

void ReadMegatronFile(const SourceTree& tree, JobDraft& draft);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_MEGATRON_FILE_H_
