// `convert`: other trainers' launch commands as job files.
#include <fstream>
#include <iterator>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/commands/commands.h"
#include "cli/recipes/megatron_command.h"
#include "proto/contract/limits.h"
#include "proto/jobspec/loader.h"
#include "proto/jobspec/rules.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

absl::StatusOr<std::string> ReadScript(const std::string& file, Console& console) {
  std::ifstream opened;
  if (file != "-") {
    opened.open(file, std::ios::binary);
    if (!opened) return absl::NotFoundError(absl::StrCat(file, ": cannot be opened"));
  }
  std::istream& in = file == "-" ? *console.in : opened;
  std::string text(kMaxJobFileBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() <= kMaxJobFileBytes) return text;
  return absl::InvalidArgumentError(
      absl::StrCat(file, ": is longer than ", kMaxJobFileBytes, " bytes"));
}

// Reasons why `submit` would refuse the converted job, one a line.
std::vector<std::string> ProblemsOf(const std::string& text, const Context& context) {
  const absl::StatusOr<ResolvedSpec> resolved =
      ResolveJobFile(kSentJobFile, {}, SentJobFileReader(text, context.recipe_directories));
  if (!resolved.ok()) return absl::StrSplit(resolved.status().message(), '\n');
  return CheckLaunch(resolved->spec, {});
}

}  // namespace

Outcome RunConvert(const ConvertOptions& options, Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::string script, ReadScript(options.file, context.console));
  const ConvertedJob job = ConvertMegatron(script, options.name);
  if (!job.has_program) {
    return absl::InvalidArgumentError(absl::StrCat(
        options.file,
        ": has no Megatron-LM command, such as `torchrun ... pretrain_gpt.py --num-layers 32`"));
  }
  *context.console.out << job.text;
  for (const std::string& note : job.notes) PrintNote(context.console, note);
  for (const std::string& problem : ProblemsOf(job.text, context)) {
    PrintNote(context.console, absl::StrCat("submit would refuse: ", problem));
  }
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
