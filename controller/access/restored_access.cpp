#include "controller/access/restored_access.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "proto/access/token_file.h"

namespace trainyard::controller {

std::string RestoredAccessText(const std::string& token_file) {
  std::error_code error;
  if (std::filesystem::exists(token_file, error)) {
    return absl::StrCat("Access: clients and workers need the token in ", token_file,
                        ", which was not changed.\n");
  }
  return absl::StrCat(
      "Access: a backup does not contain the token, and there is none in ", token_file,
      ". The controller creates\na new token when it starts and then refuses every client and "
      "worker that has the old token. To\nkeep the old token, copy it to ",
      token_file,
      " (mode 0600) before the start. Otherwise,\nafter the start, give every node and user a copy "
      "of the new file ($",
      kTokenFileVariable, ") and restart the workers.\n");
}

}  // namespace trainyard::controller
