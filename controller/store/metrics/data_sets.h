// The data sets that the report of a job lists, and the jobs that make and read them.
#ifndef TRAINYARD_CONTROLLER_STORE_METRICS_DATA_SETS_H_
#define TRAINYARD_CONTROLLER_STORE_METRICS_DATA_SETS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard::controller {

struct ReportedDataSet {
  std::string path;
  std::string xxh64;   // Checksum of the training tokens; empty if unknown.
  int64_t tokens = 0;  // Tokens of the training split; 0 if unknown.
};

struct ReportedDataSets {
  bool reads = false;  // True for the report of a training job, false for that of a data job.
  std::vector<ReportedDataSet> sets;
};

// Reads the report of a job (proto/contract/data_report.h). Any program may have written it.
// Entries with unexpected types or excessive lengths are left out; other text has no data sets.
ReportedDataSets DataSetsInReport(const std::string& report);

struct DataSetUser {
  int64_t job_id = 0;
  std::string path;  // As this job reports it; may be that of a copy.
};

// A data set of a job, and the jobs on the other side: the readers of a made data set, or the
// makers of a read one. Data sets are equal if their checksums are.
struct LinkedDataSet {
  ReportedDataSet set;
  bool reads = false;             // As ReportedDataSets::reads.
  std::vector<DataSetUser> jobs;  // Newest job first, at most kLinkedJobsMax.
  int64_t omitted_jobs = 0;
};

inline constexpr int kLinkedJobsMax = 20;

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_METRICS_DATA_SETS_H_
