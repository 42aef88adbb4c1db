#include "footprint/profiling/runs/frame_kind.h"

#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(FrameKindTest, AllocatorsServeTheirCaller) {
  for (const char* function :
       {"malloc", "operator new(unsigned long)",
        "operator new[](unsigned long)",
        "std::allocator<int>::allocate(unsigned long, void const*)",
        "void std::vector<Row>::_M_realloc_insert<Row>(Row*, Row&&)",
        "std::pair<int, std::string>* std::__uninitialized_copy<false>::f()",
        "char* std::__cxx11::basic_string<char>::_S_construct<char*>(char*)",
        "std::ostream& std::operator<< <std::char_traits<char> >(char const*)",
        "std::function<int (int)>::operator bool() const",
        "__gnu_cxx::new_allocator<int>::allocate(unsigned long)",
        "PyObject_Malloc", "g_malloc0", "xrealloc", "strdup"}) {
    EXPECT_EQ(NativeFrameKind(function), CodeFrame::ALLOCATOR) << function;
  }
}

TEST(FrameKindTest, OthersDoNot) {
  for (const char* function :
       {"main", "Fit(std::vector<int> const&)", "Matrix::Matrix(int, int)",
        "(anonymous namespace)::Load(std::string)", "", "_PyEval_EvalFrame",
        "Row* Sorted<std::vector<Row> >(std::vector<Row> const&)",
        "std::vector<int, std::allocator<int> > LoadTable<int>(char const*)",
        "standard::Load()", "libfoo.so+0x1234"}) {
    EXPECT_EQ(NativeFrameKind(function), CodeFrame::NATIVE) << function;
  }
}

}  // namespace
}  // namespace footprint
