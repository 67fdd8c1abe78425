#include "kernels/cuda/collector.h"

#include <algorithm>

#include "schemas/check.h"

namespace warpfuzz::cuda {
namespace {

constexpr size_t vector_bytes = 16;
constexpr size_t word_bytes = 4;
constexpr unsigned block_threads = 256;
constexpr size_t most_blocks = 128;  // more do not fill the way to the host any better

}  // namespace

const char* const collector_ptx = R"(
.version 6.3
.target sm_75
.address_size 64

.visible .entry collect(
  .param .u64 image,
  .param .u64 image_home,
  .param .u64 vectors,
  .param .u64 counters,
  .param .u64 counters_home,
  .param .u64 words)
{
  .reg .pred %p<3>;
  .reg .b32 %r<12>;
  .reg .b64 %rd<16>;

  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %nctaid.x;
  mad.lo.u32 %r5, %r2, %r3, %r1;
  mul.lo.u32 %r6, %r3, %r4;
  cvt.u64.u32 %rd1, %r5;
  cvt.u64.u32 %rd2, %r6;

  ld.param.u64 %rd3, [image];
  ld.param.u64 %rd4, [image_home];
  ld.param.u64 %rd5, [vectors];
  mov.u64 %rd6, %rd1;
next_vector:
  setp.ge.u64 %p1, %rd6, %rd5;
  @%p1 bra image_done;
  shl.b64 %rd7, %rd6, 4;
  add.u64 %rd8, %rd3, %rd7;
  add.u64 %rd9, %rd4, %rd7;
  ld.global.v4.u32 {%r7, %r8, %r9, %r10}, [%rd8];
  st.global.v4.u32 [%rd9], {%r7, %r8, %r9, %r10};
  add.u64 %rd6, %rd6, %rd2;
  bra next_vector;
image_done:

  ld.param.u64 %rd10, [counters];
  ld.param.u64 %rd11, [counters_home];
  ld.param.u64 %rd12, [words];
  mov.u64 %rd13, %rd1;
next_counter:
  setp.ge.u64 %p2, %rd13, %rd12;
  @%p2 bra counters_done;
  shl.b64 %rd7, %rd13, 2;
  add.u64 %rd14, %rd10, %rd7;
  add.u64 %rd15, %rd11, %rd7;
  ld.global.u32 %r11, [%rd14];
  st.global.u32 [%rd15], %r11;
  mov.u32 %r11, 0;
  st.global.u32 [%rd14], %r11;
  add.u64 %rd13, %rd13, %rd2;
  bra next_counter;
counters_done:
  ret;
}
)";

Collector::Collector(const Session& session) : session_(session) {
  const Driver& driver = session_.driver();
  driver.check(driver.module_load(&module_, collector_ptx, 0, nullptr, nullptr),
               "the collector of results does not load");
  driver.check(driver.module_function(&function_, module_, "collect"),
               "the collector of results has no entry");
}

Collector::~Collector() { session_.driver().module_unload(module_); }

Status Collector::collect(const WayHome& image, const WayHome& counters) const {
  WARPFUZZ_CHECK(image.bytes % vector_bytes == 0, "an image of {} bytes", image.bytes);
  size_t vectors = image.bytes / vector_bytes, words = counters.bytes / word_bytes;
  const size_t parts = std::max(vectors, words);
  if (parts == 0) return success;
  WayHome i = image, c = counters;
  void* arguments[] = {&i.from, &i.to, &vectors, &c.from, &c.to, &words};
  const auto blocks =
      static_cast<unsigned>(std::min((parts + block_threads - 1) / block_threads, most_blocks));
  return session_.driver().launch(function_, blocks, 1, 1, block_threads, 1, 1, 0,
                                  session_.stream(), arguments, nullptr);
}

}  // namespace warpfuzz::cuda
