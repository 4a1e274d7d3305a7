// Name and format of the file that states the inputs and settings of a data set.
#ifndef TRAINYARD_DATA_TOKENS_PROVENANCE_FILE_H_
#define TRAINYARD_DATA_TOKENS_PROVENANCE_FILE_H_

namespace trainyard::data {

inline constexpr char kProvenanceFile[] = "provenance.json";
inline constexpr char kProvenanceFormat[] = "trainyard-provenance";
inline constexpr int kProvenanceVersion = 1;

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_TOKENS_PROVENANCE_FILE_H_
