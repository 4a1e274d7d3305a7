#include "controller/core/verdict/error_line.h"

#include <string>

#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

TEST(ErrorLineTest, IsTheLastLineThatNamesAnError) {
  EXPECT_EQ(ErrorLine("step 1\nValueError: one\nTraceback (most recent call last):\n"
                      "  File \"train.py\", line 3\nmodule.sub.CustomError: two\nbye\n"),
            "module.sub.CustomError: two");
  EXPECT_EQ(ErrorLine("[rank3]: KeyError: 'loss'\n"), "[rank3]: KeyError: 'loss'");
  EXPECT_EQ(ErrorLine("terminate called after throwing an instance of 'E'\n  what():  bad\n"),
            "what():  bad");
  EXPECT_EQ(ErrorLine("a.out: x.c:3: main: Assertion `x > 1' failed.\n"),
            "a.out: x.c:3: main: Assertion `x > 1' failed.");
  EXPECT_EQ(ErrorLine("trainyard-trainer: /c/step_1 is not a checkpoint\n"),
            "/c/step_1 is not a checkpoint");
  EXPECT_EQ(ErrorLine("trainyard-trainer 0.1.0   job 3   attempt 1   2 rank(s)\n"), "");
  EXPECT_EQ(ErrorLine("AssertionError\r\nstep 3\r\n"), "AssertionError");
}

TEST(ErrorLineTest, IsEmptyWhereNoLineNamesAnError) {
  EXPECT_EQ(ErrorLine(""), "");
  EXPECT_EQ(ErrorLine("step 1 loss 2.3\nvalidation error of 3 %\n"), "");
  EXPECT_EQ(ErrorLine("x.py:3: UserWarning: slow\nUserWarning: slow\n"), "") << "a warning";
}

// The final output of a launcher whose rank 1 failed.
constexpr char kTorchrunOutput[] =
    "[rank0]: iter 3: loss 2.00, time 1.00ms, mfu 1.00%\n"
    "[rank1]: Traceback (most recent call last):\n"
    "[rank1]:   File \"train.py\", line 88, in <module>\n"
    "[rank1]:     loss.backward()\n"
    "[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
    "W1201 10:00:00.000 1234 site-packages/torch/distributed/elastic/multiprocessing/api.py:897] "
    "Sending process 1235 closing signal SIGTERM\n"
    "E1201 10:00:01.000 1234 site-packages/torch/distributed/elastic/multiprocessing/api.py:869] "
    "failed (exitcode: 1) local_rank: 1 (pid: 1236) of binary: python\n"
    "Traceback (most recent call last):\n"
    "  File \"bin/torchrun\", line 8, in <module>\n"
    "    sys.exit(main())\n"
    "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:\n"
    "============================================================\n"
    "train.py FAILED\n"
    "Root Cause (first observed failure):\n"
    "[0]:\n"
    "  rank      : 1 (local_rank: 1)\n"
    "  exitcode  : 1 (pid: 1236)\n";

TEST(ErrorLineTest, TheCauseAboveATableOfALauncherIsUsed) {
  EXPECT_EQ(ErrorLine(kTorchrunOutput),
            "[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.");
  EXPECT_FALSE(ReportsOnlyPeerLoss(kTorchrunOutput));
  EXPECT_EQ(SignalBelow(kTorchrunOutput), 0);
  EXPECT_EQ(ErrorLine("ValueError: x\nsubprocess.CalledProcessError: Command '['python']' returned "
                      "non-zero exit status 1.\n"),
            "ValueError: x")
      << "accelerate";
  EXPECT_EQ(ErrorLine("[rank2]: KeyError: 'a'\n[2026-01-01 10:00:00,123] [ERROR] "
                      "[launch.py:322:sigkill_handler] ['python'] exits with return code = 1\n"),
            "[rank2]: KeyError: 'a'")
      << "DeepSpeed";
  EXPECT_EQ(ErrorLine("torch.distributed.elastic.multiprocessing.errors.ChildFailedError:\n"),
            "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:")
      << "nothing else is known";
}

TEST(ErrorLineTest, TheRankThatFailedFirstIsUsed) {
  EXPECT_EQ(ErrorLine("[rank3]: ValueError: one\n[rank0]: KeyError: 'two'\n"
                      "[rank3]: RuntimeError: three\n"),
            "[rank3]: RuntimeError: three");
  EXPECT_EQ(ErrorLine("3: ValueError: one\n0: KeyError: 'two'\n"), "3: ValueError: one") << "srun";
  EXPECT_EQ(ErrorLine("ERROR: cache is missing\n[rank1]: KeyError: 'a'\n"),
            "[rank1]: KeyError: 'a'");
}

TEST(ErrorLineTest, PrefixesOfLinesAreAllowed) {
  EXPECT_EQ(ErrorLine("0: 2026-01-01 10:00:00 ValueError: x\n"),
            "0: 2026-01-01 10:00:00 ValueError: x");
  EXPECT_EQ(ErrorLine("2026-01-01 10:00:00,735 - root - ERROR - no data\n"),
            "2026-01-01 10:00:00,735 - root - ERROR - no data");
}

