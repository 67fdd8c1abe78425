#include "kernels/simt/rewrite.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/compile.h"
#include "kernels/simt/prelude.h"
#include "kernels/source_constants.h"

namespace warpfuzz {
namespace {

const std::string call_attribute =
    R"(__attribute__((no_sanitize("address", "undefined", "thread", "coverage"))))";
const std::string static_shared = R"(static __attribute__((section(".wfshared"), aligned(32))))";
// Ends the text of every source with shared memory or launch bounds.
const std::string enters = "\nextern \"C\" { extern const char wf_kernels_enter = 1; }";
const std::string device_function = "__attribute__((internal_linkage))";

// What follows the declaration of a shared variable.
std::string record(const std::string& name) {
  return R"( static __attribute__((used, section(".wfsizes"), no_sanitize("address"))) )"
         "::wf_simt::SharedRecord wf_shared_" +
         name + "{&" + name + ", sizeof(" + name + "), \"" + name + "\", &wf_kernel_record};";
}
// The first statements of a kernel.
std::string entry(const std::string& bound) {
  return R"(static __attribute__((used, no_sanitize("address"))) const ::wf_simt::KernelRecord )"
         "wf_kernel_record{__PRETTY_FUNCTION__, (" +
         bound + ")}; ::wf_simt::enter(wf_kernel_record);";
}

// A launch of `expression` as wf_simt.h states it; `arguments` with its parentheses.
std::string launch(const std::string& expression, const std::string& configuration,
                   const std::string& arguments) {
  return "::wf_simt::Config(" + configuration + ").kernel(\"" + expression +
         "\", [&](auto&... wf_args) " + call_attribute + " { [[clang::noinline]] " + expression +
         "(wf_args...); })" + arguments;
}

struct Row {
  std::string name;
  std::string input;
  std::string expected;
};
std::string print(const testing::TestParamInfo<Row>& info) { return info.param.name; }

class RewriteTest : public testing::TestWithParam<Row> {};
TEST_P(RewriteTest, GivesTheExpectedText) {
  EXPECT_EQ(rewrite_cuda(GetParam().input), GetParam().expected);
}

const std::vector<Row> launches = {
    {"Plain", "k<<<g, b>>>(x, n);", launch("k", "g, b", "(x, n)") + ";"},
    {"SharedBytesAndStream", "k<<<g, b, 4 * n, s>>>(x);",
     launch("k", "g, b, 4 * n, s", "(x)") + ";"},
    {"NoArguments", "k<<<1, 1>>>();", launch("k", "1, 1", "()") + ";"},
    {"Template", "k<T, N><<<g, b>>>(x);", launch("k<T, N>", "g, b", "(x)") + ";"},
    {"NestedTemplate", "k<A<B<int>>, (1 > 0)><<<g, b>>>(x);",
     launch("k<A<B<int>>, (1 > 0)>", "g, b", "(x)") + ";"},
    {"TemplateOfPointer", "k<decltype(p->x)><<<g, b>>>(x);",
     launch("k<decltype(p->x)>", "g, b", "(x)") + ";"},
    {"Qualified", "ns::a::k<T><<<g, b>>>(x);", launch("ns::a::k<T>", "g, b", "(x)") + ";"},
    {"GlobalNamespace", "return ::k<<<g, b>>>(x);", "return " + launch("::k", "g, b", "(x)") + ";"},
    {"MemberOfTemplate", "A<T>::template k<2><<<g, b>>>(x);",
     launch("A<T>::template k<2>", "g, b", "(x)") + ";"},
    {"Pointer", "(*f)<<<g, b>>>(x);", launch("(*f)", "g, b", "(x)") + ";"},
    {"Table", "table[i]<<<g, b>>>(x);", launch("table[i]", "g, b", "(x)") + ";"},
    {"Member", "p->kernels.k<<<g, b>>>(x);", launch("p->kernels.k", "g, b", "(x)") + ";"},
    {"ResultOfACall", "pick<T>(n)<<<g, b>>>(x);", launch("pick<T>(n)", "g, b", "(x)") + ";"},
    {"AfterCondition", "if (n > 0) k<<<g, b>>>(x);",
     "if (n > 0) " + launch("k", "g, b", "(x)") + ";"},
    {"AfterElse", "else k<<<g, b>>>(x);", "else " + launch("k", "g, b", "(x)") + ";"},
    {"NestedConfiguration", "k<<<dim3((n + 3) / 4, f<A<B<C<int>>>>(n)), {32, 2}>>>(x);",
     launch("k", "dim3((n + 3) / 4, f<A<B<C<int>>>>(n)), {32, 2}", "(x)") + ";"},
    {"TemplateClosesInConfiguration", "k<<<A<B<C<1>>>(n), 32>>>(x);",
     launch("k", "A<B<C<1>>>(n), 32", "(x)") + ";"},
    {"ShiftsInConfiguration", "k<<<n >> 5, 1 << 5>>>(x << 2, y >> 1);",
     launch("k", "n >> 5, 1 << 5", "(x << 2, y >> 1)") + ";"},
    {"LambdaArgument", "k<<<g, b>>>([=] __wf_device__(int i) { return i << 1; });",
     launch("k", "g, b", "([=] (int i) { return i << 1; })") + ";"},
    {"NullArguments", "k<<<g, b, 0, __null>>>(__null, f(__null), __null);",
     launch("k", "g, b, 0, __null", "(nullptr, f(__null), nullptr)") + ";"},
    {"SpacedBrackets", "k<< <g, b>> >(x);", launch("k", "g, b", "(x)") + ";"},
    {"ConfigurationOnTheNextLine", "k<T>\n    <<<g,\n       b>>>(x);",
     "\n::wf_simt::Config(g,\n       b).kernel(\"k<T>\", [&](auto&... wf_args) " + call_attribute +
         " { [[clang::noinline]] k<T>(wf_args...); })(x);"},
    {"LineMarkerInside", "k\n# 7 \"a.cu\"\n<<<g, b>>>(x);",
     "\n# 7 \"a.cu\"\n" + launch("k", "g, b", "(x)") + ";"},
    {"StringInTemplateArguments", "k<'\"'><<<g, b>>>(x);",
     "::wf_simt::Config(g, b).kernel(\"k<'\\\"'>\", [&](auto&... wf_args) " + call_attribute +
         " { [[clang::noinline]] k<'\"'>(wf_args...); })(x);"},
    {"TwoInOneStatement", "k<<<1, 2>>>(x), j<<<3, 4>>>(y);",
     launch("k", "1, 2", "(x)") + ", " + launch("j", "3, 4", "(y)") + ";"},
    {"InsideALambdaArgument", "run([&] { k<<<1, 2>>>(x); });",
     "run([&] { " + launch("k", "1, 2", "(x)") + "; });"},
    {"FromAHostDeviceFunction", "__wf_host__ __wf_device__ void f() { k<<<1, 2>>>(x); }",
     " " + device_function + " void f() { " + launch("k", "1, 2", "(x)") + "; }"},
    {"FromAHostFunctionAfterAKernel", "__wf_global__ void k() {} void f() { k<<<1, 2>>>(); }",
     device_function + " void k() {} void f() { " + launch("k", "1, 2", "()") + "; }"},
};
INSTANTIATE_TEST_SUITE_P(Launch, RewriteTest, testing::ValuesIn(launches), print);

const std::vector<Row> untouched = {
    {"Shifts", "int c = a << b; s << 1 << 2; d >>= e >> 3;", ""},
    {"ClosingBrackets", "A<B<C<int>>> a; f<A<B<C<1>>>>(x);", ""},
    {"Literal", "const char* s = \"k<<<1, 2>>>(x) __wf_shared__\"; char c = '\"';", ""},
    {"EscapedQuote", "f(\"\\\"<<<\", '\\'', k);", ""},
    {"RawLiteral", "auto s = R\"x(k<<<1, 2>>>(\")x\"; auto t = u8R\"(<<<)\";", ""},
    {"Comment", "/* k<<<1, 2>>>(x) */ // __wf_shared__ k<<<1, 2>>>(x)\nint a;", ""},
    {"DigitSeparator", "int a = 1'000'000; int b = 0x1p-3; char c = 'a';", ""},
    {"StreamOperator", "template <> S& operator<<<int>(S&, int);", ""},
    {"NullElsewhere", "f(__null); int* p = __null;", ""},
    {"Pragma", "#pragma unroll\nfor (;;) {}\n#pragma unroll 4\nwhile (x) {}", ""},
    {"AttributeOfTheLibrary", "__attribute__((__noinline__)) void f();", ""},
    {"AssemblerNameInASystemHeader",
     "# 1 \"/usr/include/stdio.h\" 1 3 4\nint scanf(const char*) __asm__(\"\" \"__isoc99_scanf\");",
     ""},
    {"CompilerBarrier", "# 1 \"a.cu\"\nasm volatile(\"\" ::: \"memory\");", ""},
};
class UntouchedTest : public testing::TestWithParam<Row> {};
TEST_P(UntouchedTest, StaysAsItIs) { EXPECT_EQ(rewrite_cuda(GetParam().input), GetParam().input); }
INSTANTIATE_TEST_SUITE_P(Text, UntouchedTest, testing::ValuesIn(untouched), print);

const std::string arena = "(::wf_simt::dynamic_shared())";
const std::vector<Row> shared = {
    {"Array", "void f() { __wf_shared__ float s[32]; }",
     "void f() { " + static_shared + " float s[32];" + record("s") + " }"},
    {"TwoDimensions", "__wf_shared__ T tile[N][N + 1], other[2];",
     static_shared + " T tile[N][N + 1], other[2];" + record("tile") + record("other")},
    {"Scalar", "__wf_shared__ int last;", static_shared + " int last;" + record("last")},
    {"TypeFirst", "volatile float __wf_shared__ s[4];",
     "volatile float " + static_shared + " s[4];" + record("s")},
    {"AlreadyStatic", "static __wf_shared__ float s[4];",
     static_shared + " float s[4];" + record("s")},
    {"AlignmentAttribute", "__wf_shared__ __attribute__((aligned(16))) float s[4];",
     static_shared + " __attribute__((aligned(16))) float s[4];" + record("s")},
    {"AlignasAfter", "__wf_shared__ alignas(16) float s[4];",
     "alignas(16) " + static_shared + "  float s[4];" + record("s")},
    {"AlignasBefore", "alignas(16) __wf_shared__ float s[4];",
     "alignas(16) " + static_shared + " float s[4];" + record("s")},
    {"TrailingAttribute", "__wf_shared__ float s __attribute__((aligned(16)));",
     static_shared + " float s __attribute__((aligned(16)));" + record("s")},
    {"Structure", "__wf_shared__ struct { float a; int b; } s;",
     static_shared + " struct { float a; int b; } s;" + record("s")},
    {"TemplateType", "__wf_shared__ typename R<T, 32>::Storage s;",
     static_shared + " typename R<T, 32>::Storage s;" + record("s")},
    {"Parameter", "void f(__wf_shared__ float* s);", "void f( float* s);"},
    {"Dynamic", "void f() { extern __wf_shared__ float s[]; }",
     "void f() { float (&s)[] = *reinterpret_cast<float (*)[]>" + arena + "; }"},
    {"DynamicAligned", "{ extern __wf_shared__ __attribute__((aligned(16))) unsigned char s[]; }",
     "{ unsigned char (&s)[] = *reinterpret_cast<unsigned char (*)[]>" + arena + "; }"},
    {"DynamicAlignas", "{ extern __wf_shared__ alignas(16) char s[]; }",
     "{ char (&s)[] = *reinterpret_cast<char (*)[]>" + arena + "; }"},
    {"DynamicVolatile", "{ extern volatile __wf_shared__ T s[]; }",
     "{ volatile T (&s)[] = *reinterpret_cast<volatile T (*)[]>" + arena + "; }"},
    {"DynamicKeywordFirst", "{ __wf_shared__ extern int s[]; }",
     "{ int (&s)[] = *reinterpret_cast<int (*)[]>" + arena + "; }"},
    {"DynamicRows", "{ extern __wf_shared__ float s[][32]; }",
     "{ float (&s)[][32] = *reinterpret_cast<float (*)[][32]>" + arena + "; }"},
    {"DynamicPointers", "{ extern __wf_shared__ float* s[]; }",
     "{ float *(&s)[] = *reinterpret_cast<float *(*)[]>" + arena + "; }"},
    {"DynamicTwo", "{ extern __wf_shared__ int a[], b[]; }",
     "{ int (&a)[] = *reinterpret_cast<int (*)[]>" + arena +
         ", (&b)[] = *reinterpret_cast<int (*)[]>" + arena + "; }"},
    {"DynamicTemplateType", "{ extern __wf_shared__ A<int, 3> s[]; }",
     "{ A<int, 3> (&s)[] = *reinterpret_cast<A<int, 3> (*)[]>" + arena + "; }"},
    {"DynamicTwiceAtNamespaceScope",
     "namespace a { extern __wf_shared__ float s[];\nextern __wf_shared__ float s[]; }",
     "namespace a { static float (&s)[] = *reinterpret_cast<float (*)[]>" + arena + ";\n; }"},
};
class SharedTest : public testing::TestWithParam<Row> {};
TEST_P(SharedTest, GivesTheExpectedText) {
  EXPECT_EQ(rewrite_cuda(GetParam().input), GetParam().expected + enters);
}
INSTANTIATE_TEST_SUITE_P(Rewrite, SharedTest, testing::ValuesIn(shared), print);

const std::vector<Row> bounds = {
    {"Bound", "__wf_global__ void __wf_launch_bounds__(128) k() { f(); }",
     device_function + " void  k() {" + entry("128") + " f(); }"},
    {"BoundAndBlocks", "__wf_global__ __wf_launch_bounds__(A<1, 2>::n, 4)\nvoid k() {}",
     device_function + " \nvoid k() {" + entry("A<1, 2>::n") + "}"},
    {"OfADeclaration", "__wf_global__ void __wf_launch_bounds__(9) k(); __wf_global__ void j() {}",
     device_function + " void  k(); " + device_function + " void j() {" + entry("0") + "}"},
    {"DeviceFunctionsDoNotEnter", "__wf_device__ void f() {} void __wf_launch_bounds__(2) g() {}",
     device_function + " void f() {} void  g() {}"},
};
INSTANTIATE_TEST_SUITE_P(Bounds, SharedTest, testing::ValuesIn(bounds), print);

const std::vector<Row> others = {
    {"Qualifiers", "extern \"C\" __wf_global__ void k(); __wf_device__ int d;",
     "extern \"C\" " + device_function + " void k();  int d;"},
    {"DeviceVariables", "__wf_device__ float t[2] = {f(1)}; __wf_device__ A<(1 > 2)> a;",
     " float t[2] = {f(1)};  A<(1 > 2)> a;"},
    {"DeviceFunctions", "__wf_host__ __wf_device__ A<f(1)> f(); __wf_device__ A operator[](int);",
     " " + device_function + " A<f(1)> f(); " + device_function + " A operator[](int);"},
    {"DeviceLambda", "auto f = [=] __wf_host__ __wf_device__ (int i) { return i; };",
     "auto f = [=]   (int i) { return i; };"},
    {"KernelAsVoidPointer",
     "cudaLaunchKernel((const void*)k<int>, g, b, (void**)a); cudaFuncGetAttributes(&x, "
     "reinterpret_cast<void*>(k)); f((void*)k);",
     "cudaLaunchKernel(k<int>, g, b, (void**)a); cudaFuncGetAttributes(&x, (k)); f((void*)k);"},
    {"Noinline", "__noinline__ int f();", "__attribute__((noinline)) int f();"},
    {"UnrollWithoutLoop", "#pragma unroll\nx = 1;", "\nx = 1;"},
};
INSTANTIATE_TEST_SUITE_P(Other, RewriteTest, testing::ValuesIn(others), print);

class RefusalTest : public testing::TestWithParam<Row> {};
TEST_P(RefusalTest, NamesPositionAndReason) {
  try {
    rewrite_cuda("# 10 \"k.cu\"\n\n" + GetParam().input);
    FAIL() << "not refused";
  } catch (const CompileError& error) {
    EXPECT_EQ(std::string(error.what()), "k.cu:11: error: " + GetParam().expected);
  }
}
const std::vector<Row> refusals = {
    {"Ptx", "asm volatile(\"bar.sync 0;\" ::: \"memory\");",
     "inline PTX (\"bar.sync 0;\") cannot run on the CPU device; give a C++ version under #ifdef "
     "WARPFUZZ_CPU"},
    {"Texture", "texture<float, 1> t;",
     "textures and surfaces (texture) are not supported on the CPU device; read through a pointer"},
    {"TextureObject", "__wf_global__ void k(cudaTextureObject_t t);",
     "textures and surfaces (cudaTextureObject_t) are not supported on the CPU device; read "
     "through "
     "a pointer"},
    {"Cluster", "__wf_global__ void __wf_cluster_dims__ k();",
     "thread block clusters are not supported on the CPU device"},
    {"LaunchFromKernel", "__wf_global__ void k() { if (a) { j<<<1, 2>>>(); } }",
     "a launch from device code (dynamic parallelism) is not supported"},
    {"LaunchFromDeviceMember", "struct A { __wf_device__ A() : a{1}, b{2} { j<<<1, 2>>>(); } };",
     "a launch from device code (dynamic parallelism) is not supported"},
    {"Initializer", "__wf_shared__ int s = 0;",
     "a __shared__ variable cannot have an initializer (nvcc refuses it too)"},
    {"InitializerInBraces", "__wf_shared__ int s[2]{};",
     "a __shared__ variable cannot have an initializer (nvcc refuses it too)"},
    {"NoKernel", "x = <<<1, 2>>>(y);", "no kernel before <<<"},
    {"NoEnd", "k<<<1, 2;", "<<< without >>> and arguments"},
    {"DynamicPointerToArray", "{ extern __wf_shared__ float (*s)[4]; }",
     "this form of extern __shared__ is not supported; write: extern __shared__ T name[];"},
};
INSTANTIATE_TEST_SUITE_P(Refusal, RefusalTest, testing::ValuesIn(refusals), print);

// By the same tokens.
TEST(SourceConstants, AreTheIntegersOfTheCodeAndItsMacros) {
  EXPECT_EQ(integer_constants("#include <k12.h>\n#define TILE 32\n// 77\nint a = 0x40u + 1'000;"
                              "float f = 2.5f, g = 1e9; if (n == 5120ULL || n < 2) x[TILE][32];"),
            (std::vector<int64_t>{32, 64, 1000, 5120}));
  EXPECT_EQ(integer_constants("99999999999999999999 0x 5000000000 \"7"), std::vector<int64_t>{});
}

struct SplitRow {
  std::string name;
  std::string input, prelude, rest;
};
class SplitTest : public testing::TestWithParam<SplitRow> {};
TEST_P(SplitTest, GivesTheExpectedParts) {
  const std::vector<std::string> headers = {"/cuda/"};
  const SplitSource split = split_prelude(GetParam().input, headers);
  EXPECT_EQ(split.prelude, GetParam().prelude);
  EXPECT_EQ(split.rest, GetParam().rest);
}

const std::string built_in =
    "# 1 \"<built-in>\" 1\n# 1 \"/cuda/p.h\" 1\nint p;\n# 2 \"<built-in>\" 2\n";
const std::string back = "# 1 \"<prelude>\" 2\n";
const std::vector<SplitRow> splits = {
    {"Nothing", "", "", ""},
    {"NoIncludes", "# 1 \"k.cu\"\nint k;\n", "", "# 1 \"k.cu\"\nint k;\n"},
    {"OnlyWhatTheCompilerIncludes", "# 1 \"k.cu\"\n" + built_in + "# 1 \"k.cu\" 2\n\nint k;\n",
     "# 1 \"<prelude>\"\n" + built_in + back, "# 1 \"k.cu\"\n\nint k;\n"},
    {"AfterAComment",
     "# 1 \"k.cu\"\n" + built_in +
         "# 1 \"k.cu\" 2\n\n# 1 \"/cuda/a.h\" 1\nint a;\n# 4 \"k.cu\" 2\nint k;\n",
     "# 1 \"<prelude>\"\n" + built_in + back + "# 1 \"/cuda/a.h\" 1\nint a;\n" + back,
     "# 4 \"k.cu\"\nint k;\n"},
    {"SystemHeader", "# 1 \"/usr/s.h\" 1 3 4\nint s;\n# 2 \"k.cu\" 2\nint k;\n",
     "# 1 \"<prelude>\"\n# 1 \"/usr/s.h\" 1 3 4\nint s;\n" + back, "# 2 \"k.cu\"\nint k;\n"},
    {"NestedInclude",
     "# 1 \"/cuda/a.h\" 1\n# 1 \"x.h\" 1\nint x;\n# 2 \"/cuda/a.h\" 2\n# 2 \"k.cu\" 2\nint k;\n",
     "# 1 \"<prelude>\"\n# 1 \"/cuda/a.h\" 1\n# 1 \"x.h\" 1\nint x;\n# 2 \"/cuda/a.h\" 2\n" + back,
     "# 2 \"k.cu\"\nint k;\n"},
    {"KernelsOwnHeader",
     "# 1 \"/cuda/a.h\" 1\nint a;\n# 2 \"k.cu\" 2\n# 1 \"own.h\" 1\nint o;\n# 3 \"k.cu\" 2\n",
     "# 1 \"<prelude>\"\n# 1 \"/cuda/a.h\" 1\nint a;\n" + back,
     "# 2 \"k.cu\"\n# 1 \"own.h\" 1\nint o;\n# 3 \"k.cu\" 2\n"},
    {"PragmaBeforeAnInclude", "#pragma pack(1)\n# 1 \"/cuda/a.h\" 1\nint a;\n# 3 \"k.cu\" 2\n", "",
     "#pragma pack(1)\n# 1 \"/cuda/a.h\" 1\nint a;\n# 3 \"k.cu\" 2\n"},
    {"CutShort", "# 1 \"/cuda/a.h\" 1\nint a", "", "# 1 \"/cuda/a.h\" 1\nint a"},
};
INSTANTIATE_TEST_SUITE_P(Prelude, SplitTest, testing::ValuesIn(splits),
                         [](const auto& row) { return row.param.name; });

TEST(RewriteLinesTest, KeepsTheNumberOfLines) {
  const std::string input =
      "# 1 \"k.cu\"\nextern\n__wf_shared__\nfloat\ns[\n];\nk\n<\nint\n>\n<<<\n1,\n2>>>(\nx)\n;\n";
  const std::string output = rewrite_cuda(input);
  EXPECT_EQ(std::count(output.begin(), output.end(), '\n'),
            std::count(input.begin(), input.end(), '\n'));
}

}  // namespace
}  // namespace warpfuzz
