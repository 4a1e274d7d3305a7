// Runs command lines in the test's process, against a FakeServer, with a fixed clock and terminal.
#ifndef TRAINYARD_TESTS_CLI_CLI_FIXTURE_H_
#define TRAINYARD_TESTS_CLI_CLI_FIXTURE_H_

#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "cli/app.h"
#include "cli/context/environment.h"
#include "gtest/gtest.h"
#include "tests/cli/fake_server.h"
#include "tests/fakes/temporary_directory.h"

namespace trainyard::cli {

// 2026-11-21T12:00:00Z.
inline constexpr Timestamp kNow = 1795262400000;

class FixedClock : public Clock {
 public:
  Timestamp Now() const override { return now; }
  Timestamp now = kNow;
};

struct CliResult {
  int exit_code = -1;
  std::string out;
  std::string err;
};

class CliFixture : public ::testing::Test {
 protected:
  CliFixture();

  // Runs a command line against the fake server, which the first call starts.
  CliResult Run(const std::vector<std::string>& arguments);

  FakeServer& server();
  FakeAnswers& answers() { return server().answers(); }

  // Writes a file to this test's folder. Returns its path.
  std::string WriteFile(const std::string& name, const std::string& text);
  const std::string& directory() const { return directory_.path(); }

  FixedClock clock_;
  Interrupt interrupt_;
  Environment environment_;
  // The text that the user types, given to the command as standard input.
  std::string input_;

 private:
  TemporaryDirectory directory_;
  std::unique_ptr<FakeServer> server_;
};

// A job with two ranks on two nodes, at step 120 of 300.
v1::Job RunningJob();

// Returns RunningJob() with failing checkpoints. Its newest checkpoint: step 80, a minute ago.
v1::Job JobThatCannotSave();

// Returns RunningJob() after its end.
v1::Job EndedJob(v1::JobState state);

// RunningJob() while it is still queued.
v1::Job QueuedJob();

// A node with two CPU slots. Rank 0 of job 17 runs on one slot.
v1::Node ReadyNode();

// ReadyNode() with a cordon.
v1::Node CordonedNode();

// A job file with its own program and every key that the loader requires.
extern const char kJobFile[];

}  // namespace trainyard::cli

#endif  // TRAINYARD_TESTS_CLI_CLI_FIXTURE_H_
