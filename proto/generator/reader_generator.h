// Writes proto/jobspec/fields/section_readers.cpp from job_spec.proto.
#ifndef TRAINYARD_PROTO_GENERATOR_READER_GENERATOR_H_
#define TRAINYARD_PROTO_GENERATOR_READER_GENERATOR_H_

#include "proto/generator/sections.h"

namespace trainyard {

// Generates the definition of ReadSections (proto/jobspec/fields/section_readers.h), with one
// function per section. Reading the sections by reflection instead would take a third of the time
// for checking a submission. A test compares the result with the committed file.
GeneratedFile GenerateSectionReaders();

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_GENERATOR_READER_GENERATOR_H_
