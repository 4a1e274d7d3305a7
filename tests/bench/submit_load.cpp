#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/bench/load.h"
#include "tests/fakes/process_channel.h"
#include "trainyard/v1/job_service.grpc.pb.h"

namespace trainyard::bench {
namespace {

using Steady = std::chrono::steady_clock;

double SecondsFrom(Steady::time_point begin) {
  return std::chrono::duration<double>(Steady::now() - begin).count();
}

std::shared_ptr<grpc::Channel> Connect(const std::string& controller) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(16 << 20);
  return OpenProcessChannel(controller, arguments);
}

// Keeps a number of calls in flight until all jobs are submitted.
class Submitter {
 public:
  explicit Submitter(const SubmitLoad& load)
      : load_(load), stub_(v1::JobService::NewStub(Connect(load.controller))) {}

  nlohmann::json Run() {
    const auto begin = Steady::now();
    for (int i = 0; i < std::min(load_.callers, load_.jobs); ++i) SubmitNext();
    std::unique_lock lock(mutex_);
    finished_.wait(lock, [this] { return under_way_ == 0; });
    if (!error_.empty()) return {{"error", error_}};
    std::sort(latencies_ms_.begin(), latencies_ms_.end());
    return {{"seconds", SecondsFrom(begin)},
            {"jobs", load_.jobs},
            {"p50_ms", latencies_ms_[latencies_ms_.size() / 2]},
            {"p99_ms", latencies_ms_[latencies_ms_.size() * 99 / 100]}};
  }

 private:
  struct Call {
    grpc::ClientContext context;
    v1::SubmitJobRequest request;
    v1::SubmitJobResponse response;
    Steady::time_point begin = Steady::now();
  };

  void SubmitNext() {
    int number = 0;
    {
      const std::lock_guard lock(mutex_);
      if (next_ == load_.jobs || !error_.empty()) return;
      number = next_++;
      ++under_way_;
    }
    auto call = std::make_shared<Call>();
    *call->request.mutable_spec() =
        RecipeSpec(absl::StrCat(load_.prefix, "-", number), load_.nodes, load_.slots_per_node);
    // If the controller is to reject the call, the name is longer than its limit.
    call->request.set_user(load_.refused ? std::string(200, 'u') : "ada");
    call->request.set_request_id(call->request.spec().name());
    stub_->async()->SubmitJob(&call->context, &call->request, &call->response,
                              [this, call](const grpc::Status& status) { Finish(*call, status); });
  }

  void Finish(const Call& call, const grpc::Status& status) {
    {
      const std::lock_guard lock(mutex_);
      latencies_ms_.push_back(1e3 * SecondsFrom(call.begin));
      const bool refused = status.error_code() == grpc::StatusCode::INVALID_ARGUMENT;
      if (load_.refused ? !refused : !status.ok()) error_ = status.error_message();
    }
    SubmitNext();
    const std::lock_guard lock(mutex_);
    if (--under_way_ == 0) finished_.notify_all();
  }

  const SubmitLoad& load_;
  const std::unique_ptr<v1::JobService::Stub> stub_;
  std::mutex mutex_;
  std::condition_variable finished_;
  int next_ = 0;
  int under_way_ = 0;
  std::string error_;
  std::vector<double> latencies_ms_;
};

}  // namespace

v1::JobSpec RecipeSpec(const std::string& name, int nodes, int slots_per_node) {
  v1::JobSpec spec;
  spec.set_name(name);
  spec.set_description("LLaMA-family model of about 2 M parameters.");
  spec.mutable_resources()->set_nodes(nodes);
  spec.mutable_resources()->set_slots_per_node(slots_per_node);
  spec.mutable_resources()->set_device(v1::DEVICE_KIND_CPU);
  v1::ModelSpec& model = *spec.mutable_model();
  model.set_num_layers(4);
  model.set_hidden_size(192);
  model.set_ffn_hidden_size(512);
  model.set_num_attention_heads(6);
  model.set_num_query_groups(2);
  model.set_vocab_size(2048);
  spec.mutable_data()->set_path("/data/tokens");
  v1::TrainSpec& train = *spec.mutable_train();
  train.set_seq_length(128);
  train.set_global_batch(nodes * slots_per_node * 8);
  train.set_steps(1'000'000);
  train.set_precision(v1::PRECISION_FP32);
  spec.mutable_layout()->set_micro_batch(8);
  spec.mutable_checkpoint()->set_every_steps(100);
  return spec;
}

nlohmann::json RunSubmitLoad(const SubmitLoad& load) { return Submitter(load).Run(); }

nlohmann::json RunListLoad(const std::string& controller, int page) {
  const auto stub = v1::JobService::NewStub(Connect(controller));
  v1::ListJobsRequest request;
  request.set_limit(page);
  const auto begin = Steady::now();
  int64_t jobs = 0, pages = 0;
  do {
    grpc::ClientContext context;
    v1::ListJobsResponse response;
    const grpc::Status status = stub->ListJobs(&context, request, &response);
    if (!status.ok()) return {{"error", status.error_message()}};
    jobs += response.jobs_size();
    ++pages;
    request.set_cursor(response.next_cursor());
  } while (!request.cursor().empty());
  return {{"seconds", SecondsFrom(begin)}, {"jobs", jobs}, {"pages", pages}};
}

}  // namespace trainyard::bench
