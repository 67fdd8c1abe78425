#include "kernels/compile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>

namespace warpfuzz {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* valid_kernel = R"(#include "values.h"
#include "warpfuzz_kernel.hpp"
__global__ void fill(float* y, int n) {
  __shared__ float s[threads];
  s[threadIdx.x] = 1.0f;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = s[threadIdx.x];
}
WARPFUZZ_KERNEL("") {
  const auto y = call.output(0);
  fill<<<wf::blocks(y.size(), threads), threads, 0, call.stream()>>>(y.data<float>(),
                                                                     static_cast<int>(y.size()));
  return call.launched();
}
)";

class CompileTest : public testing::Test {
 protected:
  CompileTest() {
    request_.cache_directory = root_ / "cache";
    request_.include_directory = fs::path(WARPFUZZ_SOURCE_DIR) / "kernels/simt/include";
    request_.kernel_directory = fs::path(WARPFUZZ_SOURCE_DIR) / "kernels";
    fs::create_directories(root_);
    write("values.h", "constexpr int threads = 64;\n");
    request_.source = write("kernel.cu", valid_kernel);
  }
  ~CompileTest() override { fs::remove_all(root_); }

  fs::path write(const std::string& name, const std::string& content) const {
    std::ofstream(root_ / name) << content;
    return root_ / name;
  }
  // The message of the CompileError for a source, without the directory in file names.
  std::string error_of(const std::string& name, const std::string& content) {
    request_.source = write(name, content);
    try {
      compile_for_cpu(request_);
    } catch (const CompileError& error) {
      std::string message = error.what();
      const std::string directory = root_.string() + "/";
      for (size_t at; (at = message.find(directory)) != std::string::npos;) {
        message.erase(at, directory.size());
      }
      return message;
    }
    return "compiled";
  }
  size_t cached(const std::string& extension) const {
    const fs::recursive_directory_iterator files(request_.cache_directory), end;
    return static_cast<size_t>(std::count_if(
        files, end, [&](const auto& file) { return file.path().extension() == extension; }));
  }

  const fs::path root_ =
      fs::temp_directory_path() / ("warpfuzz_compile_test." + std::to_string(::getpid()));
  CompileRequest request_;
};

TEST_F(CompileTest, SecondCallTakesTheCachedObject) {
  const fs::path first = compile_for_cpu(request_);
  EXPECT_EQ(first.parent_path(), request_.cache_directory);
  EXPECT_EQ(first.extension(), ".so");
  const auto written = fs::last_write_time(first);
  EXPECT_EQ(compile_for_cpu(request_), first);
  EXPECT_EQ(fs::last_write_time(first), written);
  EXPECT_EQ(cached(".so"), 1u);
}

TEST_F(CompileTest, AChangedHeaderMisses) {
  const fs::path first = compile_for_cpu(request_);
  write("values.h", "constexpr int threads = 128;\n");
  EXPECT_NE(compile_for_cpu(request_), first);
  EXPECT_EQ(cached(".so"), 2u);
  EXPECT_EQ(cached(".pch"), 1u) << "it is the kernel's own header, not one that kernels share";
}

TEST_F(CompileTest, KernelsShareAPreludeWhateverTheirPositions) {
  const auto compile = [&](const std::string& name, const std::string& content) {
    request_.source = write(name, content);
    return compile_for_cpu(request_);
  };
  compile("one.cu", "#include \"warpfuzz_kernel.hpp\"\nvoid f() {}\n");
  compile("two.cu",
          "// A comment.\n\n#include \"warpfuzz_kernel.hpp\"\n\n__global__ void k() {}\n");
  EXPECT_EQ(cached(".pch"), 1u);
  compile("three.cu", "__global__ void k() {}\n");
  EXPECT_EQ(cached(".pch"), 2u);
  compile("four.cu", "#define N 3\n#include \"warpfuzz_kernel.hpp\"\n");
  EXPECT_EQ(cached(".pch"), 2u) << "what stands before an include may change what it gives";
}

TEST_F(CompileTest, APreludeThatWasRemovedInPartIsMadeAgain) {
  compile_for_cpu(request_);
  for (const std::string extension : {".pch", ".ii"}) {
    for (const auto& file : fs::directory_iterator(request_.cache_directory / "preludes")) {
      if (file.path().extension() == extension) fs::remove(file);
    }
    EXPECT_EQ(error_of("after" + extension + ".cu", valid_kernel + ("// no " + extension)),
              "compiled");
    EXPECT_EQ(cached(extension), 1u);
  }
}

