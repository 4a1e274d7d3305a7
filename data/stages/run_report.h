// report.json of a complete run.
#ifndef TRAINYARD_DATA_STAGES_RUN_REPORT_H_
#define TRAINYARD_DATA_STAGES_RUN_REPORT_H_

#include <string>

#include "data/stages/plan.h"
#include "data/stages/run_totals.h"
#include "data/stages/stage.h"

namespace trainyard::data {

// Contains the stage, the hash of the plan, and the totals. Does not depend on time.
std::string ReportJson(const Stage& stage, const Plan& plan, const RunTotals& totals);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_STAGES_RUN_REPORT_H_
