// Parts of encoded documents.
#ifndef TRAINYARD_DATA_PIPELINE_ENCODED_PARTS_H_
#define TRAINYARD_DATA_PIPELINE_ENCODED_PARTS_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "data/prepare/splits/split_writers.h"
#include "data/stages/binary_part.h"
#include "data/stages/block_documents.h"
#include "data/stages/record.h"

namespace trainyard::data {

// The stream of the parts.
inline constexpr char kEncodedStream[] = "encoded";

// Appends a document. `packed`: its tokens.
absl::Status AppendEncoded(const Document& document, bool has_special_text, std::string_view packed,
                           BinaryPartWriter* part);

// Passes the documents of `parts`, which are in `directory`, to `take`, in order. EncodedPart's
// `validates` is not set. Returns DataLoss for a damaged part.
using TakeEncoded = std::function<absl::Status(EncodedPart, std::string_view packed)>;
absl::Status ReadEncoded(const std::string& directory, const std::vector<PartFile>& parts,
                         const TakeEncoded& take);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PIPELINE_ENCODED_PARTS_H_
