// Programs that rely on an order of streams that nothing makes and, by the second argument, their
// correct twins: as in faults.cu,
//
//   stream_faults NAME faulty|correct
#include "check.h"

constexpr int count = 128;
constexpr size_t bytes = count * sizeof(int);

__global__ void set(int* data) { data[threadIdx.x] = int(threadIdx.x) + 1; }
__global__ void add(const int* from, int* to) {
  to[threadIdx.x] += from[threadIdx.x];  // fault: event_missing
}
__global__ void triple(int* data) {
  data[threadIdx.x] *= 3;  // fault: event_too_early
}

struct Setup {
  cudaStream_t first = nullptr, second = nullptr;
  cudaEvent_t event = nullptr;
  int *data = nullptr, *other = nullptr, *pinned = nullptr, *managed = nullptr;
  Setup() {
    CHECK_CUDA(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    CHECK_CUDA(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    CHECK_CUDA(cudaEventCreate(&event));
    CHECK_CUDA(cudaMalloc(&data, bytes));
    CHECK_CUDA(cudaMalloc(&other, bytes));
    CHECK_CUDA(cudaMallocHost(&pinned, bytes));
    CHECK_CUDA(cudaMallocManaged(&managed, bytes));
    CHECK_CUDA(cudaMemset(other, 0, bytes));
    CHECK_CUDA(cudaMemset(data, 0, bytes));
    CHECK_CUDA(cudaMemset(managed, 0, bytes));
    for (int i = 0; i < count; ++i) pinned[i] = i;
    CHECK_CUDA(cudaDeviceSynchronize());
  }
};

void event_missing(const Setup& s, bool faulty) {
  set<<<1, count, 0, s.first>>>(s.data);
  CHECK_CUDA(cudaEventRecord(s.event, s.first));
  if (!faulty) CHECK_CUDA(cudaStreamWaitEvent(s.second, s.event, 0));
  add<<<1, count, 0, s.second>>>(s.data, s.other);
}
void event_too_early(const Setup& s, bool faulty) {
  if (faulty) CHECK_CUDA(cudaEventRecord(s.event, s.first));
  set<<<1, count, 0, s.first>>>(s.data);
  if (!faulty) CHECK_CUDA(cudaEventRecord(s.event, s.first));
  CHECK_CUDA(cudaStreamWaitEvent(s.second, s.event, 0));
  triple<<<1, count, 0, s.second>>>(s.data);
}
void default_stream_does_not_wait(const Setup& s, bool faulty) {
  std::vector<int> host(count);
  set<<<1, count, 0, s.first>>>(s.data);
  if (!faulty) CHECK_CUDA(cudaStreamSynchronize(s.first));
  void* const to = host.data();
  cudaMemcpy(to, s.data, bytes, cudaMemcpyDeviceToHost);  // fault: default_stream_does_not_wait
}
void fill_meets_kernel(const Setup& s, bool faulty) {
  cudaMemset(s.data, 7, bytes);
  if (!faulty) CHECK_CUDA(cudaDeviceSynchronize());
  cudaMemcpyAsync(s.other, s.data, bytes, cudaMemcpyDefault, s.first);  // fault: fill_meets_kernel
}
void result_read_early(const Setup& s, bool faulty) {
  set<<<1, count, 0, s.first>>>(s.data);
  CHECK_CUDA(cudaMemcpyAsync(s.pinned, s.data, bytes, cudaMemcpyDeviceToHost, s.first));
  if (!faulty) CHECK_CUDA(cudaStreamSynchronize(s.first));
  const int result = s.pinned[3];  // fault: result_read_early
  CHECK(result == 4);
}
void source_overwritten(const Setup& s, bool faulty) {
  CHECK_CUDA(cudaMemcpyAsync(s.data, s.pinned, bytes, cudaMemcpyHostToDevice, s.first));
  if (!faulty) CHECK_CUDA(cudaStreamSynchronize(s.first));
  s.pinned[5] = -1;  // fault: source_overwritten
}
void managed_without_waiting(const Setup& s, bool faulty) {
  set<<<1, count>>>(s.managed);
  if (!faulty) CHECK_CUDA(cudaDeviceSynchronize());
  const int result = s.managed[9];  // fault: managed_without_waiting
  CHECK(result == 10);
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const Setup setup;
  const bool faulty = std::strcmp(argv[2], "faulty") == 0;
#define RUN(name) \
  if (std::strcmp(argv[1], #name) == 0) name(setup, faulty);
  RUN(event_missing)
  RUN(event_too_early)
  RUN(default_stream_does_not_wait)
  RUN(fill_meets_kernel)
  RUN(result_read_early)
  RUN(source_overwritten)
  RUN(managed_without_waiting)
  CHECK_CUDA(cudaDeviceSynchronize());
  return failed_checks;
}
