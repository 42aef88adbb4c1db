// Tells a function that takes a large value by copy, which would compile and be
// called with a new copy each time.
//
//   static_assert(!TakesACopy<decltype(Predict), State, Model>());
//
// Limit: of a function whose call operator is overloaded or a template, such as
// a lambda with `auto` parameters, nothing is known.

#ifndef FOOTPRINT_MEMO_PRODUCT_COPIED_PARAMETER_H_
#define FOOTPRINT_MEMO_PRODUCT_COPIED_PARAMETER_H_

#include <type_traits>

namespace footprint::memo_internal {

// Types in order. Another pack of as many types is compared with it.
template <typename... Parameters>
struct ParameterList {
  template <typename... Values>
  static constexpr bool HasCopy() {
    if constexpr (sizeof...(Values) == sizeof...(Parameters)) {
      return ((std::is_same_v<std::remove_cv_t<Parameters>, Values> &&
               !std::is_scalar_v<Values>) ||
              ...);
    } else {
      return false;
    }
  }
};

// A list of no known parameters.
template <typename Function, typename = void>
struct ParametersOf {
  using List = ParameterList<>;
};
template <typename Result, typename... Parameters>
struct ParametersOf<Result (*)(Parameters...)> {
  using List = ParameterList<Parameters...>;
};
template <typename Result, typename... Parameters>
struct ParametersOf<Result (*)(Parameters...) noexcept> {
  using List = ParameterList<Parameters...>;
};
template <typename Result, typename Class, typename... Parameters>
struct ParametersOf<Result (Class::*)(Parameters...)> {
  using List = ParameterList<Parameters...>;
};
template <typename Result, typename Class, typename... Parameters>
struct ParametersOf<Result (Class::*)(Parameters...) const> {
  using List = ParameterList<Parameters...>;
};
template <typename Result, typename Class, typename... Parameters>
struct ParametersOf<Result (Class::*)(Parameters...) noexcept> {
  using List = ParameterList<Parameters...>;
};
template <typename Result, typename Class, typename... Parameters>
struct ParametersOf<Result (Class::*)(Parameters...) const noexcept> {
  using List = ParameterList<Parameters...>;
};
template <typename Function>
struct ParametersOf<Function, std::void_t<decltype(&Function::operator())>>
    : ParametersOf<decltype(&Function::operator())> {};

// Returns whether a parameter of `Function` is, in its place, one of `Values`
// by copy.
template <typename Function, typename... Values>
constexpr bool TakesACopy() {
  return ParametersOf<std::decay_t<Function>>::List::template HasCopy<
      Values...>();
}

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_PRODUCT_COPIED_PARAMETER_H_
