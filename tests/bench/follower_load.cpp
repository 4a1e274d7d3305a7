#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "tests/bench/load.h"
#include "tests/fakes/process_channel.h"
#include "trainyard/v1/job_service.grpc.pb.h"
#include "trainyard/v1/log_service.grpc.pb.h"

namespace trainyard::bench {
namespace {

// Simulates a CLI process suspended with ^Z: the call stays open, but the process reads nothing.
template <typename Response>
class SlowReader final : public grpc::ClientReadReactor<Response> {
 public:
  // `begin` starts this reactor's call on the channel. Each reader has its own channel.
  template <typename Begin>
  SlowReader(const std::string& controller, Begin begin) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    channel_ = OpenProcessChannel(controller, arguments);
    begin(channel_, &context_, this);
    this->AddHold();
    this->StartCall();
  }

 private:
  std::shared_ptr<grpc::Channel> channel_;
  grpc::ClientContext context_;
};

}  // namespace

void RunFollowerLoad(const FollowerLoad& load) {
  v1::WatchJobRequest watch;
  watch.set_job(load.job);
  v1::ReadLogsRequest read;
  read.set_job(load.job);
  read.set_follow(true);
  std::vector<std::unique_ptr<SlowReader<v1::WatchJobResponse>>> watches;
  std::vector<std::unique_ptr<SlowReader<v1::ReadLogsResponse>>> logs;
  for (int i = 0; i < load.followers; ++i) {
    if (i % 2 == 0) {
      watches.push_back(std::make_unique<SlowReader<v1::WatchJobResponse>>(
          load.controller, [&](const auto& channel, grpc::ClientContext* context, auto* reactor) {
            v1::JobService::NewStub(channel)->async()->WatchJob(context, &watch, reactor);
          }));
    } else {
      logs.push_back(std::make_unique<SlowReader<v1::ReadLogsResponse>>(
          load.controller, [&](const auto& channel, grpc::ClientContext* context, auto* reactor) {
            v1::LogService::NewStub(channel)->async()->ReadLogs(context, &read, reactor);
          }));
    }
  }
  std::printf("%s\n", nlohmann::json({{"followers", load.followers}}).dump().c_str());
  std::fflush(stdout);
  char byte = 0;
  while (::read(STDIN_FILENO, &byte, 1) > 0) {
  }
  // Exits immediately, because ending hundreds of calls one by one would take long.
  std::_Exit(0);
}

}  // namespace trainyard::bench
