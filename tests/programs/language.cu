// What CUDA adds to C++: memory spaces, function and variable qualifiers, launches of every form.
#include "check.h"

__constant__ float table[4];
__constant__ int initialized = 7;
__device__ int counter;
__device__ float device_table[3] = {1.5f, 2.5f, 3.5f};
__device__ const int device_constant = 11;
__managed__ int managed_value = 5;

struct Parameters {
  const float* in;
  float* out;
  int n;
  float scale[3];
};
__global__ void by_value(const Parameters p) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < p.n) p.out[i] = p.in[i] * p.scale[i % 3] + table[i % 4] + device_table[i % 3];
  if (i == 0) counter = p.n + initialized + device_constant + managed_value;
}
void test_memory_spaces() {
  const float constants[4] = {1, 2, 3, 4};
  CHECK_CUDA(cudaMemcpyToSymbol(table, constants, sizeof constants));
  const float three = 30;
  CHECK_CUDA(cudaMemcpyToSymbol(table, &three, sizeof three, 2 * sizeof(float)));
  const std::vector<float> in = Numbers(1).vector(100);
  const Buffer<float> device_in(in), out(in.size());
  managed_value = 6;
  const Parameters parameters = {device_in, out, 100, {1, 10, 100}};
  by_value<<<4, 32>>>(parameters);
  CHECK_CUDA(cudaDeviceSynchronize());
  const std::vector<float> result = out.host();
  for (int i = 0; i < 100; ++i) {
    const float constant = i % 4 == 2 ? 30.0f : float(i % 4 + 1);
    CHECK(std::fabs(result[i] - (in[i] * parameters.scale[i % 3] + constant + i % 3 + 1.5f)) <
          1e-4f);
  }
  int count = 0;
  CHECK_CUDA(cudaMemcpyFromSymbol(&count, counter, sizeof count));
  CHECK(count == 100 + 7 + 11 + 6);
  void* address = nullptr;
  size_t bytes = 0;
  CHECK_CUDA(cudaGetSymbolAddress(&address, device_table));
  CHECK_CUDA(cudaGetSymbolSize(&bytes, device_table));
  float first = 0;
  CHECK_CUDA(cudaMemcpy(&first, address, sizeof first, cudaMemcpyDeviceToHost));
  CHECK(first == 1.5f && bytes == 12);
}

