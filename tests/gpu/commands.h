// The subcommands of gpu_check. Each prints one line of "name key=value ..." per result and returns
// an exit code: 0 as expected, 1 not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpfuzz::gpu {

struct Arguments {
  std::string op = "softmax";
  std::string kernel;  // a kernel object for CUDA
  std::string other;   // compare: for the CPU device; bench: not instrumented
  std::string name;    // printed
  std::vector<std::string> expect = {"clean"};  // or the gates that may name the first violation
  std::vector<int64_t> constants;               // search: whole numbers of the kernel's source
  uint64_t cases = 2000;
  double seconds = 10;
  uint32_t seed = 1;
  int tier = 2;
  int size_class = 2;
  size_t workers = 1;
  size_t threads = 1;  // of each process, for values and expectations
  bool device_coverage = true;
  bool mps = true;
  std::string work = "/tmp/wf-mps";
};

struct BuildArguments {
  std::string source, object;
  std::string kernels;  // the directory of warpfuzz_kernel.h
  std::string architecture = "sm_90";
  bool coverage = true;
  bool predicates = true;
  bool for_cpu = false;
};

int check(const Arguments& arguments);           // random cases through the whole judgement
int bench(const Arguments& arguments);           // our loop against the bare loop
int bench_coverage(const Arguments& arguments);  // what the counters cost, small and large
int workers(const Arguments& arguments);         // N processes at once, with and without MPS
int clean(const Arguments& arguments);           // N processes: a correct kernel stays clean
int compare(const Arguments& arguments);         // the same cases on both devices, bit for bit
int search(const Arguments& arguments);          // libFuzzer, with or without device coverage
int build(const BuildArguments& arguments);      // a kernel object, with nvcc or for the CPU device

}  // namespace warpfuzz::gpu
