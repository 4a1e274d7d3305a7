// Readers for the configurations of other trainers. Each reader converts a tree to a draft.
#ifndef TRAINYARD_CLI_CONVERT_CONFIG_READERS_H_
#define TRAINYARD_CLI_CONVERT_CONFIG_READERS_H_

#include "absl/status/statusor.h"
#include "cli/convert/job_draft.h"
#include "cli/convert/source/source_tree.h"
#include "cli/convert/translation.h"

namespace trainyard::cli {

// The parts of a format. ReadConfigTree uses them for every format, so that no reader can forget to
// account for a setting.
struct ConfigReader {
  // Returns the tree with the paths of the table.
  absl::StatusOr<SourceTree> (*prepare)(const SourceTree& tree);
  const Translations& (*table)();
  // Runs after the table was applied. Reads the values that the table does not translate.
  absl::Status (*read)(const SourceTree& tree, JobDraft& draft);
};

ConfigReader TorchtitanFormat();
ConfigReader DeepSpeedFormat();
ConfigReader NeoxFormat();
ConfigReader OlmoFormat();
// The YAML of NeMo 1 or the Python code of NeMo 2. The Python code creates an object or calls a
// recipe, then assigns to fields of the result.
ConfigReader NemoFormat();
ConfigReader DeterminedFormat();

// Reads the tree into the draft. Every value is translated, read, or named in a note. Returns the
// number of values and of those that are not understood.
absl::StatusOr<KeyCounts> ReadConfigTree(const ConfigReader& reader, const SourceTree& tree,
                                         JobDraft& draft);

// A `prepare` that changes nothing.
absl::StatusOr<SourceTree> SameTree(const SourceTree& tree);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_CONFIG_READERS_H_
