// Tests `server backup`, `restore` and `migrate`, with a shell script in place of the controller's
// program.
#include <csignal>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kOurs[] = "0123456789abcdef0123456789abcdef";
constexpr char kOther[] = "fedcba9876543210fedcba9876543210";

class ControllerProgramTest : public CliFixture {
 protected:
  // Installs a script as the controller's program. The script writes its arguments to a file and
  // exits with `exit_code`.
  void InstallProgram(int exit_code) {
    const std::string path =
        WriteFile("trainyard-controller",
                  absl::StrCat("#!/bin/sh\necho \"$*\" > ", Calls(), "\nexit ", exit_code, "\n"));
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }

  // Sets the ids of the controller that answers and of the data directory on this machine.
  void SetIds(const std::string& server_id, const std::string& id_here) {
    answers().server.set_data_dir(DataDir());
    answers().server.set_cluster_id(server_id);
    std::filesystem::create_directory(DataDir());
    WriteFile("data/cluster_id", id_here + "\n");
  }

  std::string DataDir() const { return directory() + "/data"; }
  std::string Calls() const { return directory() + "/calls"; }
  bool ProgramRan() const { return std::filesystem::exists(Calls()); }
};

TEST_F(ControllerProgramTest, BackupRunsTheProgramOnTheDataOfTheControllerThatAnswers) {
  InstallProgram(0);
  SetIds(kOurs, kOurs);
  EXPECT_EQ(Run({"server", "backup", "copy"}).exit_code, 0);
  EXPECT_EQ(ReadFile(Calls()), absl::StrCat("--data-dir ", DataDir(), " backup copy\n"));
}

TEST_F(ControllerProgramTest, RestoreRunsTheProgramToo) {
  InstallProgram(0);
  EXPECT_EQ(Run({"server", "restore", "copy", "--data-dir", "new"}).exit_code, 0);
  EXPECT_EQ(ReadFile(Calls()), "--data-dir new restore copy\n");
}

TEST_F(ControllerProgramTest, ThePlaceOfTheStoreIsPassedOn) {
  InstallProgram(0);
  EXPECT_EQ(Run({"server", "migrate", "--to", "postgres", "--data-dir", "d", "--postgres",
                 "service=trainyard"})
                .exit_code,
            0);
  EXPECT_EQ(ReadFile(Calls()), "--data-dir d migrate --to postgres --postgres service=trainyard\n");
  EXPECT_EQ(Run({"server", "backup", "copy", "--data-dir", "d", "--config", "c.yaml"}).exit_code,
            0);
  EXPECT_EQ(ReadFile(Calls()), "--data-dir d backup copy --config c.yaml\n");
  EXPECT_EQ(Run({"server", "restore", "copy", "--data-dir", "d", "--config", "c.yaml"}).exit_code,
            0);
  EXPECT_EQ(ReadFile(Calls()), "--data-dir d restore copy --config c.yaml\n");
}

TEST_F(ControllerProgramTest, MigrateNeedsAKnownKindOfStore) {
  InstallProgram(0);
  const CliResult result = Run({"server", "migrate", "--to", "mysql", "--data-dir", "d"});
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("mysql"));
  EXPECT_FALSE(ProgramRan());
}

TEST_F(ControllerProgramTest, AFailureOfTheProgramIsAFailure) {
  InstallProgram(3);
  EXPECT_EQ(Run({"server", "backup", "copy", "--data-dir", DataDir()}).exit_code, 1);
  EXPECT_TRUE(ProgramRan());
}

// While SIGCHLD is ignored, the kernel discards the exit code that waitpid would return.
TEST_F(ControllerProgramTest, AnUnknownEndOfTheProgramIsAnError) {
  InstallProgram(3);
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  const CliResult result = Run({"server", "backup", "copy", "--data-dir", DataDir()});
  std::signal(SIGCHLD, before);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("cannot determine whether"));
}

TEST_F(ControllerProgramTest, AMissingProgramIsNamed) {
  const CliResult result = Run({"server", "backup", "copy", "--data-dir", DataDir()});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("install this program in the directory of `trainyard`"));
}

TEST_F(ControllerProgramTest, TheStoreOfAnotherControllerAtTheSamePathIsNotCopied) {
  InstallProgram(0);
  SetIds(kOther, kOurs);
  const CliResult result = Run({"server", "backup", "copy"});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(
      result.err,
      HasSubstr("belongs to another controller\n  run this command on the controller's machine"));
  EXPECT_FALSE(ProgramRan());
}

TEST_F(ControllerProgramTest, ADataDirectoryThatIsNotHereIsSaid) {
  answers().server.set_data_dir(DataDir());
  const CliResult result = Run({"server", "backup", "copy"});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(
      result.err,
      HasSubstr("which is not on this machine\n  run this command on the controller's machine"));
}

// Uses two cases that fail even for root: a name that is too long, and a directory in place of the
// file.
TEST_F(ControllerProgramTest, ADataDirectoryThatCannotBeReadNamesTheUserToRunAs) {
  InstallProgram(0);
  SetIds(kOurs, kOurs);
  std::filesystem::remove(DataDir() + "/cluster_id");
  std::filesystem::create_directory(DataDir() + "/cluster_id");
  for (const std::string& data_dir : {DataDir(), directory() + "/" + std::string(300, 'a')}) {
    answers().server.set_data_dir(data_dir);
    const CliResult result = Run({"server", "backup", "copy"});
    EXPECT_EQ(result.exit_code, 4);
    EXPECT_THAT(result.err, HasSubstr("which cannot be read on this machine: "));
    EXPECT_THAT(result.err, HasSubstr("as the controller's user"));
    EXPECT_THAT(result.err, Not(HasSubstr("internal error")));
  }
  EXPECT_FALSE(ProgramRan());
}

}  // namespace
}  // namespace trainyard::cli
