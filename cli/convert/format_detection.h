// Decides which trainer wrote a file, and reads the file's syntax.
#ifndef TRAINYARD_CLI_CONVERT_FORMAT_DETECTION_H_
#define TRAINYARD_CLI_CONVERT_FORMAT_DETECTION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/convert/config_readers.h"
#include "cli/convert/source/source_tree.h"

namespace trainyard::cli {

struct DetectedFormat {
  std::string name;
  std::string reason;   // Why the file has this format, such as "it has the key `trainer`".
  ConfigReader reader;  // Empty for options of Megatron-LM (megatron_file.h).
  SourceTree tree;
};

// Reads a configuration. `format`: the requested format; empty: detect it. `neighbor`: the format
// of another file of the run, which is used if the file itself shows none. Returns INVALID_ARGUMENT
// for a text that no reader knows, with the list of formats.
absl::StatusOr<DetectedFormat> DetectConfig(const std::string& text, const std::string& format,
                                            const std::string& neighbor);

// The format of files with options of Megatron-LM, and of command lines.
inline constexpr char kMegatronFormat[] = "megatron";

// Returns the name of the script format and the reason; an empty name for a text that is not a
// script. Text that looks like a configuration is not a script: a configuration may contain a
// launch line, but a script never contains a configuration.
struct ScriptFormat {
  std::string name;
  std::string reason;
};
ScriptFormat DetectScript(const std::string& text);

bool IsScriptFormat(const std::string& format);

// The names of all formats, sorted.
std::vector<std::string> FormatNames();
// A sentence that lists the inputs that can be converted.
std::string SupportedInputs();
// True if the text has no line except comments.
bool IsEmptyText(const std::string& text);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_FORMAT_DETECTION_H_
