// Tests a member that leaves its groups in order to reconnect. Leaving ends the member's
// operations. The operations of the other members may then end with arbitrary data, which must not
// be used as a result.
#include <gtest/gtest.h>

#include <memory>

#include "tests/trainer/parallel/in_memory_group.h"
#include "tests/trainer/step/layout_run.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

// A group in which, from a given operation on, every operation ends at once and leaves its outputs
// unchanged.
class LeftGroup final : public Communicator {
 public:
  LeftGroup(const CommunicatorGroup& group, std::unique_ptr<Communicator> inner, int64_t whole)
      : Communicator(group), inner_(std::move(inner)), whole_(whole) {}

  void WaitUntil(const std::function<bool()>& done) override { inner_->WaitUntil(done); }
  void Abort() override { inner_->Abort(); }

 private:
  Work Begin(Operation operation, uint64_t) override {
    if (operation.kind != Operation::Kind::kAllReduce || ++reductions_ > whole_) return Work();
    return inner_->AllReduce(operation.output, operation.reduce);
  }
  torch::Device device() const override { return torch::kCPU; }

  std::unique_ptr<Communicator> inner_;
  const int64_t whole_;
  int64_t reductions_ = 0;
};

// Runs two ranks for `steps` steps. The world group works for the first `whole` steps. This group
// reduces the step values once per step, so its number of operations is the number of steps.
LayoutRun RunWithWholeSteps(int64_t whole, int64_t steps) {
  RunConfig config = SmallRun();
  config.layout.dp = 2;
  InMemoryNetwork network;
  LayoutMachine machine;
  machine.connect = [&](int64_t) -> ConnectGroupFunction {
    return [&](const CommunicatorGroup& group) -> std::unique_ptr<Communicator> {
      if (group.name != "world0") return network.Connect(group);
      return std::make_unique<LeftGroup>(group, network.Connect(group), whole);
    };
  };
  return RunLayout(config, steps, /*masked=*/false, machine);
}

TEST(LeftGangTest, AStepThatAllRanksFinishHasAResult) {
  EXPECT_EQ(RunWithWholeSteps(/*whole=*/3, /*steps=*/3).steps.size(), 3);
}

TEST(LeftGangTest, AStepThatAMemberLeftHasNone) {
  try {
    RunWithWholeSteps(/*whole=*/2, /*steps=*/3);
    FAIL() << "the third step had a result";
  } catch (const TrainerError& error) {
    EXPECT_EQ(error.code(), ExitCode::kPeerLost);
    EXPECT_STREQ(error.what(), "Lost a peer in step 3: a rank has left the gang.");
  }
}

}  // namespace
}  // namespace trainyard::trainer