TEST_F(CompileTest, ChangedFlagsMiss) {
  request_.instrumentation = {.coverage = false, .address = false, .undefined = false};
  const fs::path plain = compile_for_cpu(request_);
  request_.instrumentation.coverage = true;
  const fs::path covered = compile_for_cpu(request_);
  EXPECT_NE(covered, plain);
  request_.extra_flags = {"-DEXTRA"};
  EXPECT_EQ(compile_for_cpu(request_), covered) << "a macro that nobody reads changes nothing";
}

TEST_F(CompileTest, CompilersMessageNamesTheUsersLine) {
  EXPECT_THAT(error_of("broken.cu",
                       "__global__ void k(float* y) {\n  extern __shared__ float s[];\n"
                       "  y[0] = s[0] + oops;\n}\n"),
              StartsWith("broken.cu:3:17: error: use of undeclared identifier 'oops'\n"));
  EXPECT_THAT(error_of("prelude.cu",
                       "// The first include is in line 2.\n#include \"warpfuzz_kernel.hpp\"\n\n"
                       "__global__ void k(float* y) {\n  y[0] = oops;\n}\n"),
              StartsWith("prelude.cu:5:10: error: use of undeclared identifier 'oops'\n"));
  EXPECT_THAT(error_of("instance.cu",
                       "#include \"warpfuzz_kernel.hpp\"\n"
                       "float f(wf::View<float, 2> v) { return v(1); }\n"),
              testing::AllOf(HasSubstr("warpfuzz_kernel.hpp:"), HasSubstr("one index per axis"),
                             HasSubstr("instance.cu:2:")));
  EXPECT_THAT(error_of("header.cu", "#include \"missing.h\"\n"),
              StartsWith("header.cu:1:10: fatal error: 'missing.h' file not found\n"));
  EXPECT_THAT(
      error_of("types.cu",
               "__global__ void k(int* p) {}\nvoid f(float* p) {\n\n  k<<<1, 1>>>(p);\n}\n"),
      HasSubstr("types.cu:4:"));
  EXPECT_EQ(cached(".so"), 0u);
  EXPECT_EQ(cached(".ii"), cached(".pch")) << "nothing temporary stays behind";
}

TEST_F(CompileTest, RefusalNamesTheUsersLine) {
  EXPECT_EQ(error_of("ptx.cu",
                     "#define WAIT asm volatile(\"cp.async.wait_all;\")\n__global__ void k() {\n"
                     "  WAIT;\n}\n"),
            "ptx.cu:3: error: inline PTX (\"cp.async.wait_all;\") cannot run on the CPU device; "
            "give a C++ version under #ifdef WARPFUZZ_CPU");
}

// Two kernels of 40 KiB each are fine; what counts is what one kernel reaches.
TEST_F(CompileTest, StaticSharedMemoryIsCountedPerKernel) {
  const auto source = [](const std::string& body) {
    return "template <int N> __device__ float helper(int i) {\n"
           "  __shared__ float part[N];\n  part[i] = 1;\n  return part[N - 1];\n}\n"
           "__global__ void other(float* y) {\n"
           "  __shared__ float tile[10240];\n  tile[threadIdx.x] = y[0];\n  y[1] = tile[0];\n}\n"
           "template <class T> __global__ void k(T* y) {\n"
           "  __shared__ T tile[10240];\n  tile[threadIdx.x] = y[0];\n" +
           body + "}\nvoid f(float* y) {\n  k<float><<<1, 1>>>(y);\n  other<<<1, 1>>>(y);\n}\n";
  };
  EXPECT_EQ(error_of("fits.cu", source("  y[1] = tile[0] + helper<2048>(1);\n")), "compiled");
  EXPECT_EQ(error_of("large.cu", source("  y[1] = tile[0] + helper<2049>(1);\n")),
            "large.cu:11: error: void k(T *) [T = float] has 49156 bytes of static shared memory, "
            "tile (40960 bytes) + part (8196 bytes); a kernel may have 49152 (use dynamic shared "
            "memory and cudaFuncSetAttribute for more)\n");
}

TEST_F(CompileTest, RefusedHeadersSayWhatToDo) {
  EXPECT_THAT(error_of("ptx.cu", "\n#include <cuda/ptx>\n"),
              AllOf(HasSubstr("ptx.cu:2:"),
                    HasSubstr("error: \"cuda::ptx is not supported on the CPU device; give a C++ "
                              "version under #ifdef WARPFUZZ_CPU\"")));
}

