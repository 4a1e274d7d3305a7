// A cluster with one node, and callers with and without the cluster's token.
#ifndef TRAINYARD_TESTS_INTEGRATION_DOOR_FIXTURE_H_
#define TRAINYARD_TESTS_INTEGRATION_DOOR_FIXTURE_H_

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "grpcpp/grpcpp.h"
#include "tests/integration/http_calls.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {

class DoorTest : public testing::Test {
 protected:
  std::string Token() const {
    return FirstLine(ReadFile(cluster_.directory() + "/controller/token"));
  }
  std::string Bearer() const { return "Bearer " + Token(); }
  std::string Url(const std::string& path) const { return HttpUrl(cluster_, path); }

  std::shared_ptr<grpc::Channel> OpenChannel() const {
    return grpc::CreateChannel(cluster_.address(), grpc::InsecureChannelCredentials());
  }

  // Returns the path of a copy of the token. There is no socket next to the copy, so callers with
  // the copy connect over TCP.
  std::string CopyOfToken() const {
    const std::string path = cluster_.directory() + "/copy/token";
    std::filesystem::create_directories(cluster_.directory() + "/copy");
    std::filesystem::copy_file(cluster_.directory() + "/controller/token", path,
                               std::filesystem::copy_options::overwrite_existing);
    return path;
  }

  // Runs the CLI as a user without the token.
  CommandResult CliWithout(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(),
                     {"/usr/bin/env", "TRAINYARD_TOKEN_FILE=", "HOME=" + cluster_.directory(),
                      ProgramPath("trainyard"), "--server", cluster_.address()});
    return RunCommand(arguments);
  }

  MiniCluster cluster_{1};
};

}  // namespace trainyard::test

#endif  // TRAINYARD_TESTS_INTEGRATION_DOOR_FIXTURE_H_
