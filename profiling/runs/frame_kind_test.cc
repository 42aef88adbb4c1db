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
    EXPECT_EQ(NativeFrameKind(function, "/usr/bin/train"), CodeFrame::ALLOCATOR)
        << function;
  }
}

TEST(FrameKindTest, OthersDoNot) {
  for (const char* function :
       {"main", "Fit(std::vector<int> const&)", "Matrix::Matrix(int, int)",
        "(anonymous namespace)::Load(std::string)", "", "_PyEval_EvalFrame",
        "Row* Sorted<std::vector<Row> >(std::vector<Row> const&)",
        "std::vector<int, std::allocator<int> > LoadTable<int>(char const*)",
        "standard::Load()", "libfoo.so+0x1234"}) {
    EXPECT_EQ(NativeFrameKind(function, "/usr/bin/train"), CodeFrame::NATIVE)
        << function;
  }
}

TEST(FrameKindTest, TheCLibraryIsKnownByItsFile) {
  for (const char* module :
       {"/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2",
        "/lib/x86_64-linux-gnu/libc-2.31.so", "/lib64/libpthread-2.31.so"}) {
    EXPECT_EQ(NativeFrameKind("allocate_dtv", module), CodeFrame::C_LIBRARY)
        << module;
    EXPECT_EQ(NativeFrameKind("malloc", module), CodeFrame::ALLOCATOR);
  }
  for (const char* module :
       {"/usr/lib/libcrypto.so.3", "/usr/lib/libcurl.so.4", "", "/bin/ld"}) {
    EXPECT_EQ(NativeFrameKind("Load", module), CodeFrame::NATIVE) << module;
  }
}

}  // namespace
}  // namespace footprint
