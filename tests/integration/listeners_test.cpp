// Tests listeners that other machines can reach: they need TLS or --insecure.
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/fakes/process_channel.h"
#include "tests/integration/door_fixture.h"
#include "tests/integration/http_calls.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using ListenersTest = DoorTest;

std::string MakeCertificate(const std::string& directory) {
  const CommandResult made =
      RunCommand({"/usr/bin/openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                  "-subj", "/CN=trainyard", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost",
                  "-keyout", directory + "/key.pem", "-out", directory + "/cert.pem"});
  EXPECT_EQ(made.exit_code, 0) << made.error;
  return directory + "/cert.pem";
}

CommandResult StartBriefly(const MiniCluster& cluster, const std::vector<std::string>& more) {
  std::vector<std::string> command = {"/usr/bin/timeout", "20", ProgramPath("trainyard-controller"),
                                      "--data-dir", cluster.directory() + "/other"};
  command.insert(command.end(), more.begin(), more.end());
  return RunCommand(command);
}

TEST_F(ListenersTest, AListenerForOtherMachinesIsRefusedWithoutTls) {
  for (const std::vector<std::string>& listen :
       {std::vector<std::string>{"--listen", "0.0.0.0:0", "--http-listen", "off"},
        std::vector<std::string>{"--listen", "[::]:0", "--http-listen", "off"},
        std::vector<std::string>{"--listen", "127.0.0.1:0", "--http-listen", "0.0.0.0:0"}}) {
    const CommandResult refused = StartBriefly(cluster_, listen);
    EXPECT_EQ(refused.exit_code, 1) << refused.output;
    EXPECT_THAT(refused.error, AllOf(HasSubstr("--tls-cert"), HasSubstr("--insecure")));
  }
  const CommandResult half =
      StartBriefly(cluster_, {"--listen", "127.0.0.1:0", "--tls-cert", "/nowhere/cert.pem"});
  EXPECT_EQ(half.exit_code, 2) << "a certificate needs its key";
}

TEST_F(ListenersTest, AWorkersPageForOtherMachinesIsRefused) {
  const auto start = [&](const std::vector<std::string>& more) {
    std::vector<std::string> command = {
        "/usr/bin/timeout", "3",          ProgramPath("trainyard-worker"), "--controller",
        cluster_.address(), "--data-dir", cluster_.directory() + "/page",  "--metrics-listen",
        "0.0.0.0:0"};
    command.insert(command.end(), more.begin(), more.end());
    return RunCommand(command);
  };
  const CommandResult refused = start({});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.error, HasSubstr("--insecure"));
  EXPECT_THAT(start({"--insecure"}).error, HasSubstr("INSECURE"));
}

TEST_F(ListenersTest, InsecureIsSaidEverywhere) {
  const std::string directory = cluster_.directory();
  const ChildProcess controller(
      {ProgramPath("trainyard-controller"), "--data-dir", directory + "/open", "--listen",
       "127.0.0.1:0", "--http-listen", "0.0.0.0:0", "--insecure", "--listen-file",
       directory + "/open.address"},
      directory + "/open.log");
  ASSERT_TRUE(Eventually([&] { return fs::exists(directory + "/open.address.http"); }));
  EXPECT_THAT(ReadFile(directory + "/open.log"), HasSubstr("INSECURE"));
  const CommandResult status =
      RunCommand({"/usr/bin/env", "TRAINYARD_TOKEN_FILE=" + directory + "/open/token",
                  ProgramPath("trainyard"), "--server",
                  FirstLine(ReadFile(directory + "/open.address")), "server", "status"});
  EXPECT_THAT(status.output, HasSubstr("INSECURE"));
  const std::string http = FirstLine(ReadFile(directory + "/open.address.http"));
  const auto info = nlohmann::json::parse(
      Http("GET", "http://127.0.0.1" + http.substr(http.rfind(':')) + "/api/v1/server",
           {"Authorization: Bearer " + FirstLine(ReadFile(directory + "/open/token"))})
          .text);
  EXPECT_THAT(info["warnings"][0].get<std::string>(), HasSubstr("INSECURE"));
}

TEST_F(ListenersTest, TlsServesCommandLineWorkersAndHttp) {
  const std::string certificate = MakeCertificate(cluster_.directory());
  cluster_.KillController();
  cluster_.StartController(
      {"--tls-cert", certificate, "--tls-key", cluster_.directory() + "/key.pem"});
  const std::string token = CopyOfToken();
  const auto nodes = [&] {
    return RunCommand({"/usr/bin/env", "TRAINYARD_TOKEN_FILE=" + token, ProgramPath("trainyard"),
                       "--server", cluster_.address(), "nodes"});
  };
  const CommandResult plain = nodes();
  EXPECT_NE(plain.exit_code, 0) << "without the certificate";
  EXPECT_THAT(plain.error, AllOf(HasSubstr("expects TLS"), HasSubstr("TRAINYARD_CA_FILE")));
  cluster_.KillWorker(0);
  setenv(kCaFileVariable, certificate.c_str(), 1);
  cluster_.StartWorker(0, {"--token-file", token});
  const bool attached =
      Eventually([&] { return nodes().output.find(" ready ") != std::string::npos; });
  EXPECT_TRUE(attached) << cluster_.DaemonLogs();
  const std::string url = "https" + Url("/api/v1/nodes").substr(4);
  const std::string header = "Authorization: " + Bearer();
  EXPECT_EQ(Http("GET", url, {header}, certificate).status, 200);
  EXPECT_EQ(Http("GET", url, {}, certificate).status, 401);
  const std::string login = FirstLine(cluster_.Cli({"dashboard"}).output);
  EXPECT_THAT(login, testing::StartsWith("https://"));
  const std::string session = SessionHeader(LogIn(login, certificate));
  EXPECT_EQ(Http("GET", url, {session}, certificate).status, 200);
  EXPECT_EQ(
      Http("GET", "https" + Url("/api/v1/events/stream").substr(4), {header}, certificate).status,
      200);
  unsetenv(kCaFileVariable);
}

}  // namespace
}  // namespace trainyard::test
