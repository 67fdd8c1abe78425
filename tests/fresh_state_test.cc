// STA-01 on a device whose kernels cannot be put back: evidence comes from the kernel loaded again.
#include <gtest/gtest.h>

#include <cstring>

#include "fuzzers/installation.h"
#include "fuzzers/trial.h"

namespace warpfuzz {
namespace {

// ReLU of contiguous float32 that is twice too large where the first element is not that of the
// first call: no bits of an earlier call come again.
class RememberingKernel : public Kernel {
 public:
  std::string preconditions() const override { return "T == float32 && U == float32"; }
  size_t workspace_bytes(const Case&) override { return 0; }
  RunResult run(const Case& c, MemoryImage& image, const RunOptions&) override {
    const auto* const x = reinterpret_cast<const float*>(data(image, image.input(0)));
    auto* const y = reinterpret_cast<float*>(data(image, image.output(0)));
    if (!first_) first_ = x[0];
    for (int64_t i = 0; i < c.axes[0] * c.axes[1]; ++i) {
      y[i] = (x[i] < 0 ? 0 : x[i]) * (std::memcmp(&*first_, x, 4) == 0 ? 1.0f : 2.0f);
    }
    RunResult result;
    result.launches_counted = false;
    return result;
  }
  void resolve_positions(std::vector<Fault>&) const override {}

 private:
  static std::byte* data(MemoryImage& image, const Region& region) {
    return image.bytes().data() + region.begin;
  }
  std::optional<float> first_;
};

class LoadableKernel final : public RememberingKernel {
 public:
  std::unique_ptr<Kernel> load_again() override {
    ++loads;
    return std::make_unique<RememberingKernel>();
  }
  int loads = 0;
};

// Wrong in one element for every call but the first of all, also where it is loaded again.
class WrongKernel final : public RememberingKernel {
 public:
  explicit WrongKernel(int earlier = 0) : calls_(earlier) {}
  RunResult run(const Case& c, MemoryImage& image, const RunOptions& options) override {
    RunResult result = RememberingKernel::run(c, image, options);
    auto* const y = reinterpret_cast<float*>(image.bytes().data() + image.output(0).begin);
    if (calls_++ > 0) y[0] = -1;
    return result;
  }
  std::unique_ptr<Kernel> load_again() override { return std::make_unique<WrongKernel>(calls_); }

 private:
  int calls_;
};

TrialResult judge(Kernel& kernel) {
  const auto schema = Installation::find().schema("relu");
  Case c = decode(schema, {}, {});
  c.axes = {1, 1};  // so that the changed element is the first
  c.inputs[0].law = ValueLaw::normal;
  c.extra_runs = static_cast<uint8_t>(ExtraRun::changed_element);
  return Trial(schema, kernel).run(c);
}

TEST(FreshState, OfTheKernelLoadedAgainConvicts) {
  LoadableKernel kernel;
  const TrialResult result = judge(kernel);
  ASSERT_EQ(result.outcome, TrialOutcome::violation);
  EXPECT_EQ(result.gate->id, "STA-01");
  EXPECT_EQ(kernel.loads, 1);
}

TEST(FreshState, WithoutItOnlyBitsOfTheCallBeforeWould) {
  RememberingKernel kernel;
  EXPECT_EQ(judge(kernel).outcome, TrialOutcome::pass);
}

TEST(FreshState, ThatIsWrongTooAcquits) {
  WrongKernel kernel;
  EXPECT_EQ(judge(kernel).outcome, TrialOutcome::pass);
}

}  // namespace
}  // namespace warpfuzz
