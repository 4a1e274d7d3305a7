#include "data/prepare/cleaning/stage_ending.h"

#include "data/prepare/command/progress.h"

namespace trainyard::data {

std::string StageEnding(const std::string& bad_lines, int64_t repaired,
                        const std::string& directory) {
  std::string text;
  if (!bad_lines.empty()) text += "bad lines    " + bad_lines + "; see bad.jsonl\n";
  if (repaired > 0) {
    text += "not UTF-8    replaced by U+FFFD in " + ReadableCount(repaired) + " lines or files\n";
  }
  return text + "directory    " + directory + "\n" + "next         trainyard data prepare " +
         directory + " --tokenizer TOKENIZER --out DIR\n";
}

}  // namespace trainyard::data
