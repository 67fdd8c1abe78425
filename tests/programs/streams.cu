// Work on several streams, ordered in every way that CUDA has: by a stream, by events, by the
// default stream, by the host.
#include "check.h"

constexpr int count = 256;

__global__ void set(int* data, int value) { data[threadIdx.x] = value + int(threadIdx.x); }
__global__ void add(const int* from, int* to) { to[threadIdx.x] += from[threadIdx.x]; }
__global__ void twice(int* data) { data[threadIdx.x] *= 2; }

struct Stream {
  cudaStream_t stream = nullptr;
  explicit Stream(unsigned flags = cudaStreamDefault) {
    CHECK_CUDA(cudaStreamCreateWithFlags(&stream, flags));
  }
  ~Stream() { CHECK_CUDA(cudaStreamDestroy(stream)); }
  operator cudaStream_t() const { return stream; }
};
struct Event {
  cudaEvent_t event = nullptr;
  Event() { CHECK_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming)); }
  ~Event() { CHECK_CUDA(cudaEventDestroy(event)); }
  operator cudaEvent_t() const { return event; }
};
struct Pinned {
  int* data = nullptr;
  explicit Pinned(int elements = count) {
    CHECK_CUDA(cudaMallocHost(&data, elements * sizeof(int)));
  }
  ~Pinned() { CHECK_CUDA(cudaFreeHost(data)); }
  operator int*() const { return data; }
};

bool holds(const int* data, int factor, int value) {
  for (int i = 0; i < count; ++i) {
    if (data[i] != factor * (value + i)) return false;
  }
  return true;
}

// Two streams take turns with the parts of an array: copied in, doubled, copied out.
void test_overlap() {
  constexpr int parts = 6, bytes = count * sizeof(int);
  const Pinned host(parts * count);
  for (int i = 0; i < parts * count; ++i) host[i] = i;
  const Buffer<int> data(parts * count);
  {
    const Stream streams[2] = {Stream(cudaStreamNonBlocking), Stream(cudaStreamNonBlocking)};
    for (int part = 0; part < parts; ++part) {
      const cudaStream_t stream = streams[part % 2];
      int* const there = data + part * count;
      CHECK_CUDA(
          cudaMemcpyAsync(there, host + part * count, bytes, cudaMemcpyHostToDevice, stream));
      twice<<<1, count, 0, stream>>>(there);
      CHECK_CUDA(
          cudaMemcpyAsync(host + part * count, there, bytes, cudaMemcpyDeviceToHost, stream));
    }
    for (const Stream& stream : streams) CHECK_CUDA(cudaStreamSynchronize(stream));
  }
  for (int i = 0; i < parts * count; ++i) CHECK(host[i] == 2 * i);
}

// A diamond: one before two before one.
void test_events() {
  const Stream first(cudaStreamNonBlocking), second(cudaStreamNonBlocking);
  const Event begun, done;
  const Buffer<int> a(count), b(count), c(count);
  const Pinned result;
  set<<<1, count, 0, first>>>(a, 1);
  CHECK_CUDA(cudaEventRecord(begun, first));
  CHECK_CUDA(cudaStreamWaitEvent(second, begun, 0));
  CHECK_CUDA(cudaMemcpyAsync(b, a, count * sizeof(int), cudaMemcpyDeviceToDevice, second));
  twice<<<1, count, 0, second>>>(b);
  CHECK_CUDA(cudaEventRecord(done, second));
  CHECK_CUDA(cudaMemcpyAsync(c, a, count * sizeof(int), cudaMemcpyDeviceToDevice, first));
  CHECK_CUDA(cudaStreamWaitEvent(first, done, 0));
  add<<<1, count, 0, first>>>(b, c);
  CHECK_CUDA(cudaMemcpyAsync(result, c, count * sizeof(int), cudaMemcpyDeviceToHost, first));
  CHECK_CUDA(cudaEventRecord(done, first));
  CHECK_CUDA(cudaEventSynchronize(done));
  CHECK(holds(result, 3, 1));
}

// The default stream waits for the others, and they for it, unless they were made not to.
void test_default_stream() {
  const Stream blocking;
  const Buffer<int> a(count), b(std::vector<int>(count, 0));
  set<<<1, count, 0, blocking>>>(a, 5);
  add<<<1, count>>>(a, b);
  twice<<<1, count, 0, blocking>>>(b);
  std::vector<int> found(count);
  CHECK_CUDA(cudaMemcpy(found.data(), b, count * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(holds(found.data(), 2, 5));

  const Stream apart(cudaStreamNonBlocking);
  set<<<1, count, 0, apart>>>(a, 7);
  CHECK_CUDA(cudaMemset(b, 0, count * sizeof(int)));
  CHECK_CUDA(cudaDeviceSynchronize());
  add<<<1, count, 0, apart>>>(a, b);
  CHECK_CUDA(cudaStreamSynchronize(apart));
  CHECK_CUDA(cudaMemcpy(found.data(), b, count * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(holds(found.data(), 1, 7));
}

// Memory that the host and kernels share, in turns; a function that a stream calls.
__managed__ int managed[count];
void test_host() {
  const Stream stream(cudaStreamNonBlocking);
  int* shared = nullptr;
  CHECK_CUDA(cudaMallocManaged(&shared, count * sizeof(int)));
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < count; ++i) shared[i] = managed[i] = round + i;
    twice<<<1, count, 0, stream>>>(shared);
    add<<<1, count, 0, stream>>>(shared, managed);
    CHECK_CUDA(
        cudaLaunchHostFunc(stream, [](void* data) { static_cast<int*>(data)[0] += 1000; }, shared));
    CHECK_CUDA(cudaStreamSynchronize(stream));
    CHECK(holds(managed, 3, round) && shared[0] == 2 * round + 1000);
  }
  CHECK_CUDA(cudaFree(shared));
}

int main() {
  test_overlap();
  test_events();
  test_default_stream();
  test_host();
  std::printf("streams: %d failed\n", failed_checks);
  return failed_checks;
}
