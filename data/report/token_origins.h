// The inputs of the documents of token files.
#ifndef TRAINYARD_DATA_REPORT_TOKEN_ORIGINS_H_
#define TRAINYARD_DATA_REPORT_TOKEN_ORIGINS_H_

#include <cstdint>
#include <string>

#include "data/report/run_document.h"
#include "data/tokens/dataset_description.h"

namespace trainyard::data {

// Returns the place from which `data prepare` or `data run` read the document that contains this
// token of the split, then its places in the inputs of earlier runs, as OriginsOf. If the place is
// unknown, only states the problem.
DocumentOrigins OriginsOfToken(const std::string& directory, const SplitDescription& split,
                               int64_t token);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_REPORT_TOKEN_ORIGINS_H_
