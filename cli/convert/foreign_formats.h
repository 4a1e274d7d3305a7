// Recognizes files of systems that are not converted but look similar to files that are.
#ifndef TRAINYARD_CLI_CONVERT_FOREIGN_FORMATS_H_
#define TRAINYARD_CLI_CONVERT_FOREIGN_FORMATS_H_

#include <string>

#include "cli/convert/source/source_tree.h"

namespace trainyard::cli {

// Returns what the file is and what to convert instead; empty for other files.
std::string ForeignFormat(const SourceTree& tree);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_FOREIGN_FORMATS_H_
