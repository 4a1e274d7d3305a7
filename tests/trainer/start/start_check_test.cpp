#include "trainer/start/start_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "proto/contract/exit_code.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

using testing::HasSubstr;

// A group of two members, one of which is simulated. If `wrong` is true, sums are wrong. If
// `wrong_transfer` is true, the rows that the other member sends are wrong.
class TwoMembers : public Communicator {
 public:
  explicit TwoMembers(bool wrong, bool wrong_transfer = false)
      : Communicator({.name = "dp0", .ranks = {0, 1}, .my_rank = 0}),
        wrong_(wrong),
        wrong_transfer_(wrong_transfer) {}
  void WaitUntil(const std::function<bool()>&) override {}
  void Abort() override {}

 protected:
  Work Begin(Operation operation, uint64_t) override {
    if (operation.kind == Operation::Kind::kAllToAll) {
      operation.output[0].copy_(operation.input[0]);
      operation.output[1].fill_(wrong_transfer_ ? 1 : 2);  // From member 1 to member 0.
      return Work();
    }
    operation.output.add_(2);  // The other member's part.
    if (wrong_) operation.output[17] = 5;
    return Work();
  }
  torch::Device device() const override { return torch::kCPU; }

 private:
  const bool wrong_;
  const bool wrong_transfer_;
};

RankGroups GroupsWith(std::unique_ptr<Communicator> shard) {
  RankGroups groups;
  groups.shard = std::move(shard);
  for (auto* group :
       {&groups.world, &groups.tensor, &groups.context, &groups.replica, &groups.tied_embedding}) {
    *group = MakeSingleProcessCommunicator();
  }
  return groups;
}

ExitCode CodeOf(const std::function<void()>& check, std::string& message) {
  try {
    check();
  } catch (const TrainerError& error) {
    message = error.what();
    return error.code();
  }
  return ExitCode::kOk;
}

TEST(StartCheckTest, AnHonestDevicePasses) { EXPECT_NO_THROW(CheckDevice(torch::kCPU)); }

TEST(StartCheckTest, OneWrongProductIsFound) {
  const auto flip_a_bit = [](const torch::Tensor& a, const torch::Tensor& b) {
    torch::Tensor product = a.mm(b);
    product[513][100] += 0.0001;
    return product;
  };
  std::string message;
  EXPECT_EQ(CodeOf([&] { CheckDevice(torch::kCPU, flip_a_bit); }, message), ExitCode::kDeviceFault);
  EXPECT_THAT(message, HasSubstr("device cpu computes wrong results: 1 of 1048576 elements"));
  EXPECT_THAT(message, HasSubstr(" are wrong; take the device out of service"));
}

TEST(StartCheckTest, ASumThatIsRightPasses) {
  const RankGroups groups = GroupsWith(std::make_unique<TwoMembers>(/*wrong=*/false));
  EXPECT_NO_THROW(CheckGroups(groups, torch::kCPU));
}

TEST(StartCheckTest, AGroupWithAWrongSumIsNamed) {
  const RankGroups groups = GroupsWith(std::make_unique<TwoMembers>(/*wrong=*/true));
  std::string message;
  EXPECT_EQ(CodeOf([&] { CheckGroups(groups, torch::kCPU); }, message), ExitCode::kTryAgain);
  EXPECT_THAT(
      message,
      HasSubstr("an all-reduce of group dp0 (ranks 0 to 1) returned wrong values for 1 of 65536"));
}

TEST(StartCheckTest, RowsOfTheGroupOfExpertsAreChecked) {
  RankGroups groups = GroupsWith(MakeSingleProcessCommunicator());
  groups.expert = std::make_unique<TwoMembers>(/*wrong=*/false);
  EXPECT_NO_THROW(CheckGroups(groups, torch::kCPU));
  groups.expert = std::make_unique<TwoMembers>(/*wrong=*/false, /*wrong_transfer=*/true);
  std::string message;
  EXPECT_EQ(CodeOf([&] { CheckGroups(groups, torch::kCPU); }, message), ExitCode::kTryAgain);
  EXPECT_THAT(message,
              HasSubstr("an all-to-all of group dp0 (ranks 0 to 1) returned wrong values"));
}

}  // namespace
}  // namespace trainyard::trainer
