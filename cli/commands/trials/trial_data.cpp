#include "cli/commands/trials/trial_data.h"

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/recipes/random_tokens.h"
#include "proto/access/address.h"
#include "proto/jobspec/defaults.h"
#include "proto/support/remove_tree.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

namespace fs = std::filesystem;

// Enough for several samples of any length. Longer trials reuse the tokens.
constexpr int64_t kLeastTokens = 1 << 18;
constexpr int64_t kLeastSamples = 64;

bool Exists(const std::string& path) {
  std::error_code error;
  return std::ranges::any_of(std::initializer_list<const char*>{"", ".bin", ".idx"},
                             [&](const char* end) { return fs::exists(path + end, error); });
}

// Returns those paths of the training data that do not exist on this machine.
std::vector<std::string> MissingData(const v1::DataSpec& data) {
  std::vector<std::string> missing;
  if (!data.path().empty() && !Exists(data.path())) missing.push_back(data.path());
  for (const std::string& part : data.blend()) {  // "WEIGHT PATH"
    const std::string path = part.substr(part.find(' ') + 1);
    if (!Exists(path)) missing.push_back(path);
  }
  return missing;
}

bool HasData(const v1::DataSpec& data) { return !data.path().empty() || !data.blend().empty(); }

bool IsOnThisMachine(const std::string& server) {
  const std::optional<HostAndPort> address = SplitAddress(server);
  return address.has_value() && IsLoopback(address->host);
}

void UseData(const std::string& directory, ResolvedSpec& resolved) {
  v1::DataSpec data;
  data.set_path(directory);
  data.set_format(v1::DATA_FORMAT_TRAINYARD);
  *resolved.spec.mutable_data() = data;
  resolved.spec.mutable_evaluation()->clear_sets();
  FillDefaults(resolved.spec, resolved.origins);
}

}  // namespace

TrialData::~TrialData() {
  if (!temporary_.empty()) RemoveTree(temporary_).IgnoreError();
}

absl::Status TrialData::Substitute(const std::string& random_data, Context& context,
                                   ResolvedSpec& resolved) {
  const v1::DataSpec& data = resolved.spec.data();
  const std::vector<std::string> missing = MissingData(data);
  const bool has_data = HasData(data) && missing.empty();
  std::string directory = random_data;
  if (directory.empty()) {
    // If the controller is on another machine, its nodes may have the data although this machine
    // does not.
    if (has_data || !IsOnThisMachine(context.client.server())) return absl::OkStatus();
    std::string name = (fs::temp_directory_path() / "trainyard-tokens-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat("cannot create a temporary directory ", name,
                                                     "; pass a directory with --random-data"));
    }
    directory = temporary_ = name;
    // Grant read access to all users, because ranks may run as another user.
    fs::permissions(directory, fs::perms::owner_all | fs::perms::group_read |
                                   fs::perms::group_exec | fs::perms::others_read |
                                   fs::perms::others_exec);
  }
  const v1::TrainSpec& train = resolved.spec.train();
  TRAINYARD_RETURN_IF_ERROR(
      WriteRandomTokens(directory, resolved.spec.model().vocab_size(),
                        std::max(kLeastTokens, kLeastSamples * (train.seq_length() + 1))));
  const std::string instead =
      !HasData(data)    ? "the job sets no data"
      : missing.empty() ? "instead of the job's data"
                        : absl::StrCat("this machine cannot access ", absl::StrJoin(missing, ", "));
  note_ = absl::StrCat("random tokens in ", directory, " (", instead, ")");
  PrintNote(context.console, absl::StrCat("data: ", note_));
  UseData(fs::absolute(directory).string(), resolved);
  return absl::OkStatus();
}

}  // namespace trainyard::cli
