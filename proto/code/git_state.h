// Reads commit, branch and uncommitted changes of a directory in a git repository.
#ifndef TRAINYARD_PROTO_CODE_GIT_STATE_H_
#define TRAINYARD_PROTO_CODE_GIT_STATE_H_

#include <cstddef>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace trainyard::code {

// Maximum size of a stored difference. The rest is cut off.
inline constexpr std::size_t kMaxDiffBytes = 1'000'000;

struct GitState {
  std::string commit;  // Empty before the first commit.
  std::string branch;  // Empty if no branch is checked out.
  std::string remote;  // URL of `origin`, without credentials; empty if there is none.
  // True if files of the directory differ from the commit, or are neither committed nor ignored.
  bool dirty = false;
  // Output of `git diff` against the commit. Does not contain files that git does not track.
  std::string diff;
  bool diff_cut = false;  // True if the difference exceeded kMaxDiffBytes.
};

// Runs git. nullopt if the directory is in no repository, git is not installed, or git does not
// answer within 10 s.
std::optional<GitState> ReadGitState(const std::string& directory);

// Removes user name, password, query and fragment from a URL. Keeps the user name of
// "git@host:path", which is not a secret.
std::string WithoutCredentials(absl::string_view url);

}  // namespace trainyard::code

#endif  // TRAINYARD_PROTO_CODE_GIT_STATE_H_
