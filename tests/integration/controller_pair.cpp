#include "tests/integration/controller_pair.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "nlohmann/json.hpp"
#include "proto/access/address.h"

namespace trainyard::test {

namespace {

// A port outside the range of FreeAddress, and below the ports that the system gives away.
std::string PageOf(const std::string& address) {
  constexpr int kDistance = 10'000;
  const auto parts = SplitAddress(address);
  return absl::StrCat(parts->host, ":", parts->port + kDistance);
}

}  // namespace

void ControllerPair::StartPair(const Network& network) {
  const auto server = controller::PostgresServer::Shared();
  if (absl::IsNotFound(server.status())) GTEST_SKIP() << server.status().message();
  ASSERT_TRUE(server.ok()) << server.status();
  server_ = *server;
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  const auto settings =
      server_->SettingsOf(absl::AsciiStrToLower(absl::StrCat("pair_", test->name()).substr(0, 60)));
  ASSERT_TRUE(settings.ok()) << settings.status();
  settings_ = *settings;
  cluster_ = std::make_unique<MiniCluster>(MiniCluster::WithoutController{});
  for (int i = 0; i < 2; ++i) {
    Member member;
    member.address = FreeAddress();
    member.page = PageOf(member.address);
    member.data_dir = absl::StrCat(cluster_->directory(), "/controller", i);
    member.settings = settings_;
    members_.push_back(std::move(member));
    if (!network.is_direct) StartWire(i, network.loss);
    StartMember(i);
    // The next free address is another one only once this one is in use.
    EXPECT_TRUE(Eventually([&] { return FreeAddress() != members_[i].address; })) << Logs();
  }
  ASSERT_TRUE(FindLeader()) << Logs();
  for (int node = 0; node < kWorkerNodes; ++node) cluster_->StartWorker(node, {}, Addresses());
}

void ControllerPair::StartMember(int i) {
  Member& member = members_[i];
  std::vector<std::string> command{ProgramPath("trainyard-controller"),
                                   "--listen",
                                   member.address,
                                   "--data-dir",
                                   member.data_dir,
                                   "--token-file",
                                   cluster_->token_file(),
                                   "--http-listen",
                                   member.page,
                                   "--postgres",
                                   member.settings};
  command.insert(command.end(), flags_.begin(), flags_.end());
  member.process = std::make_unique<ChildProcess>(command, member.data_dir + ".log");
}

void ControllerPair::StartWire(int i, double loss) {
  constexpr char kSocket[] = "/.s.PGSQL.5432";
  const std::string directory = absl::StrCat(cluster_->directory(), "/wire", i);
  std::filesystem::create_directory(directory);
  Member& member = members_[i];
  member.settings = absl::StrReplaceAll(settings_, {{server_->directory(), directory}});
  member.wire = std::make_unique<ChildProcess>(
      std::vector<std::string>{"/usr/bin/env", "python3", SOURCE_ROOT "/tests/integration/wire.py",
                               directory + kSocket, server_->directory() + kSocket,
                               absl::StrCat(loss), absl::StrCat(i)},
      directory + ".log");
  EXPECT_TRUE(Eventually([&] { return std::filesystem::exists(directory + kSocket); }))
      << ReadFile(directory + ".log");
}

std::string ControllerPair::Addresses() const {
  return absl::StrCat(members_[0].address, ",", members_[1].address);
}

std::string ControllerPair::Logs() const {
  return absl::StrCat("---- controller 0\n", ReadFile(members_[0].data_dir + ".log"),
                      "---- controller 1\n",
                      members_.size() > 1 ? ReadFile(members_[1].data_dir + ".log") : "");
}

CommandResult ControllerPair::Cli(std::vector<std::string> arguments) const {
  std::vector<std::string> command = {ProgramPath("trainyard"), "--server", Addresses()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return RunCommand(command);
}

bool ControllerPair::FindLeader() {
  return Eventually(
      [&] {
        const CommandResult status = Cli({"server", "status"});
        if (status.output.find(": standby for") == std::string::npos) return false;
        leader_ = status.output.find("controller at " + members_[0].address) == 0 ? 0 : 1;
        cluster_->UseController(members_[leader_].address);
        return true;
      },
      Seconds(30));
}

double ControllerPair::HandOver() {
  const int former = leader_;
  const int next = 1 - former;
  const auto begin = std::chrono::steady_clock::now();
  const CommandResult result = Cli({"server", "hand-over", "--to", members_[next].address});
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_EQ(result.exit_code, 0) << result.error << Logs();
  EXPECT_EQ(result.output.find(members_[next].address + " leads term "), 0u) << result.output;
  EXPECT_EQ(members_[former].process->Wait(), kExitLeadershipLost) << Logs();
  StartMember(former);
  EXPECT_TRUE(FindLeader()) << Logs();
  EXPECT_EQ(leader_, next) << Logs();
  return seconds;
}

double ControllerPair::SubmitSmallJob() {
  const std::string name = absl::StrCat("small-", small_jobs_.size());
  const std::string file = cluster_->WriteJob(
      name, absl::StrCat("name: ", name,
                         "\nresources: {device: cpu}\nrestart: {max_restarts: 0}\ncommand: "
                         "[/bin/echo, ",
                         name, "]\n"));
  const auto begin = std::chrono::steady_clock::now();
  const CommandResult result = Cli({"submit", file, "-o", "json"});
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const auto job = nlohmann::json::parse(result.output, nullptr, false);
  EXPECT_EQ(result.exit_code, 0) << result.error << Logs();
  if (job.is_object()) small_jobs_[job.value("id", int64_t{0})] = name;
  return seconds;
}

void ControllerPair::CheckSmallJobs() const {
  for (const auto& [id, name] : small_jobs_) {
    const v1::Job job = cluster_->WaitForEnd(id);
    EXPECT_EQ(job.name(), name);
    EXPECT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << job.DebugString();
    EXPECT_EQ(job.attempts_size(), 1);
    const int64_t job_id = id;
    EXPECT_TRUE(Eventually([&] { return cluster_->Logs(job_id, 0, 1).size() == 1; })) << name;
  }
}

int64_t ControllerPair::CheckTerms() const {
  const v1::ListEventsResponse events = cluster_->Events(1000);  // Newest first.
  int64_t newer = std::numeric_limits<int64_t>::max();
  for (const v1::EventEntry& entry : events.events()) {
    const int64_t term = std::max<int64_t>(1, entry.event().leader_term());
    EXPECT_LE(term, newer) << entry.sequence();
    newer = term;
  }
  EXPECT_GT(events.events_size(), 0);
  return events.events_size() == 0 ? 0 : events.events(0).event().leader_term();
}

}  // namespace trainyard::test
