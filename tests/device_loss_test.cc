// Which call lost the device: the case itself, or one that the trial made of it.
#include <gtest/gtest.h>

#include "fuzzers/installation.h"
#include "fuzzers/trial.h"
#include "seeds/value_law.h"

namespace warpfuzz {
namespace {

// Writes nothing, so that every probe is wanted, and loses the device to calls of few rows.
class LosingKernel final : public Kernel {
 public:
  explicit LosingKernel(int64_t rows) : rows_(rows) {}
  std::string preconditions() const override { return ""; }
  size_t workspace_bytes(const Case&) override { return 0; }
  RunResult run(const Case& c, MemoryImage&, const RunOptions&) override {
    RunResult result;
    if (lost_ || c.axes[0] <= rows_) {
      result.status = RunStatus::error;
      result.device_lost = true;
      result.message = lost_ ? "lost before" : "lost now";
      lost_ = true;
    }
    return result;
  }
  void resolve_positions(std::vector<Fault>&) const override {}

 private:
  int64_t rows_;
  bool lost_ = false;
};

Case softmax_of_rows(const std::shared_ptr<const Schema>& schema, int64_t rows) {
  Case c = decode(schema, {}, {});
  c.axes = {rows, 7};
  c.extra_runs = static_cast<uint8_t>(ExtraRun::lone_row);
  return c;
}

TEST(DeviceLoss, OfTheCaseItself) {
  const auto schema = Installation::find().schema("softmax");
  LosingKernel kernel(9);
  Trial trial(schema, kernel);
  const Case c = softmax_of_rows(schema, 9);
  const TrialResult result = trial.run(c);
  ASSERT_TRUE(result.device_loss);
  EXPECT_EQ(result.device_loss->c, c);
  EXPECT_EQ(result.device_loss->message, "lost now");
  EXPECT_TRUE(result.primary.run.device_lost);
}

TEST(DeviceLoss, OfARowAlone) {
  const auto schema = Installation::find().schema("softmax");
  LosingKernel kernel(1);
  Trial trial(schema, kernel);
  const TrialResult result = trial.run(softmax_of_rows(schema, 9));
  ASSERT_TRUE(result.device_loss);
  EXPECT_EQ(result.device_loss->c.axes[0], 1);
  EXPECT_EQ(result.device_loss->message, "lost now");
  EXPECT_FALSE(result.primary.run.device_lost);
}

TEST(DeviceLoss, None) {
  const auto schema = Installation::find().schema("softmax");
  LosingKernel kernel(0);
  Trial trial(schema, kernel);
  EXPECT_FALSE(trial.run(softmax_of_rows(schema, 9)).device_loss);
}

}  // namespace
}  // namespace warpfuzz
