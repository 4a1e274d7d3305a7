#include "trainer/verification.h"

#include <unistd.h>

#include <vector>

#include "proto/contract/token_format.h"
#include "trainer/checkpoint/checkpoint_reader.h"
#include "trainer/data/token_file.h"

namespace trainyard::trainer {

ExitCode VerifyCheckpointFiles(const std::string& checkpoint, std::ostream& out) {
  const std::vector<std::string> faults = VerifyCheckpoint(checkpoint);
  for (const std::string& fault : faults) out << fault << "\n";
  if (!faults.empty()) return ExitCode::kBadCheckpoint;
  const CheckpointReader reader(checkpoint);
  out << checkpoint << " is sound: step " << reader.step() << ", " << reader.tensors().size()
      << " tensors, every checksum matches\n";
  return ExitCode::kOk;
}

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
