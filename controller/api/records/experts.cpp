#include "controller/api/records/experts.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "controller/api/jobs/named_job.h"
#include "controller/core/explain/expert_advice.h"
#include "controller/core/explain/finding_messages.h"
#include "proto/contract/expert_load.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

// Figures are stored as floats, whose digits after the fourth decimal are of no use to a reader.
double FourDecimals(float value) {
  return std::round(static_cast<double>(value) * 10'000) / 10'000;
}

v1::LayerBalance LayerOf(const v1::ExpertsRecord& record, int index) {
  v1::LayerBalance layer;
  layer.set_layer(record.first_layer() + index);
  layer.set_balance(FourDecimals(record.balance(index)));
  if (record.aux_loss_size() > index) layer.set_aux_loss(FourDecimals(record.aux_loss(index)));
  if (record.entropy_size() > index) layer.set_entropy(FourDecimals(record.entropy(index)));
  if (record.dropped_size() > index) layer.set_dropped(FourDecimals(record.dropped(index)));
  const auto experts = static_cast<std::size_t>(record.experts());
  const std::size_t begin = static_cast<std::size_t>(index) * experts;
  if (record.load().size() < begin + experts) return layer;
  for (std::size_t i = begin; i < begin + experts; ++i) {
    layer.add_load(ExpertLoadOf(static_cast<std::uint8_t>(record.load()[i])));
  }
  return layer;
}

// Call on a reader thread.
absl::StatusOr<v1::GetExpertsResponse> ReadBalance(MetricStore& metrics, int64_t job_id,
                                                   const v1::JobSpec& spec, int64_t step) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<StoredExperts> records, metrics.ReadExperts(job_id));
  v1::GetExpertsResponse response;
  const StoredExperts* requested = nullptr;
  for (const StoredExperts& experts : records) {
    response.add_steps(experts.record.step());
    if (step == 0 || experts.record.step() <= step) requested = &experts;
  }
  if (requested != nullptr) *response.mutable_balance() = ExpertBalanceOf(*requested);
  AddFindings(AdviceOnExperts(ExpertProblemsOf(records), spec), *response.mutable_findings());
  return response;
}

}  // namespace

v1::ExpertBalance ExpertBalanceOf(const StoredExperts& experts) {
  const v1::ExpertsRecord& record = experts.record;
  v1::ExpertBalance balance;
  balance.set_step(record.step());
  balance.set_time_ms(experts.time_ms);
  balance.set_attempt(experts.attempt);
  balance.set_experts(record.experts());
  balance.set_topk(record.topk());
  const auto worst = std::max_element(record.balance().begin(), record.balance().end());
  balance.set_worst_layer(record.first_layer() +
                          static_cast<int>(worst - record.balance().begin()));
  for (int i = 0; i < record.balance_size(); ++i) *balance.add_layers() = LayerOf(record, i);
  return balance;
}

std::vector<ExpertProblem> ExpertProblemsOf(const std::vector<StoredExperts>& records) {
  ExpertWatch watch;
  for (const StoredExperts& experts : records) {
    if (experts.attempt == records.back().attempt) watch.Add(experts.record);
  }
  return watch.Problems();
}

void handlers::GetExperts(const Api& api, const Principal& /*principal*/,
                          const v1::GetExpertsRequest& request,
                          Reply<v1::GetExpertsResponse> reply) {
  if (request.step() < 0) return reply(absl::InvalidArgumentError("step must not be negative"));
  ReadJob(api, request.job(),
          [&api, reply = std::move(reply), step = request.step()](const auto& entry,
                                                                  const ClusterView& view) {
            if (!entry.ok()) return reply(entry.status());
            const v1::Job& job = (*entry)->job;
            const bool queued =
                api.readers.TryPost([&api, reply, step, job_id = job.id(),
                                     spec = std::make_shared<v1::JobSpec>(job.spec()),
                                     now = view.now, revision = view.revision] {
                  auto response = ReadBalance(api.metrics, job_id, *spec, step);
                  if (response.ok()) {
                    response->set_revision(revision);
                    response->set_as_of_ms(now);
                  }
                  reply(std::move(response));
                });
            if (!queued) reply(ReaderPool::Busy());
          });
}

}  // namespace trainyard::controller
