// `recipe new` for a description: the same run on other hardware, as another description.
#ifndef TRAINYARD_CLI_COMMANDS_RECIPES_DESCRIPTION_NEW_H_
#define TRAINYARD_CLI_COMMANDS_RECIPES_DESCRIPTION_NEW_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "cli/context/context.h"
#include "cli/grammar/cluster_options.h"
#include "proto/contract/run_config.h"
#include "proto/jobspec/reader.h"

namespace trainyard::cli {

// The recipe on which `recipe new` is based: `like`. If that is a description in FP8 and the device
// has no FP8, the recipe it names for such devices; a note reports it.
absl::StatusOr<std::string> BaseFor(const std::string& like, const ClusterOptions& cluster,
                                    Context& context);

// The hardware and the name of the new run.
struct NewRun {
  ClusterOptions cluster;
  int64_t global_batch = 0;  // 0: in proportion to the devices.
  std::string name;          // Empty: from the old name and the cluster.
};

// Prints the description with the layout and the batch for the cluster.
Outcome RunDescriptionNew(const JobFileText& file, const NewRun& options, Context& context);

// The batch in proportion to the devices, like the data-parallel size if the rest of a layout
// stays.
int64_t ScaledBatch(const RunConfig& base, int64_t devices);

// "llama3-8b-4x8-h200".
std::string NameOn(const std::string& name, const planner::Cluster& cluster);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_RECIPES_DESCRIPTION_NEW_H_
