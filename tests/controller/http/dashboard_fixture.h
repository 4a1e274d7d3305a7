// A complete controller with its HTTP server and one cordoned node.
#ifndef TRAINYARD_TESTS_CONTROLLER_HTTP_DASHBOARD_FIXTURE_H_
#define TRAINYARD_TESTS_CONTROLLER_HTTP_DASHBOARD_FIXTURE_H_

#include <gtest/gtest.h>

#include <string>

#include "controller/store/stores.h"
#include "nlohmann/json.hpp"
#include "tests/controller/controller_harness.h"
#include "tests/controller/http/http_client.h"

namespace trainyard::controller::http {

class DashboardTest : public testing::Test {
 protected:
  std::string address() const { return running_.controller->http_address(); }
  HttpClient Connect() const { return HttpClient(address()); }

  // The only node is cordoned, so all jobs stay queued.
  void SetUp() override {
    worker_.Take(v1::ControllerMessage::kWelcome);
    ASSERT_EQ(client_.Post("/api/v1/nodes/a/cordon", R"({"reason":"test"})").status, 200);
  }

  RunningController running_{OpenMemoryStores(), {}, "127.0.0.1:0"};
  FakeWorker worker_{running_.channel, TestHello("a", 1)};
  HttpClient client_{address()};
};

// Returns the body of a request of user "ada" to submit a job with one CPU slot.
inline std::string SubmitBody(const std::string& name) {
  return nlohmann::json({{"spec",
                          {{"name", name},
                           {"command", {"/bin/true"}},
                           {"resources", {{"slots_per_node", 1}, {"device", "cpu"}}}}},
                         {"user", "ada"}})
      .dump();
}

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_TESTS_CONTROLLER_HTTP_DASHBOARD_FIXTURE_H_
