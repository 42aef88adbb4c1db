// Finds the mistakes in a threshold's integers that every kind of rule checks:
// a wrong unit or sign.
//
//   const NumberField& number = *FindNumber(threshold, MAXIMUM);
//   if (CheckUnitAndSign(threshold, number, &mistakes)) ...  // it is valid
//
// Pure functions, thread-safe. Memory: the messages.

#ifndef FOOTPRINT_GATES_JUDGE_NUMBER_MISTAKES_H_
#define FOOTPRINT_GATES_JUDGE_NUMBER_MISTAKES_H_

#include <string>
#include <vector>

#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/rule.h"
#include "footprint/gates/judge/threshold_numbers.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

// Returns whether figures of the metric can be below zero.
bool IsNegativeAllowed(MetricKind kind);

// Returns the message about a limit that no measurement can break.
std::string DescribeIdleNumber(const char* field, const std::string& value);

// Appends the mistakes in the unit and the sign of the threshold's number.
// Returns whether there is none.
bool CheckUnitAndSign(const Threshold& threshold, const NumberField& number,
                      std::vector<RuleMistake>* mistakes);

}  // namespace footprint

// Tested by threshold_file_test.

#endif  // FOOTPRINT_GATES_JUDGE_NUMBER_MISTAKES_H_