TEST_F(CompileTest, MissingSource) {
  request_.source = root_ / "none.cu";
  try {
    compile_for_cpu(request_);
    FAIL();
  } catch (const CompileError& error) {
    EXPECT_EQ(std::string(error.what()),
              request_.source.string() + ": error: no such kernel source");
  }
}

TEST_F(CompileTest, MissingCompiler) {
  request_.compiler = "warpfuzz-no-such-compiler";
  try {
    compile_for_cpu(request_);
    FAIL();
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::no_such_file_or_directory);
    EXPECT_THAT(error.what(), StartsWith("cannot run warpfuzz-no-such-compiler"));
  }
}

TEST_F(CompileTest, HangingCompilerIsStopped) {
  const fs::path compiler = write("hang", "#!/bin/sh\nsleep 30 & wait\n");
  fs::permissions(compiler, fs::perms::owner_all);
  request_.compiler = compiler;
  request_.time_limit = std::chrono::milliseconds(100);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(error_of("kernel.cu", valid_kernel),
            "kernel.cu: error: the compiler did not finish within 100 ms");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST_F(CompileTest, UnwritableCache) {
  request_.cache_directory = write("file", "") / "cache";
  EXPECT_THROW(compile_for_cpu(request_), std::system_error);
}

TEST_F(CompileTest, TwoThreadsShareACache) {
  fs::path other;
  std::thread thread([&] { other = compile_for_cpu(request_); });
  const fs::path mine = compile_for_cpu(request_);
  thread.join();
  EXPECT_EQ(mine, other);
  EXPECT_EQ(cached(".so"), 1u);
  EXPECT_EQ(cached(".pch"), 1u);
  EXPECT_EQ(cached(".ii"), 1u) << "the prelude's source and nothing temporary";
}

// What kernels write and plain C++17 has not.
TEST_F(CompileTest, AcceptsTheLanguageOfKernels) {
  EXPECT_EQ(error_of("language.cu", R"(
#if !defined(__CUDACC__) || !defined(__NVCC__) || __CUDA_ARCH__ != 900 || CUDART_VERSION < 12000
#error "macros of nvcc"
#endif
#ifndef __global__
#error "qualifiers are macros"
#endif
extern __shared__ __align__(16) unsigned char arena[];
__constant__ float weights[4] = {1, 2, 3, 4};
__device__ __managed__ int counter;
struct __align__(8) Pair { float a, b; };
template <class T, int N> struct Tile { T v[N]; };
template <class F> __global__ void __launch_bounds__(256, 2) apply(F f, int n) {
  const int i = threadIdx.x;
  if (i < n) f(i);
}
namespace ns {
template <class T, int N = 4>
static __global__ void k(const T* __restrict__ x, T* y, const __grid_constant__ Pair p = {}) {
  __shared__ alignas(16) T tile[N][N + 1], row[N];
  __shared__ Tile<Pair, N> pairs;
  __shared__ union { float f; int i; } both;
  extern __shared__ T dynamic[];
  T* typed = reinterpret_cast<T*>(arena);
#pragma unroll
  for (int i = 0; i < N; ++i) tile[i][0] = x[i];
#pragma unroll
  typed[0] = dynamic[0];
  if (threadIdx.x == 0) both.i = __float_as_int(weights[0]);
  __syncthreads();
  y[0] = tile[0][0] + row[1] + pairs.v[0].a + both.f;
}
}  // namespace ns
__noinline__ __device__ int slow(int a) { return a; }
__host__ __device__ __forceinline__ int both(int a) {
#ifdef __CUDA_ARCH__
  return __popc(a);
#else
  return a;
#endif
}
#define LAUNCH(kernel, ...) kernel<<<dim3(1), dim3(32), 0, NULL>>>(__VA_ARGS__)
void f(float* x, unsigned n) {
  LAUNCH((ns::k<float, 8>), x, x, Pair{1, 2});
  ns::k<float><<<(n + 31) / 32, {32, 1, 1}>>>(x, NULL, Pair());
  void (*pointer)(const float*, float*, Pair) = ns::k<float, 2>;
  pointer<<<1, 32, sizeof(Tile<Tile<float, 4>, 4>)>>>(x, x, Pair());
  apply<<<1, 32>>>([=] __device__(int i) { x[i] = both(i) << 1 >> slow(1); }, 3);
  const int blocks = static_cast<int>(n);
  dim3 grid{blocks};
  auto bound = [&](auto kernel) { kernel<<<grid, 32>>>(x, x, Pair()); };
  bound(ns::k<float, 3>);
}
)"),
            "compiled");
}

}  // namespace
}  // namespace warpfuzz
