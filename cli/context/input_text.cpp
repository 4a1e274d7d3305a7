#include "cli/context/input_text.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <istream>

#include "absl/strings/str_cat.h"

namespace trainyard::cli {

absl::StatusOr<std::string> ReadInputText(const std::string& file, std::size_t max_bytes,
                                          Console& console) {
  std::ifstream opened;
  if (file != "-") {
    opened.open(file, std::ios::binary);
    if (!opened) {
      return absl::NotFoundError(absl::StrCat(file, ": cannot be opened: ", strerror(errno)));
    }
  }
  std::istream& in = file == "-" ? *console.in : opened;
  std::string text(max_bytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() <= max_bytes) return text;
  return absl::InvalidArgumentError(absl::StrCat(file, ": is longer than ", max_bytes, " bytes"));
}

}  // namespace trainyard::cli
