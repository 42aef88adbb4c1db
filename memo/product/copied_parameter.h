// Finds a function that takes a value by copy, unless the value is a scalar.
// Such a function would compile and would copy the value at each call.
//
//   static_assert(!TakesACopy<decltype(Predict), State, Model>());
//
// Limit: it returns false for a function whose call operator is overloaded or a
// template, such as a lambda with `auto` parameters, and for one that has
// another number of parameters than there are values.

#ifndef FOOTPRINT_MEMO_PRODUCT_COPIED_PARAMETER_H_
#define FOOTPRINT_MEMO_PRODUCT_COPIED_PARAMETER_H_

#include <type_traits>

namespace footprint::memo_internal {

// A list of types. HasCopy compares it with as many other types.
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

// If the parameters are not known, the list is empty.
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

// Returns whether a parameter of `Function` takes by copy the one of `Values`
// in the same position.
template <typename Function, typename... Values>
constexpr bool TakesACopy() {
  return ParametersOf<std::decay_t<Function>>::List::template HasCopy<
      Values...>();
}

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_PRODUCT_COPIED_PARAMETER_H_
