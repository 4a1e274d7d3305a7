#include "cli/context/environment.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "proto/jobspec/fields/reader.h"

namespace trainyard::cli {
namespace {

namespace fs = std::filesystem;

std::string EnvironmentText(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

struct Login {
  std::string name;
  std::string home;
};

Login ReadLogin() {
  passwd entry{};
  passwd* found = nullptr;
  std::vector<char> buffer(16384);
  Login login{absl::StrCat("uid-", getuid()), EnvironmentText("HOME")};
  if (getpwuid_r(getuid(), &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) {
    login.name = found->pw_name;
    if (login.home.empty()) login.home = found->pw_dir;
  }
  return login;
}

}  // namespace

Environment SystemEnvironment(const Clock& clock, Interrupt& interrupt) {
  Environment environment;
  environment.console = SystemConsole(clock);
  environment.interrupt = &interrupt;
  const std::string server = EnvironmentText("TRAINYARD_SERVER");
  if (!server.empty()) environment.server = server;
  Login login = ReadLogin();
  environment.user = std::move(login.name);
  environment.home = std::move(login.home);
  environment.access = PlacesOfProcess();
  environment.access.home = environment.home;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  environment.program_directory = program.parent_path().string();
  environment.recipe_directories = RecipeDirectoriesOf(environment.program_directory);
  return environment;
}

}  // namespace trainyard::cli
