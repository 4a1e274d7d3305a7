#include "cli/grammar/svg_option.h"

namespace trainyard::cli {

CLI::Option* AddSvgOption(CLI::App& command, std::string& path, const char* help) {
  return command.add_option("--svg", path, help)->type_name("FILE");
}

}  // namespace trainyard::cli
