#include "cli/output/files/output_file.h"

#include <fstream>

#include "absl/strings/str_cat.h"

namespace trainyard::cli {

absl::Status WriteOutputFile(const std::string& path, const std::string& text, Console& console) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file.good()) return absl::InvalidArgumentError(absl::StrCat("cannot write ", path));
  PrintNote(console, absl::StrCat("wrote ", path));
  return absl::OkStatus();
}

}  // namespace trainyard::cli
