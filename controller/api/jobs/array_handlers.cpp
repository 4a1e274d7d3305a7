#include "controller/api/jobs/array_handlers.h"

#include <utility>

#include "controller/api/jobs/named_job.h"
#include "controller/core/explain/array_table.h"

namespace trainyard::controller {

void handlers::GetArray(const Api& api, const Principal& /*principal*/, v1::GetArrayRequest request,
                        Reply<v1::GetArrayResponse> reply) {
  const std::string job = request.job();
  ReadJob(api, job,
          [request = std::move(request), reply = std::move(reply)](const auto& entry,
                                                                   const ClusterView& view) {
            if (!entry.ok()) return reply(entry.status());
            auto table = ArrayTable(view, **entry, request);
            if (table.ok()) table->set_revision(view.revision);
            reply(std::move(table));
          });
}

}  // namespace trainyard::controller
