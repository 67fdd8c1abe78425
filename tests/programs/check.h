// What the programs of this folder have in common. They are plain CUDA programs, which also compile
// with nvcc: main() compares what kernels computed with plain C++, prints what differs and returns
// the number of failed checks.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

inline int failed_checks = 0;

#define CHECK(condition)                                                  \
  do {                                                                    \
    if (!(condition)) {                                                   \
      std::printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      ++failed_checks;                                                    \
    }                                                                     \
  } while (false)
#define CHECK_CUDA(call)                                        \
  do {                                                          \
    const cudaError_t error_of_call = (call);                   \
    if (error_of_call != cudaSuccess) {                         \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, \
                  cudaGetErrorString(error_of_call));           \
      ++failed_checks;                                          \
    }                                                           \
  } while (false)

// The same numbers on every machine, in [-1, 1).
class Numbers {
 public:
  explicit Numbers(unsigned seed) : state_(seed) {}
  float next() {
    state_ = state_ * 1664525u + 1013904223u;
    return static_cast<float>(state_ >> 8) * 0x1p-23f - 1.0f;
  }
  std::vector<float> vector(size_t count, float scale = 1.0f) {
    std::vector<float> values(count);
    for (float& value : values) value = scale * next();
    return values;
  }

 private:
  unsigned state_;
};

// Device memory with the contents of a vector, and back.
template <class T>
class Buffer {
 public:
  explicit Buffer(size_t count) : count_(count) {
    CHECK_CUDA(cudaMalloc(&data_, count * sizeof(T)));
  }
  explicit Buffer(const std::vector<T>& values) : Buffer(values.size()) {
    CHECK_CUDA(cudaMemcpy(data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~Buffer() { cudaFree(data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  operator T*() const { return data_; }
  std::vector<T> host() const {
    std::vector<T> values(count_);
    CHECK_CUDA(cudaMemcpy(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  T* data_ = nullptr;
  size_t count_;
};

// Every element within `tolerance` of the expected one, relative to the larger of it and `scale`.
inline bool close_to(const std::vector<float>& found, const std::vector<double>& expected,
                     double tolerance, double scale = 1.0) {
  if (found.size() != expected.size()) return false;
  for (size_t i = 0; i < found.size(); ++i) {
    const double bound = tolerance * std::fmax(scale, std::fabs(expected[i]));
    if (!(std::fabs(found[i] - expected[i]) <= bound)) {
      std::printf("element %zu: %.9g, expected %.9g\n", i, static_cast<double>(found[i]),
                  expected[i]);
      return false;
    }
  }
  return true;
}