TEST(PeerLossTest, MessagesOfCommunicationLibrariesAreConsequences) {
  for (const char* line :
       {"[rank0]:[E] ProcessGroupNCCL.cpp: Watchdog caught collective operation timeout: "
        "WorkNCCL(SeqNum=35, OpType=ALLREDUCE) ran for 600000 milliseconds before timing out.",
        "[rank0]: torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:3356, "
        "remote process exited or there was a network error, NCCL version 2.21.5",
        "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection "
        "closed by peer [10.0.0.1]:4242",
        "RuntimeError: Application timeout caused pair closure",
        "torch.distributed.DistNetworkError: failed to recv, got 0 bytes",
        "torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. 1/2 "
        "clients joined.",
        "torch.distributed.elastic.rendezvous.api.RendezvousConnectionError: The connection to "
        "the C10d store has failed.",
        "torch.distributed.elastic.multiprocessing.api.SignalException: Process 12 got signal: "
        "15"}) {
    EXPECT_TRUE(ReportsOnlyPeerLoss(line)) << line;
    EXPECT_FALSE(ErrorLine(line).empty()) << line;
    EXPECT_FALSE(ReportsOnlyPeerLoss(std::string("ValueError: x\n") + line)) << line;
  }
}

// All ranks of a launcher lost a peer of another launcher.
TEST(PeerLossTest, ReportsOfALauncherAreNoCause) {
  const std::string report =
      "ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: 1) local_rank: 1 "
      "(pid: "
      "17) of binary: /usr/bin/python3\n"
      "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n";
  EXPECT_TRUE(
      ReportsOnlyPeerLoss("RuntimeError: [./gloo/transport/tcp/pair.cc:598] Connection "
                          "closed by peer [127.0.0.1]:53922\n" +
                          report));
  EXPECT_FALSE(ReportsOnlyPeerLoss(report));
  EXPECT_EQ(ErrorLine("ValueError: x\n" + report), "ValueError: x");
}

TEST(PeerLossTest, OtherOutputIsNoPeerLoss) {
  for (const char* line :
       {"", "iter 1: loss 3", "ConnectionResetError: [Errno 104] Connection reset by peer",
        "[Gloo] Rank 0 is connected to 1 peer ranks. Expected number of connected peer ranks is : "
        "1",
        "[rank0]:[I] ProcessGroupNCCL initialization options: size: 2, TIMEOUT(ms): 600000",
        "torch.distributed.DistBackendError: NCCL error in: x.cpp:1, unhandled cuda error"}) {
    EXPECT_FALSE(ReportsOnlyPeerLoss(line)) << line;
  }
}

TEST(PeerLossTest, ASignalThatALauncherReportsIsACause) {
  const std::string lost = "RuntimeError: gloo: Connection closed by peer\n";
  EXPECT_FALSE(ReportsOnlyPeerLoss(lost + "  exitcode  : -9 (pid: 1236)\n"));
  EXPECT_TRUE(ReportsOnlyPeerLoss(lost + "  exitcode  : -6 (pid: 1236)\n"));
}

TEST(SignalBelowTest, LaunchersReportSignals) {
  EXPECT_EQ(SignalBelow("  exitcode  : -15 (pid: 1)\n  exitcode  : -9 (pid: 2)\n"), 9);
  EXPECT_EQ(SignalBelow("  traceback : Signal 11 (SIGSEGV) received by PID 12\n"), 11);
  EXPECT_EQ(SignalBelow("['python', 'a.py'] exits with return code = -9\n"), 9);
  EXPECT_EQ(SignalBelow("Command '['a']' died with <Signals.SIGKILL: 9>.\n"), 9);
  EXPECT_EQ(SignalBelow("mpirun noticed that process rank 1 exited on signal 9 (Killed).\n"), 9);
  EXPECT_EQ(SignalBelow("  exitcode  : 1 (pid: 1)\n"), 0);
}

TEST(ErrorLineTest, IsCutBetweenCharacters) {
  std::string line = "ValueError: ";
  while (line.size() < 2 * kMaxErrorLineBytes) line += "ü";
  EXPECT_LE(ErrorLine(line).size(), kMaxErrorLineBytes);
  EXPECT_GE(ErrorLine(line).size(), kMaxErrorLineBytes - 1);
}

TEST(ErrorLineTest, LinesOfMoreThanFourKibibytesAreData) {
  const std::string begin = "ValueError: ";
  EXPECT_NE(ErrorLine(begin + std::string(4096 - begin.size(), 'x')), "");
  EXPECT_EQ(ErrorLine(begin + std::string(4097 - begin.size(), 'x')), "");
}

TEST(ErrorLineTest, NumbersAndAddressesTellNoErrorsApart) {
  EXPECT_TRUE(SameError("IndexError: 17 at 0x7fff12", "IndexError: 4 at 0xabc"));
  EXPECT_FALSE(SameError("IndexError: 17", "KeyError: 17"));
}

}  // namespace
}  // namespace trainyard::controller
