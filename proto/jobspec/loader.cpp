#include "proto/jobspec/loader.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/jobspec/decoder.h"
#include "proto/jobspec/defaults.h"
#include "proto/jobspec/rules.h"
#include "proto/support/status_macros.h"
#include "proto/text/utf8.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxExtendsDepth = 16;

// Loads a file and the chain of files that it extends. Extended files are applied first.
class ChainLoader {
 public:
  ChainLoader(const JobFileReader& reader, DecodeContext& context)
      : reader_(reader), context_(context) {}

  // True if the first file was sent as text.
  bool sent() const { return sent_; }

  absl::Status Load(const std::string& reference, const std::string& from) {
    TRAINYARD_ASSIGN_OR_RETURN(const JobFileText file, reader_(reference, from));
    if (chain_.empty()) sent_ = file.sent;
    if (std::find(chain_.begin(), chain_.end(), file.display_name) != chain_.end() ||
        chain_.size() >= kMaxExtendsDepth) {
      return absl::InvalidArgumentError(
          absl::StrCat(from, ": `extends` is circular or too deep: ", absl::StrJoin(chain_, " -> "),
                       " -> ", file.display_name));
    }
    TRAINYARD_ASSIGN_OR_RETURN(const YAML::Node root, ParseYaml(file));
    chain_.push_back(file.display_name);
    for (const std::string& base : ReadExtends(root, file.display_name, context_)) {
      TRAINYARD_RETURN_IF_ERROR(Load(base, file.display_name));
    }
    chain_.pop_back();
    DecodeJobFile(root, file.display_name, file.sent ? "" : DirectoryOf(file.display_name),
                  context_);
    return absl::OkStatus();
  }

 private:
  static std::string DirectoryOf(const std::string& path) {
    return fs::absolute(path).parent_path().string();
  }

  const JobFileReader& reader_;
  DecodeContext& context_;
  std::vector<std::string> chain_;
  bool sent_ = false;
};

// Applies an override such as "train.steps=200" or "env.NCCL_DEBUG=WARN". The value null clears a
// key or removes a variable.
void DecodeOverride(const std::string& override_text, const std::string& directory,
                    DecodeContext& context) {
  if (const auto bad = FirstInvalidUtf8(override_text); bad.has_value()) {
    context.errors.push_back(absl::StrCat("--set ", ReplaceInvalidUtf8(override_text),
                                          ": is not UTF-8 text (byte ", *bad, ")"));
    return;
  }
  const std::size_t equals = override_text.find('=');
  const std::string key = override_text.substr(0, equals);
  if (equals == std::string::npos || key.empty()) {
    context.errors.push_back(absl::StrCat(
        "--set ", override_text, ": must have the form KEY=VALUE, such as train.steps=200"));
    return;
  }
  DecodeSetting({"--set " + key, key, override_text.substr(equals + 1)}, directory, context);
}

}  // namespace

absl::StatusOr<JobFileReading> ReadJobFile(const std::string& reference,
                                           const std::vector<std::string>& overrides,
                                           const JobFileReader& reader) {
  DecodeContext context;
  ChainLoader loader(reader, context);
  TRAINYARD_RETURN_IF_ERROR(loader.Load(reference, ""));
  context.spec.clear_extends();
  const std::string here = loader.sent() ? "" : fs::current_path().string();
  context.written.clear();
  for (const std::string& text : overrides) DecodeOverride(text, here, context);
  FillDefaults(context.spec, context.origins);
  // If the command could not be read, the job looks like a run of the trainer. Errors about missing
  // settings of the trainer would then be misleading.
  const bool knows_program = !context.failed_keys.contains("command");
  JobFileReading reading;
  for (const SettingProblem& problem : knows_program ? FindProblems(context.spec, context.origins)
                                                     : std::vector<SettingProblem>()) {
    if (!context.failed_keys.contains(problem.key)) {
      reading.broken_rules.push_back(Describe(problem, context.origins));
    }
  }
  reading.unreadable = std::move(context.errors);
  reading.resolved = {std::move(context.spec), std::move(context.origins)};
  return reading;
}

absl::StatusOr<ResolvedSpec> ResolveJobFile(const std::string& reference,
                                            const std::vector<std::string>& overrides,
                                            const JobFileReader& reader) {
  TRAINYARD_ASSIGN_OR_RETURN(JobFileReading reading, ReadJobFile(reference, overrides, reader));
  std::vector<std::string> errors = std::move(reading.unreadable);
  errors.insert(errors.end(), reading.broken_rules.begin(), reading.broken_rules.end());
  if (!errors.empty()) return absl::InvalidArgumentError(absl::StrJoin(errors, "\n"));
  return std::move(reading.resolved);
}

}  // namespace trainyard
