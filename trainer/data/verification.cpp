#include "trainer/data/verification.h"

#include <unistd.h>

#include "proto/contract/token_format.h"
#include "trainer/data/token_file.h"

namespace trainyard::trainer {

void VerifyDataFiles(const std::string& directory, std::ostream& out) {
  for (const char* split : {token_format::kTrainSplit, token_format::kValidationSplit}) {
    const bool is_there = access((directory + "/" + split + ".bin").c_str(), F_OK) == 0;
    if (!is_there && std::string(split) == token_format::kValidationSplit) continue;
    const TokenFile file(directory, split);
    file.VerifyChecksum();
    out << file.path() << " is sound: " << file.size() << " tokens, the checksum matches\n";
  }
}

}  // namespace trainyard::trainer
