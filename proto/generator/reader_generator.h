// Writes proto/jobspec/section_readers.cpp from job_spec.proto.
#ifndef TRAINYARD_PROTO_GENERATOR_READER_GENERATOR_H_
#define TRAINYARD_PROTO_GENERATOR_READER_GENERATOR_H_

#include "proto/generator/sections.h"

namespace trainyard {

// The definition of ReadSections (proto/jobspec/section_readers.h), with one function per section.
// Reflection would take a third of the checks of a submission. A test compares the file with the
// committed one.
GeneratedFile GenerateSectionReaders();

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_GENERATOR_READER_GENERATOR_H_
