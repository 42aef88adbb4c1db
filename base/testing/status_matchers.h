// Matchers of absl::Status and absl::StatusOr for tests, with the names of
// Abseil's later absl/status/status_matchers.h.
//
//   EXPECT_THAT(file.Close(), IsOk());
//   ASSERT_THAT(ParseBytes("4 KiB"), IsOkAndHolds(4096));
//   EXPECT_THAT(ReadWholeFile("/no/such/file"),
//               StatusIs(absl::StatusCode::kNotFound, HasSubstr("/no/such")));
//
// A mismatch shows the status. A matcher owns the values that it compares with
// and is thread-compatible.

#ifndef FOOTPRINT_BASE_TESTING_STATUS_MATCHERS_H_
#define FOOTPRINT_BASE_TESTING_STATUS_MATCHERS_H_

#include <ostream>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"

namespace footprint {
namespace testing_internal {

inline const absl::Status& ToStatus(const absl::Status& status) {
  return status;
}
template <typename T>
const absl::Status& ToStatus(const absl::StatusOr<T>& value) {
  return value.status();
}

// Returns the status as text, without the source locations that a newer Abseil
// adds.
inline std::string StatusText(const absl::Status& status) {
  return status.ToString(absl::StatusToStringMode::kWithPayload);
}

class IsOkMatcher {
 public:
  template <typename StatusOrValue>
  bool MatchAndExplain(const StatusOrValue& value,
                       testing::MatchResultListener* listener) const {
    const absl::Status& status = ToStatus(value);
    if (!status.ok()) *listener << "which is " << StatusText(status);
    return status.ok();
  }
  void DescribeTo(std::ostream* out) const { *out << "is OK"; }
  void DescribeNegationTo(std::ostream* out) const { *out << "is not OK"; }
};

class StatusIsMatcher {
 public:
  StatusIsMatcher(testing::Matcher<absl::StatusCode> code,
                  testing::Matcher<const std::string&> message)
      : code_(std::move(code)), message_(std::move(message)) {}

  template <typename StatusOrValue>
  bool MatchAndExplain(const StatusOrValue& value,
                       testing::MatchResultListener* listener) const {
    const absl::Status& status = ToStatus(value);
    *listener << "which is " << StatusText(status);
    return code_.Matches(status.code()) &&
           message_.Matches(std::string(status.message()));
  }
  void DescribeTo(std::ostream* out) const {
    *out << "has a status code that ";
    code_.DescribeTo(out);
    *out << ", and a message that ";
    message_.DescribeTo(out);
  }
  void DescribeNegationTo(std::ostream* out) const {
    *out << "has a status code that ";
    code_.DescribeNegationTo(out);
    *out << ", or a message that ";
    message_.DescribeNegationTo(out);
  }

 private:
  testing::Matcher<absl::StatusCode> code_;
  testing::Matcher<const std::string&> message_;
};

// Matches one type StatusOr<T>, which the polymorphic matcher has determined.
template <typename StatusOrValue>
class IsOkAndHoldsImplementation
    : public testing::MatcherInterface<StatusOrValue> {
 public:
  using Value = typename std::decay_t<StatusOrValue>::value_type;

  explicit IsOkAndHoldsImplementation(testing::Matcher<const Value&> value)
      : value_(std::move(value)) {}

  bool MatchAndExplain(StatusOrValue value,
                       testing::MatchResultListener* listener) const override {
    if (value.ok()) return value_.MatchAndExplain(*value, listener);
    *listener << "which is " << StatusText(value.status());
    return false;
  }
  void DescribeTo(std::ostream* out) const override {
    *out << "is OK and holds a value that ";
    value_.DescribeTo(out);
  }
  void DescribeNegationTo(std::ostream* out) const override {
    *out << "is not OK, or holds a value that ";
    value_.DescribeNegationTo(out);
  }

 private:
  const testing::Matcher<const Value&> value_;
};

template <typename ValueMatcher>
class IsOkAndHoldsMatcher {
 public:
  explicit IsOkAndHoldsMatcher(ValueMatcher value) : value_(std::move(value)) {}

  // This is implicit, since GoogleTest converts polymorphic matchers.
  template <typename StatusOrValue>
  operator testing::Matcher<StatusOrValue>() const {  // NOLINT
    using Implementation = IsOkAndHoldsImplementation<StatusOrValue>;
    using Value = typename Implementation::Value;
    return testing::Matcher<StatusOrValue>(
        new Implementation(testing::SafeMatcherCast<const Value&>(value_)));
  }

 private:
  const ValueMatcher value_;
};

}  // namespace testing_internal

// Matches a Status or StatusOr that is OK.
inline testing::PolymorphicMatcher<testing_internal::IsOkMatcher> IsOk() {
  return testing::MakePolymorphicMatcher(testing_internal::IsOkMatcher());
}

// Matches a StatusOr that is OK and whose value matches; `value` is a matcher
// or a value.
template <typename ValueMatcher>
testing_internal::IsOkAndHoldsMatcher<std::decay_t<ValueMatcher>> IsOkAndHolds(
    ValueMatcher&& value) {
  return testing_internal::IsOkAndHoldsMatcher<std::decay_t<ValueMatcher>>(
      std::forward<ValueMatcher>(value));
}

// Matches a Status or StatusOr with this code and, if given, with this message;
// each is a matcher or a value.
template <typename CodeMatcher, typename MessageMatcher>
testing::PolymorphicMatcher<testing_internal::StatusIsMatcher> StatusIs(
    CodeMatcher&& code, MessageMatcher&& message) {
  return testing::MakePolymorphicMatcher(testing_internal::StatusIsMatcher(
      testing::SafeMatcherCast<absl::StatusCode>(
          std::forward<CodeMatcher>(code)),
      testing::SafeMatcherCast<const std::string&>(
          std::forward<MessageMatcher>(message))));
}
template <typename CodeMatcher>
testing::PolymorphicMatcher<testing_internal::StatusIsMatcher> StatusIs(
    CodeMatcher&& code) {
  return StatusIs(std::forward<CodeMatcher>(code), testing::_);
}

}  // namespace footprint

#endif  // FOOTPRINT_BASE_TESTING_STATUS_MATCHERS_H_
