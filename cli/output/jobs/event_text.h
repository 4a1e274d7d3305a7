// The text of an event, for `describe` and `events`.
#ifndef TRAINYARD_CLI_OUTPUT_JOBS_EVENT_TEXT_H_
#define TRAINYARD_CLI_OUTPUT_JOBS_EVENT_TEXT_H_

#include <string>

#include "cli/output/jobs/job_views.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::cli {

// Returns the name of the node; its id if the name is not known.
std::string NodeName(const std::string& id, const NodeNames& names);

// Returns a text such as "attempt 2 placed: 8 ranks on 2 nodes, from step 100". The text may quote
// a trainer or a node, and may contain line ends. Print the text through OneLine.
std::string EventText(const v1::Event& event, const NodeNames& names);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_JOBS_EVENT_TEXT_H_
