#include "cli/commands/checkpoints/checkpoint_program.h"

#include <cstring>
#include <ostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cli/process/replace_process.h"

namespace trainyard::cli {

Outcome RunCheckpointProgram(std::vector<std::string> words, Context& context) {
  // Flush first, so that the output of this process appears before the program's output.
  context.console.out->flush();
  words.insert(words.begin(), context.environment.program_directory + "/trainyard-ckpt");
  const int error = ReplaceProcess(words);
  return absl::NotFoundError(
      absl::StrCat("cannot start ", words[0], ": ", std::strerror(error),
                   "\nthis program is part of the trainer; install it in the directory of "
                   "`trainyard`, on a machine with LibTorch"));
}

Outcome RefuseFormat(const char* formats) {
  return absl::InvalidArgumentError(absl::StrCat("this command supports only -o ", formats));
}

}  // namespace trainyard::cli
