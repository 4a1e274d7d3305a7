#include "worker/greeting.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/temporary_directory.h"

namespace trainyard::worker {
namespace {

using ::testing::HasSubstr;

class GreetingTest : public ::testing::Test {
 protected:
  GreetingTest() {
    auto opened = DataDir::Open(directory_.File("data"));
    EXPECT_TRUE(opened.ok()) << opened.status();
    data_dir_ = *std::move(opened);
  }

  absl::StatusOr<v1::Hello> GreetingWith(const std::vector<std::string>& labels) const {
    WorkerOptions options;
    options.address = "10.0.0.1";
    options.cpu_slots = 1;
    options.labels = labels;
    return MakeGreeting(options, *data_dir_);
  }
  std::string ErrorOf(const std::vector<std::string>& labels) const {
    return std::string(GreetingWith(labels).status().message());
  }

  TemporaryDirectory directory_;
  std::unique_ptr<DataDir> data_dir_;
};

TEST_F(GreetingTest, HasTheLabelsOfTheOptions) {
  const auto hello = GreetingWith({"pool=a", "zone=eu=1"});
  ASSERT_TRUE(hello.ok()) << hello.status();
  EXPECT_EQ((std::map<std::string, std::string>(hello->labels().begin(), hello->labels().end())),
            (std::map<std::string, std::string>{{"pool", "a"}, {"zone", "eu=1"}}));
}

TEST_F(GreetingTest, RefusesLabelsThatAreNotValid) {
  EXPECT_THAT(ErrorOf({"pool"}), HasSubstr("--label pool: write NAME=VALUE"));
  EXPECT_THAT(ErrorOf({"a b=c"}), HasSubstr("--label a b=c: its name needs"));
  EXPECT_THAT(ErrorOf({"pool="}), HasSubstr("its value needs"));
  EXPECT_THAT(ErrorOf({"pool=a", "pool=b"}), HasSubstr("--label pool=b: it is set twice"));
  EXPECT_THAT(ErrorOf({"device=x"}), HasSubstr("always the model"));
  std::vector<std::string> many;
  for (int i = 0; i < 51; ++i) many.push_back("l" + std::to_string(i) + "=x");
  EXPECT_THAT(ErrorOf(many), HasSubstr("at most 50 labels"));
}

}  // namespace
}  // namespace trainyard::worker