// Shared arrays of one name in two kernels and in instances of a template are different arrays.
template <class T, int N>
__global__ void reverse(T* data) {
  __shared__ T tile[N];
  tile[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = tile[N - 1 - threadIdx.x];
}
__global__ void transpose(int* data) {
  __shared__ int tile[16][17], rows;
  if (threadIdx.x == 0 && threadIdx.y == 0) rows = 16;
  tile[threadIdx.y][threadIdx.x] = data[threadIdx.y * 16 + threadIdx.x];
  __syncthreads();
  data[threadIdx.y * rows + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
__device__ int sum_over_block(int value) {
  __shared__ int tile[64];
  tile[threadIdx.x] = value;
  __syncthreads();
  int sum = 0;
  for (unsigned i = 0; i < blockDim.x; ++i) sum += tile[i];
  __syncthreads();
  return sum;
}
__global__ void dynamic_parts(int* data, int n) {
  extern __shared__ __align__(16) unsigned char memory[];
  int* integers = reinterpret_cast<int*>(memory);
  double* numbers = reinterpret_cast<double*>(integers + n);
  volatile __shared__ int total;
  integers[threadIdx.x] = data[threadIdx.x];
  numbers[threadIdx.x] = 0.5 * data[threadIdx.x];
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  const int sum = sum_over_block(1);
  data[threadIdx.x] = integers[n - 1 - threadIdx.x] + int(2 * numbers[threadIdx.x]) + sum + total;
}
void test_shared_memory() {
  std::vector<int> in(256);
  for (int i = 0; i < 256; ++i) in[i] = i * i;
  const Buffer<int> a(in), b(in), c(in), d(in);
  reverse<int, 32><<<1, 32>>>(a);
  reverse<int, 128><<<1, 128>>>(b);
  transpose<<<1, dim3(16, 16)>>>(c);
  dynamic_parts<<<1, 64, 64 * (sizeof(int) + sizeof(double))>>>(d, 64);
  const std::vector<int> ra = a.host(), rb = b.host(), rc = c.host(), rd = d.host();
  for (int i = 0; i < 32; ++i) CHECK(ra[i] == in[31 - i]);
  for (int i = 0; i < 128; ++i) CHECK(rb[i] == in[127 - i]);
  for (int i = 0; i < 256; ++i) CHECK(rc[i] == in[i % 16 * 16 + i / 16]);
  for (int i = 0; i < 64; ++i) CHECK(rd[i] == in[63 - i] + in[i] + 64);
}

using Operation = float (*)(float, float);
__device__ float add(float a, float b) { return a + b; }
__device__ __noinline__ float multiply(float a, float b) { return a * b; }
__device__ Operation operations[2] = {add, multiply};
struct Shape {
  __device__ virtual float area() const = 0;
};
struct Square : Shape {
  float side;
  __device__ explicit Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
};
__device__ int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
template <class Function>
__global__ void for_all(int n, Function function) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    function(i);
}
__global__ void functions(float* out) {
  const Square square(3);
  const Shape& shape = square;
  const auto local = [&](float x) { return x + out[0]; };
  out[1] = operations[0](2, 3);
  out[2] = operations[1](2, 3);
  out[3] = shape.area();
  out[4] = float(factorial(6));
  out[5] = local(1);
}
void test_functions() {
  const Buffer<float> out(std::vector<float>(6, 10.0f));
  functions<<<1, 1>>>(out);
  const std::vector<float> result = out.host();
  const float expected[6] = {10, 5, 6, 9, 720, 11};
  for (int i = 0; i < 6; ++i) CHECK(result[i] == expected[i]);
  const Buffer<int> squares(1000);
  int* data = squares;
  const int factor = 3;
  for_all<<<2, 64>>>(1000, [=] __device__(int i) { data[i] = factor * i * i; });
  const std::vector<int> found = squares.host();
  for (int i = 0; i < 1000; ++i) CHECK(found[i] == 3 * i * i);
}

__global__ void positions(int* out) {
  const int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  out[block * (blockDim.x * blockDim.y * blockDim.z) + thread] = block * 1000 + thread;
}
__global__ void two_arguments(int* out, int value) { out[blockIdx.x] = value; }
__global__ void __launch_bounds__(64, 2) bounded(int* out) { out[threadIdx.x] = threadIdx.x; }
template <int Threads>
__global__ void __launch_bounds__(Threads > 32 ? Threads : 32) bounded_by_template(int* out) {
  out[threadIdx.x] = Threads;
}
namespace kernels {
struct Table {
  void (*two)(int*, int);
};
}  // namespace kernels
void test_launches() {
  const Buffer<int> out(3 * 4 * 2 * 5 * 2 * 3);
  positions<<<dim3(3, 4, 2), dim3(5, 2, 3)>>>(out);
  std::vector<int> result = out.host();
  for (int i = 0; i < 720; ++i) CHECK(result[i] == i / 30 * 1000 + i % 30);

  const kernels::Table table_of_kernels = {two_arguments};
  table_of_kernels.two<<<2, 1>>>(out, 5);
  int* pointer = out;
  int value = 6;
  void* arguments[] = {&pointer, &value};
  CHECK_CUDA(cudaLaunchKernel((const void*)two_arguments, dim3(1), dim3(1), arguments, 0, nullptr));
  result = out.host();
  CHECK(result[0] == 6 && result[1] == 5 && result[2] == 2);
  CHECK_CUDA(cudaLaunchKernel(two_arguments, dim3(2), dim3(1), arguments, 0, nullptr));
  CHECK(out.host()[1] == 6);

  bounded<<<1, 64>>>(out);
  CHECK_CUDA(cudaGetLastError());
  CHECK(out.host()[63] == 63);
  bounded<<<1, 65>>>(out);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  bounded_by_template<16><<<1, 32>>>(out);
  CHECK_CUDA(cudaGetLastError());
  bounded_by_template<16><<<1, 33>>>(out);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  CHECK(out.host()[0] == 16 && out.host()[33] == 33);
  cudaFuncAttributes attributes;
  CHECK_CUDA(cudaFuncGetAttributes(&attributes, bounded));
  CHECK(attributes.maxThreadsPerBlock == 64);
  CHECK_CUDA(cudaFuncGetAttributes(&attributes, (const void*)transpose));
  CHECK(attributes.sharedSizeBytes >= 16 * 17 * 4 && attributes.maxThreadsPerBlock == 1024);
}

int main() {
  test_memory_spaces();
  test_shared_memory();
  test_functions();
  test_launches();
  std::printf("language: %d failed\n", failed_checks);
  return failed_checks;
}
